// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_DRIVER_H
#define ZEPI_MEMORY_USM_DRIVER_H

#include "memory/usm_slab.h"

// USM from the driver, and back. Any thread.

// Writes to a device's memory, which the host may not reach, and returns when that is over: `data`,
// or zeros if it is NULL.
typedef zepi_result_t zepi_usm_write(struct zepi_context *context, struct zepi_device *device,
                                     void *memory, const void *data, size_t size_bytes);

// The context's function for that, which is in copy/: a write is a command.
static inline zepi_usm_write **zepi_usm_write_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_COPY];
}

// Counts bytes that the pool is about to have of the driver's; false: beyond its maximum.
bool zepi_usm_pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes);

// Gets memory from the driver for the shard, and enters it into the table. The pool has reserved
// its bytes; a failure ends that. The driver is asked again after zepi_context_reclaim: for a slab
// once, without a wait, since a dedicated allocation may be had in its place. *out_region NULL: a
// dedicated allocation that the table cannot have, and the pool does not count.
// ZEPI_ERROR_UNSUPPORTED: a slab, or memory for export, that it cannot have.
zepi_result_t zepi_usm_region_allocate(struct zepi_usm_shard *shard,
                                       const struct zepi_usm_region_desc *desc,
                                       struct zepi_usm_region **out_region, void **out_memory);
// Takes a region that is in no list of its shard out of the table, and frees its memory.
zepi_result_t zepi_usm_region_free(struct zepi_usm_region *region);

// Sets the memory of a region, which is the shard's and begins at `base`; its blocks are free.
void zepi_usm_region_fill(struct zepi_usm_region *region, const struct zepi_usm_region_desc *desc,
                          struct zepi_usm_shard *shard, uintptr_t base);

// The bytes from `memory`, which lies in an allocation of the driver's, to the end of that. A
// driver may import or open more than it was asked for, and a piece of a larger allocation.
zepi_result_t zepi_usm_driver_room(const struct zepi_context *context, const void *memory,
                                   size_t *out_bytes);

#endif
