// SPDX-License-Identifier: MIT
#include "memory/usm.h"

#include "core/alloc.h"
#include "core/interface.h"
#include "core/options.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/virtual_memory.h"
#include "ze/ze.h"

zepi_result_t zepi_usm_allocate(struct zepi_context *context, struct zepi_device *device,
                                zepi_usm_kind_t kind, size_t size_bytes, void **out_memory)
{
    const struct zepi_usm_alloc_desc desc = {
        .device = device, .kind = kind, .size_bytes = size_bytes};
    *out_memory = zepi_usm_get_free(context, device, kind, size_bytes, 0);
    return *out_memory ? ZEPI_SUCCESS
                       : zepi_usm_pool_allocate(zepi_usm_pools_of(context)->own, &desc, out_memory);
}

// Memory of the driver's that is in no table.
struct untracked {
    struct zepi_deferred deferred;
    ze_context_handle_t ze; // borrowed
    void *memory;
};

static void free_untracked(struct zepi_deferred *deferred)
{
    struct untracked *untracked = (struct untracked *)deferred;
    zepi_ze.zeMemFree(untracked->ze, untracked->memory);
    zepi_free(untracked);
}

static zepi_result_t put_untracked(struct zepi_context *context, void *memory)
{
    void *base = NULL;
    size_t size_bytes = 0;
    // The driver names the mistake with memory that is not its own.
    if (zepi_sync_is_idle(zepi_sync_of(context)) ||
        zepi_ze.zeMemGetAddressRange(context->ze, memory, &base, &size_bytes) !=
            ZE_RESULT_SUCCESS ||
        base != memory)
        return ZEPI_ZE(zeMemFree, context->ze, memory);
    struct untracked *untracked = zepi_allocate(1, sizeof(*untracked));
    if (!untracked)
        return zepi_fail_no_memory();
    *untracked = (struct untracked){.deferred = {.bytes = size_bytes, .run = free_untracked},
                                    .ze = context->ze,
                                    .memory = memory};
    zepi_defer(context, &untracked->deferred);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_usm_put_at(struct zepi_context *context, void *memory, struct zepi_point freed)
{
    struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)memory);
    if (!region || !zepi_usm_region_has(region, memory) ||
        atomic_load_explicit(&region->platform, memory_order_relaxed) != context->platform)
        return put_untracked(context, memory);
    if (!zepi_options()->usm_pool || zepi_point_is_reached(freed))
        freed.timeline = NULL;
    if (atomic_load_explicit(&region->ze, memory_order_relaxed) != context->ze)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is memory of another context", memory);
    return zepi_usm_block_put(region, memory, freed);
}

zepi_result_t zepi_usm_put(struct zepi_context *context, void *memory)
{
    return zepi_usm_put_at(context, memory, (struct zepi_point){NULL, 0});
}

static __attribute__((noinline)) zepi_result_t free_any(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the memory is NULL");
    return zepi_usm_put(context, memory);
}

// No allocation of the shard, which is locked, begins at the address.
static __attribute__((noinline, cold)) zepi_result_t
fail_free_of_nothing(zepi_context_t context, void *memory, struct zepi_usm_shard *shard)
{
    zepi_mutex_unlock(&shard->mutex);
    return free_any(context, memory);
}

zepi_result_t zepi_usm_free(zepi_context_t context, void *memory)
{
    if (__builtin_expect(!zepi_object_is(context, &zepi_context_type), 0))
        return free_any(context, memory);
    struct zepi_usm_region *region = zepi_usm_region_find_own(context, memory);
    struct zepi_usm_shard *shard =
        region ? atomic_load_explicit(&region->quick, memory_order_relaxed) : NULL;
    if (__builtin_expect(!shard || !zepi_mutex_try_lock(&shard->mutex), 0))
        return free_any(context, memory);
    struct zepi_usm_block *block = zepi_usm_shard_end_locked(shard, region, (uintptr_t)memory);
    if (__builtin_expect(!block, 0))
        return fail_free_of_nothing(context, memory, shard);
    if (!zepi_sync_is_idle(zepi_sync_of(context)))
        return zepi_usm_shard_push_busy_and_unlock(shard, region, block);
    zepi_usm_slab_push_locked(region, block);
    if (zepi_usm_slab_is_due(region))
        return zepi_usm_shard_flush_and_unlock(shard, region);
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

void *zepi_usm_pool_user_of(const struct zepi_context *context, const void *address)
{
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    if (!region || zepi_usm_region_room(region, address) == 0)
        return NULL;
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    return atomic_load_explicit(&pool->user, memory_order_relaxed);
}

static_assert((int)ZEPI_USM_HOST == ZE_MEMORY_TYPE_HOST &&
                  (int)ZEPI_USM_DEVICE == ZE_MEMORY_TYPE_DEVICE &&
                  (int)ZEPI_USM_SHARED == ZE_MEMORY_TYPE_SHARED,
              "kinds of USM have Level Zero's values");

zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info)
{
    zepi_usm_info_t info = {.kind = ZEPI_USM_UNKNOWN};
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    if (region && zepi_usm_region_has(region, address)) {
        zepi_usm_region_describe(region, address, &info);
        return zepi_copy_info(out_info, &info, sizeof(info));
    }
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = NULL;
    zepi_result_t result =
        ZEPI_ZE(zeMemGetAllocProperties, context->ze, address, &properties, &device);
    if (result != ZEPI_SUCCESS)
        return result;
    // Drivers may have more kinds.
    if (properties.type <= ZE_MEMORY_TYPE_SHARED)
        info.kind = (zepi_usm_kind_t)properties.type;
    info.id = properties.id;
    if (info.kind != ZEPI_USM_UNKNOWN) {
        result = ZEPI_ZE(zeMemGetAddressRange, context->ze, address, &info.base, &info.size_bytes);
        if (result != ZEPI_SUCCESS)
            return result;
        if (info.kind != ZEPI_USM_HOST)
            info.device = zepi_device_find(context->devices, context->device_count, device);
    }
    return zepi_copy_info(out_info, &info, sizeof(info));
}

size_t zepi_usm_room(struct zepi_context *context, const void *address, size_t size_bytes)
{
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    return region && zepi_usm_region_has(region, address)
               ? zepi_usm_region_room(region, address)
               : zepi_mappings_room(context, address, size_bytes);
}
