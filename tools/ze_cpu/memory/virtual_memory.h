// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_VIRTUAL_MEMORY_H
#define ZE_CPU_VIRTUAL_MEMORY_H

#include "memory.h"

// Reservations are inaccessible mappings of the process; pieces of physical memory are mapped over
// them. Mapped memory is in the table of memory.h, and like any other for kernels, copies and
// fills.

// Reservations that were not freed.
uint64_t cpu_virtual_memory_live(void);

#endif
