// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_VIRTUAL_MEMORY_H
#define ZE_CPU_VIRTUAL_MEMORY_H

#include "memory.h"

// Reservations are inaccessible mappings of the process; pieces of physical memory are mapped over
// them. Mapped memory is like any other for kernels, copies and fills.

// False if nothing is mapped at the address.
bool cpu_virtual_memory_find(const void *pointer, struct cpu_memory_info *out_memory);

// Gives mapped memory of discrete devices the rights that cpu_device_access_is_open tells. Under
// the lock of device_access.h.
void cpu_virtual_memory_apply_access(void);

// Reservations that were not freed.
uint64_t cpu_virtual_memory_live(void);

#endif
