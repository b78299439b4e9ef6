// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MEMORY_H
#define ZE_CPU_MEMORY_H

#include <stdint.h>

// The three kinds of USM are plain page-aligned memory of the process, which the OpenCL runtime
// takes as kernel arguments like any other. A sorted table answers pointer queries.

// Frees what zeMemFreeExt deferred, if no queue has work.
void cpu_memory_sweep(void);

uint64_t cpu_memory_live(void);

// An identifier that no allocation had before.
uint64_t cpu_memory_new_id(void);

#endif
