// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MEMORY_H
#define ZE_CPU_MEMORY_H

#include "table.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The three kinds of USM are pages of the process, which the OpenCL runtime takes as kernel
// arguments like any other memory. A table answers pointer queries.

// Gives the memory back that was taken out of the table.
void cpu_memory_free(const struct cpu_allocation *erased);

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
// Bytes of the devices' memory that are not taken; UINT64_MAX: the memory has no limit.
uint64_t cpu_memory_left(void);

// Maps a piece of a file as memory of the device, or the host's (NULL): CPU_IMPORTED until
// cpu_memory_close (false: nothing of that kind begins there), CPU_EXTERNAL until it is freed.
ze_result_t cpu_memory_map_file(ze_context_handle_t context, ze_device_handle_t device,
                                enum cpu_origin origin, int file, uint64_t offset,
                                uint64_t size_bytes, void **out_memory);
bool cpu_memory_close(const void *pointer);

#endif
