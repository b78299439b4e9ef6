// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_H
#define ZEPI_MEMORY_USM_H

#include "device/context.h"
#include "memory/usm_pool.h"

zepi_result_t zepi_usm_allocate(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind,
                                size_t size_bytes, size_t alignment_bytes, void **out_memory);
zepi_result_t zepi_usm_free(zepi_context_t context, void *memory);
zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info);

// Checks kind, device, size and alignment as zepi.h describes them.
zepi_result_t zepi_usm_check_desc(const struct zepi_context *context,
                                  const struct zepi_usm_alloc_desc *desc);

// Memory from a pool of a context, with dependencies also such that was freed in the order of a
// queue. `desc` has been checked.
zepi_result_t zepi_usm_pool_allocate(struct zepi_usm_pool *pool,
                                     const struct zepi_usm_alloc_desc *desc, void **out_memory);
// The `user` of the pool that the address is from, borrowed; NULL: none.
void *zepi_usm_pool_user_of(const struct zepi_context *context, const void *address);
// zepi_usm_free without checks of its arguments: also of a context that is on its way out.
zepi_result_t zepi_usm_put(struct zepi_context *context, void *memory);
// Frees memory at a point: allocations that come after it have the memory at once.
zepi_result_t zepi_usm_put_at(struct zepi_context *context, void *memory, struct zepi_point freed);
// Whether memory may be freed as far as the table knows: false inside an allocation of zepi's, or
// where one was freed, or of another context.
bool zepi_usm_may_be_freed(const struct zepi_context *context, const void *memory);

// The bytes from the address to the end of the allocation that it is in, as far as `size_bytes` ask
// for them; 0 where one was, SIZE_MAX of memory that zepi did not make.
size_t zepi_usm_room(struct zepi_context *context, const void *address, size_t size_bytes);
// False if the bytes begin in an allocation or mapping of zepi's and reach past its end, or begin
// where an allocation was. Of other memory nothing is known. No call of the driver; a lock where
// memory is mapped in the context and the table does not know the address.
bool zepi_usm_is_inside_any(struct zepi_context *context, const void *address, size_t size_bytes)
    __attribute__((noinline));

// Whether the bytes are in one allocation that the table knows. `context` has been checked.
static inline bool zepi_usm_is_known_inside(const struct zepi_context *context, const void *address,
                                            size_t size_bytes)
{
    const struct zepi_usm_region *region = zepi_usm_region_find_own(context, address);
    return __builtin_expect(region && size_bytes <= zepi_usm_region_room(region, address), 1);
}

#endif
