// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_COPY_H
#define ZE_CPU_COPY_H

#include "command.h"

#include <stddef.h>

// Repeats the pattern; a last piece may be cut.
void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes);

void cpu_copy_region(void *target, const void *source, const struct cpu_copy_region *region);

#endif
