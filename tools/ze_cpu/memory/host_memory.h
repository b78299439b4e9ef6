// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_HOST_MEMORY_H
#define ZE_CPU_HOST_MEMORY_H

#include <stdint.h>

// Ranges of the host's memory that were imported and not released.
uint64_t cpu_host_memory_live(void);

#endif
