// SPDX-License-Identifier: MIT
// USM, buffers, pools, and memory of other processes.
#include "api/api.h"
#include "api/check.h"
#include "copy/buffer_use.h"
#include "core/interface.h"
#include "memory/interop/ipc.h"
#include "memory/pool.h"

static __attribute__((noinline)) zepi_result_t
allocate_any(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind, size_t size_bytes,
             size_t alignment_bytes, void **out_memory)
{
    const struct zepi_usm_alloc_desc desc = {.device = device,
                                             .kind = kind,
                                             .size_bytes = size_bytes,
                                             .alignment_bytes = alignment_bytes};
    zepi_result_t result;
    if ((result = zepi_check_object(context, &zepi_context_type)) ||
        (result = zepi_api_check_usm_desc(context, &desc)) ||
        (result = zepi_api_check_output(out_memory, "output for the memory")))
        return result;
    return zepi_usm_pool_allocate(zepi_usm_pools_of(context)->own, &desc, out_memory);
}

zepi_result_t zepi_api_usm_allocate(zepi_context_t context, zepi_device_t device,
                                    zepi_usm_kind_t kind, size_t size_bytes, size_t alignment_bytes,
                                    void **out_memory)
{
    void *memory =
        out_memory ? zepi_usm_get_free(context, device, kind, size_bytes, alignment_bytes) : NULL;
    if (__builtin_expect(!memory, 0))
        return allocate_any(context, device, kind, size_bytes, alignment_bytes, out_memory);
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_usm_get_info(zepi_context_t context, const void *address,
                                    zepi_usm_info_t *out_info)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, address, "address");
    return result ? result : zepi_usm_get_info(context, address, out_info);
}

// ---- Buffers ----

zepi_result_t zepi_api_buffer_create(zepi_context_t context, size_t size_bytes,
                                     const void *host_data, zepi_buffer_t *out_buffer)
{
    const zepi_result_t result =
        zepi_api_check_context_pointer(context, out_buffer, "output for the buffer");
    if (result == ZEPI_SUCCESS && size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the buffer's size_bytes is 0, expected at least 1");
    return result ? result : zepi_buffer_create(context, size_bytes, NULL, host_data, out_buffer);
}

zepi_result_t zepi_api_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                          void **out_address, size_t *out_size_bytes)
{
    zepi_result_t result;
    if ((result = zepi_check_object(buffer, &zepi_buffer_type)) ||
        (result = zepi_context_check_device(buffer->context, device)) ||
        (result = zepi_api_check_output(out_address, "output for the address")))
        return result;
    const struct zepi_buffer_part all = {buffer, 0, buffer->size_bytes};
    result = zepi_buffer_get_address_of(&all, device, out_address);
    if (result == ZEPI_SUCCESS && out_size_bytes)
        *out_size_bytes = buffer->size_bytes;
    return result;
}

// ---- Pools ----

zepi_result_t zepi_api_pool_create(zepi_context_t context, const zepi_pool_desc_t *desc,
                                   zepi_pool_t *out_pool)
{
    zepi_pool_desc_t own = {0};
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, out_pool, "output for the pool")) ||
        (desc &&
         (result = zepi_read_desc(&own, sizeof(own), sizeof(own.size), desc, "pool description"))))
        return result;
    return zepi_pool_make(context, NULL,
                          &(struct zepi_usm_pool_desc){.most_bytes = ZEPI_USM_POOLED_BYTES,
                                                       .maximum_bytes = own.maximum_bytes,
                                                       .threshold_bytes = own.kept_bytes,
                                                       .is_zeroed = own.is_zeroed},
                          out_pool);
}

#define GET(counter) atomic_load_explicit(&pool->usm->counter, memory_order_relaxed)

zepi_result_t zepi_api_pool_get_info(zepi_pool_t pool, zepi_pool_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_pool_info_t info = {.context = pool->context,
                                   .maximum_bytes = GET(maximum_bytes),
                                   .kept_bytes = GET(threshold_bytes),
                                   .used_bytes = GET(used_bytes),
                                   .used_high_bytes = GET(used_high_bytes),
                                   .reserved_bytes = GET(reserved_bytes),
                                   .reserved_high_bytes = GET(reserved_high_bytes)};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_pool_set_limits(zepi_pool_t pool, size_t maximum_bytes, size_t kept_bytes)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result != ZEPI_SUCCESS)
        return result;
    atomic_store_explicit(&pool->usm->maximum_bytes, maximum_bytes > 0 ? maximum_bytes : SIZE_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&pool->usm->threshold_bytes, kept_bytes, memory_order_relaxed);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_pool_trim(zepi_pool_t pool, size_t keep_bytes)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result == ZEPI_SUCCESS)
        zepi_pool_trim(pool, keep_bytes);
    return result;
}

// ---- Memory of other processes ----

zepi_result_t zepi_api_ipc_get_handle(zepi_context_t context, const void *memory,
                                      const void **out_handle, size_t *out_size_bytes)
{
    const struct zepi_ipc_handle *handle;
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, memory, "memory")) ||
        (((!out_handle || !out_size_bytes)) &&
         (result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "an output for the handle is NULL"))) ||
        (result = zepi_ipc_get(context, memory, NULL, &handle)))
        return result;
    *out_handle = handle;
    *out_size_bytes = sizeof(*handle);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_ipc_put_handle(zepi_context_t context, const void *handle)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, handle, "handle");
    return result ? result : zepi_ipc_put(context, handle, false);
}

zepi_result_t zepi_api_ipc_open_handle(zepi_context_t context, zepi_device_t device,
                                       const void *handle, size_t size_bytes, void **out_memory)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, handle, "handle")) ||
        (result = zepi_api_check_output(out_memory, "output for the memory")) ||
        (result = zepi_api_check_context_device(context, device)))
        return result;
    return zepi_ipc_open(context, device, handle, size_bytes, out_memory);
}

zepi_result_t zepi_api_ipc_close_memory(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, memory, "memory");
    return result ? result : zepi_ipc_close(context, memory);
}
