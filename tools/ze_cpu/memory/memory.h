// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MEMORY_H
#define ZE_CPU_MEMORY_H

#include "pages.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The three kinds of USM are pages of the process, which the OpenCL runtime takes as kernel
// arguments like any other memory. A sorted table answers pointer queries. The memory of discrete
// devices loses its access rights.

// Gives each discrete device's memory the rights that cpu_device_access_is_open tells. Under the
// lock of that.
void cpu_memory_apply_access(void);

// The allocation or mapping that the address lies in. False: it lies in none.
bool cpu_memory_find(const void *pointer, struct cpu_allocation *out_allocation);

// Takes the allocation that begins at the address out of the table, for cpu_memory_free later on.
// `is_imported`: it was by an IPC handle. False: there is none of that sort.
bool cpu_memory_erase(const void *pointer, bool is_imported, struct cpu_allocation *out_erased);
void cpu_memory_free(const struct cpu_allocation *erased);

uint64_t cpu_memory_live(void);

// An identifier that no allocation had before.
uint64_t cpu_memory_new_id(void);

// Whether external memory of this type is a file. A dma_buf of this driver is one as well.
static inline bool cpu_memory_is_file(ze_external_memory_type_flags_t flags)
{
    return flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD ||
           flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
}
// Whether the descriptor is of such a file with so many bytes, at least one. False: after a line.
bool cpu_memory_is_importable(const char *function, const ze_external_memory_import_fd_t *import,
                              size_t size_bytes);

// Bytes of the devices' memory (ZE_CPU_MEMORY) that are not USM. False: there are not so many.
bool cpu_memory_take(uint64_t bytes);
void cpu_memory_give(uint64_t bytes);

// Maps a piece of a file as memory of the device, or the host's (NULL): CPU_IMPORTED until
// cpu_memory_close (false: nothing of that kind begins there), CPU_EXTERNAL until it is freed.
ze_result_t cpu_memory_map_file(ze_context_handle_t context, ze_device_handle_t device,
                                enum cpu_origin origin, int file, uint64_t offset,
                                uint64_t size_bytes, void **out_memory);
bool cpu_memory_close(const void *pointer);

// The table, for virtual_memory.c. Under the lock, pointers are good until the next insertion or
// removal.
void cpu_memory_lock(void);
void cpu_memory_unlock(void);

// The first that ends behind the address, and the one behind it; NULL: none.
struct cpu_allocation *cpu_memory_from_locked(uintptr_t address);
struct cpu_allocation *cpu_memory_next_locked(struct cpu_allocation *allocation);
bool cpu_memory_insert_locked(const struct cpu_allocation *allocation); // false without memory
void cpu_memory_remove_locked(struct cpu_allocation *allocation);

// The rights of its pages, of mmap. Under the lock of device_access.h.
int cpu_memory_rights(const struct cpu_allocation *allocation);

// Bytes of USM of all kinds.
uint64_t cpu_memory_live_bytes(void);

#endif
