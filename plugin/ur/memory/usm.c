// SPDX-License-Identifier: MIT
#include "memory/usm.h"
#include "memory/interop/host_memory.h"
#include "memory/usm_driver.h"
#include "ur/handles.h"
#include "ur/info.h"
#include "ur/memory/usm_pool.h"

// `context` and `device` have been checked.
static ur_result_t check_usm_desc(ur_context_handle_t context, ur_device_handle_t device,
                                  const ur_usm_desc_t *desc, ur_usm_pool_handle_t pool, size_t size,
                                  const void *out)
{
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(out, "ppMem")) ||
        (desc && (result = zepi_ur_check_flags(desc->hints, UR_USM_ADVICE_FLAGS_MASK))) ||
        (result = zepi_ur_check_usm_pool_of(pool, zepi_ur_context(context))) ||
        (desc && (desc->align & (desc->align - 1)) &&
         (result =
              zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                             "an alignment of %u bytes, expected a power of two", desc->align))))
        return result;
    return zepi_ur_check_usm_size(zepi_ur_context(context), zepi_ur_device(device), size);
}

static __attribute__((noinline)) ur_result_t
usm_allocate_any(ur_context_handle_t context, ur_device_handle_t device, zepi_usm_kind_t kind,
                 const ur_usm_desc_t *desc, ur_usm_pool_handle_t pool, size_t size, void **out)
{
    ur_result_t checked;
    if ((checked = kind == ZEPI_USM_HOST ? zepi_ur_check_context(context)
                                         : zepi_ur_check_context_device(context, device)) ||
        (checked = check_usm_desc(context, device, desc, pool, size, out)))
        return checked;
    const struct zepi_usm_alloc_desc wanted = {.device = zepi_ur_device(device),
                                               .kind = kind,
                                               .size_bytes = size,
                                               .alignment_bytes = desc ? desc->align : 0};
    const zepi_result_t result = zepi_usm_pool_allocate(
        pool ? zepi_ur_usm_pool(pool)->usm : zepi_usm_pools_of(zepi_ur_context(context))->own,
        &wanted, out);
    // More than the driver has room for at all.
    return zepi_ur_result_with(result, ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_USM_SIZE);
}

// Small memory of no pool of the host's, most of which is there.
static inline ur_result_t usm_allocate_small(ur_context_handle_t context, ur_device_handle_t device,
                                             zepi_usm_kind_t kind, const ur_usm_desc_t *desc,
                                             ur_usm_pool_handle_t pool, size_t size, void **out)
{
    const bool is_usual = out && !pool && size <= ZEPI_USM_GRANULE_BYTES &&
                          (!desc || !(desc->hints & UR_USM_ADVICE_FLAGS_MASK));
    void *memory = is_usual ? zepi_usm_get_free(zepi_ur_context(context), zepi_ur_device(device),
                                                kind, size, desc ? desc->align : 0)
                            : NULL;
    if (__builtin_expect(!memory, 0))
        return usm_allocate_any(context, device, kind, desc, pool, size, out);
    *out = memory;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urUSMHostAlloc(ur_context_handle_t hContext, const ur_usm_desc_t *pUSMDesc,
                                ur_usm_pool_handle_t pool, size_t size, void **ppMem)
{
    return usm_allocate_small(hContext, NULL, ZEPI_USM_HOST, pUSMDesc, pool, size, ppMem);
}

ur_result_t zepi_urUSMDeviceAlloc(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                  const ur_usm_desc_t *pUSMDesc, ur_usm_pool_handle_t pool,
                                  size_t size, void **ppMem)
{
    return usm_allocate_small(hContext, hDevice, ZEPI_USM_DEVICE, pUSMDesc, pool, size, ppMem);
}

ur_result_t zepi_urUSMSharedAlloc(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                  const ur_usm_desc_t *pUSMDesc, ur_usm_pool_handle_t pool,
                                  size_t size, void **ppMem)
{
    return usm_allocate_any(hContext, hDevice, ZEPI_USM_SHARED, pUSMDesc, pool, size, ppMem);
}

static __attribute__((cold, noinline)) ur_result_t
fail_free(ur_context_handle_t context, const void *memory, zepi_result_t freed)
{
    const ur_result_t result = zepi_ur_check_context_pointer(context, memory, "pMem");
    return result ? result
                  : zepi_ur_result_with(freed, ZEPI_ERROR_INVALID_VALUE,
                                        UR_RESULT_ERROR_INVALID_MEM_OBJECT);
}

ur_result_t zepi_urUSMFree(ur_context_handle_t hContext, void *pMem)
{
    const zepi_result_t freed = zepi_usm_free(zepi_ur_context(hContext), pMem);
    return __builtin_expect(freed == ZEPI_SUCCESS, 1) ? UR_RESULT_SUCCESS
                                                      : fail_free(hContext, pMem, freed);
}

// Facts about some memory.
struct usm_query {
    zepi_usm_info_t usm;
    struct zepi_context *context;
    const void *memory;
};

static ur_result_t get_pool(void *object, const struct zepi_ur_info *info)
{
    const struct usm_query *query = object;
    const void *pool = zepi_usm_pool_user_of(query->context, query->memory);
    return pool ? zepi_ur_info_return(info, &pool, sizeof(pool))
                : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                 "the memory is of no pool that the host made");
}

static const struct zepi_ur_query usm_queries[] = {
    {ZEPI_UR_MEMBER(USM_ALLOC_INFO_TYPE, U32, usm_query, usm.kind)}, // the values are the same
    {ZEPI_UR_MEMBER(USM_ALLOC_INFO_BASE_PTR, BYTES, usm_query, usm.base)},
    {ZEPI_UR_MEMBER(USM_ALLOC_INFO_SIZE, SIZE, usm_query, usm.size_bytes)},
    {ZEPI_UR_MEMBER(USM_ALLOC_INFO_DEVICE, BYTES, usm_query, usm.device)},
    {ZEPI_UR_VALUE(USM_ALLOC_INFO_POOL, get_pool)},
};

ur_result_t zepi_urUSMGetMemAllocInfo(ur_context_handle_t hContext, const void *pMem,
                                      ur_usm_alloc_info_t query, size_t value_size, void *value,
                                      size_t *out_size)
{
    struct usm_query known = {{.size = sizeof(known.usm)}, zepi_ur_context(hContext), pMem};
    ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    result = result ? result : zepi_ur_result(zepi_usm_get_info(known.context, pMem, &known.usm));
    return zepi_ur_get_info(result, &known, ZEPI_UR_ROWS(usm_queries), query,
                            UR_USM_ALLOC_INFO_POOL, value_size, value, out_size);
}

ur_result_t zepi_urUSMContextMemcpyExp(ur_context_handle_t hContext, void *pDst, const void *pSrc,
                                       size_t size)
{
    struct zepi_context *context = zepi_ur_context(hContext);
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (result = zepi_ur_check_range(context, pDst, size, "pDst")) ||
        (result = zepi_ur_check_range(context, pSrc, size, "pSrc")))
        return result;
    return zepi_ur_result(
        (*zepi_usm_write_of(context))(context, context->devices[0], pDst, pSrc, size));
}

ur_result_t zepi_urUSMPitchedAllocExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                      const ur_usm_desc_t *pUSMDesc, ur_usm_pool_handle_t pool,
                                      size_t widthInBytes, size_t height, size_t elementSizeBytes,
                                      void **ppMem, size_t *pResultPitch)
{
    const size_t row_alignment = 64;
    size_t pitch = 0;
    size_t size = 0;
    ur_result_t result = zepi_ur_check_context_device(hContext, hDevice);
    result = result ? result : zepi_ur_check_pointer(pResultPitch, "pResultPitch");
    if (result == UR_RESULT_SUCCESS &&
        (widthInBytes == 0 || height == 0 || elementSizeBytes == 0 ||
         __builtin_add_overflow(widthInBytes, row_alignment - 1, &pitch) ||
         __builtin_mul_overflow(pitch / row_alignment * row_alignment, height, &size)))
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_USM_SIZE,
                                "%zu rows of %zu bytes, in elements of %zu", height, widthInBytes,
                                elementSizeBytes);
    if (result == UR_RESULT_SUCCESS)
        result = usm_allocate_any(hContext, hDevice, ZEPI_USM_DEVICE, pUSMDesc, pool, size, ppMem);
    if (result == UR_RESULT_SUCCESS)
        *pResultPitch = pitch / row_alignment * row_alignment;
    return result;
}

// ---- Memory of the host ----

ur_result_t
zepi_urUSMHostAllocRegisterExp(ur_context_handle_t hContext, void *pHostMem, size_t size,
                               const ur_exp_usm_host_alloc_register_properties_t *pProperties)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pHostMem, "pHostMem")) ||
        // Level Zero has no memory that kernels only read: that they do is the host's promise.
        (pProperties && (result = zepi_ur_check_flags(
                             pProperties->flags, UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK))) ||
        (size == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "a registration of 0 bytes"))))
        return result;
    return zepi_ur_result(zepi_host_memory_register(zepi_ur_context(hContext), pHostMem, size));
}

ur_result_t zepi_urUSMHostAllocUnregisterExp(ur_context_handle_t hContext, void *pHostMem)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pHostMem, "pHostMem");
    return result
               ? result
               : zepi_ur_result(zepi_host_memory_unregister(zepi_ur_context(hContext), pHostMem));
}

ur_result_t zepi_urUSMImportExp(ur_context_handle_t hContext, void *pMem, size_t size)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pMem, "pMem")) ||
        (size == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "an import of 0 bytes"))))
        return result;
    return zepi_ur_result(zepi_host_memory_import(zepi_ur_context(hContext), pMem, size));
}

ur_result_t zepi_urUSMReleaseExp(ur_context_handle_t hContext, void *pMem)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    return result ? result
                  : zepi_ur_result(zepi_host_memory_release(zepi_ur_context(hContext), pMem));
}
