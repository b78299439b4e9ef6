// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_H
#define ZEPI_MEMORY_USM_H

#include "device/context.h"
#include "memory/usm_pool.h"

zepi_result_t zepi_usm_free(zepi_context_t context, void *memory);
zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info);

// From the context's own pool. The arguments have been checked. On failure *out_memory is NULL.
zepi_result_t zepi_usm_allocate(struct zepi_context *context, struct zepi_device *device,
                                zepi_usm_kind_t kind, size_t size_bytes, void **out_memory);
// A block of the context's own pool that is free and of the calling thread's shard, for arguments
// that were not checked. NULL: there is none, or the arguments are unusual or wrong.
static inline void *zepi_usm_get_free(zepi_context_t context, zepi_device_t device,
                                      zepi_usm_kind_t kind, size_t size_bytes,
                                      size_t alignment_bytes)
{
    // Every block is aligned to the length of the shortest.
    if (__builtin_expect(alignment_bytes != 0, 0) &&
        (alignment_bytes & (alignment_bytes - 1) || alignment_bytes >> ZEPI_USM_LEAST_SHIFT > 1))
        return NULL;
    if (__builtin_expect(!zepi_object_is(context, &zepi_context_type) ||
                             size_bytes - 1 >= zepi_usm_pools_of(context)->own->most_bytes,
                         0))
        return NULL;
    struct zepi_usm_heap *heap = zepi_usm_pools_of(context)->own->heaps; // of the first device
    if (__builtin_expect(heap->device != device || kind != ZEPI_USM_DEVICE, 0))
        heap = zepi_usm_pool_heap(zepi_usm_pools_of(context)->own, device, kind);
    if (__builtin_expect(!heap || kind == ZEPI_USM_SHARED, 0))
        return NULL;
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    if (__builtin_expect(!zepi_mutex_try_lock(&shard->mutex), 0))
        return NULL;
    void *memory = zepi_usm_shard_get_locked(shard, zepi_usm_class_of(size_bytes), size_bytes,
                                             zepi_sync_epoch(zepi_sync_of(context)));
    zepi_mutex_unlock(&shard->mutex);
    return memory;
}

// The `user` of the pool that the address is from, borrowed; NULL: none.
void *zepi_usm_pool_user_of(const struct zepi_context *context, const void *address);
// zepi_usm_free without checks of its arguments: also of a context that is on its way out.
zepi_result_t zepi_usm_put(struct zepi_context *context, void *memory);
// Frees memory at a point: allocations that come after it have the memory at once.
zepi_result_t zepi_usm_put_at(struct zepi_context *context, void *memory, struct zepi_point freed);
// The bytes from the address to the end of the allocation that it is in, as far as `size_bytes` ask
// for them; 0 where one was, SIZE_MAX of memory that zepi did not make. No call of the driver; a
// lock where memory is mapped in the context and the table does not know the address.
size_t zepi_usm_room(struct zepi_context *context, const void *address, size_t size_bytes);

// Whether the bytes are in one allocation that the table knows. `context` has been checked.
static inline bool zepi_usm_is_known_inside(const struct zepi_context *context, const void *address,
                                            size_t size_bytes)
{
    const struct zepi_usm_region *region = zepi_usm_region_find_own(context, address);
    return __builtin_expect(region && size_bytes <= zepi_usm_region_room(region, address), 1);
}

#endif
