// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TABLE_H
#define ZE_CPU_TABLE_H

#include "pages.h"

// All memory that the driver knows of, by address: USM and mappings. Thread-safe.
//
// The pages of discrete devices' memory (ZE_CPU_INTEGRATED=0) have no access rights while no
// command runs that may use them, so that a host access faults. With access between peers (the
// default) a command on one device may use the memory of all; without, that of its own device only.

// Gives the pages, which can be read and written, their rights, and enters them. False without
// memory.
bool cpu_memory_insert(const struct cpu_allocation *allocation);

// Takes the allocation that begins at the address out of the table, for cpu_memory_free later on.
// `is_imported`: it was by an IPC handle. False: there is none of that sort.
bool cpu_memory_erase(const void *pointer, bool is_imported, struct cpu_allocation *out_erased);

// The allocation or mapping that the address lies in. False: it lies in none.
bool cpu_memory_find(const void *pointer, struct cpu_allocation *out_allocation);

// Whether a part of the range is in the table.
bool cpu_memory_overlaps(uintptr_t start, size_t size);

// The number of allocations, and their bytes; mappings do not count.
uint64_t cpu_memory_live(uint64_t *out_bytes);

// A command on a discrete device begins or ends. Pairs.
void cpu_memory_begin_access(ze_device_handle_t device);
void cpu_memory_end_access(ze_device_handle_t device);

// For those that change several entries, or rights. Under the lock, pointers are good until the
// next insertion or removal.
void cpu_memory_lock(void);
void cpu_memory_unlock(void);

// The first that ends behind the address, and the one behind it; NULL: none.
struct cpu_allocation *cpu_memory_from_locked(uintptr_t address);
struct cpu_allocation *cpu_memory_next_locked(struct cpu_allocation *allocation);
bool cpu_memory_insert_locked(const struct cpu_allocation *allocation); // false without memory
void cpu_memory_remove_locked(struct cpu_allocation *allocation);

// The rights of its pages, of mmap.
int cpu_memory_rights_locked(const struct cpu_allocation *allocation);

#endif
