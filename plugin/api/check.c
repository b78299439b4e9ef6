// SPDX-License-Identifier: MIT
#include "api/check.h"

#include "core/interface.h"

zepi_result_t zepi_api_check_output(const void *pointer, const char *name)
{
    return pointer ? ZEPI_SUCCESS : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", name);
}

zepi_result_t zepi_api_check_native(const void *native_handle, zepi_ownership_t ownership)
{
    if (ownership != ZEPI_OWNERSHIP_KEEP && ownership != ZEPI_OWNERSHIP_TRANSFER)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "ownership %d is neither keep (0) nor transfer (1)", (int)ownership);
    return zepi_api_check_output(native_handle, "native handle");
}

zepi_result_t zepi_api_check_context_device(zepi_context_t context, zepi_device_t device)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    return result ? result : zepi_context_check_device(context, device);
}

zepi_result_t zepi_api_check_pointer(const void *object, const struct zepi_type *type,
                                     const void *pointer, const char *name)
{
    const zepi_result_t result = zepi_check_object(object, type);
    return result ? result : zepi_api_check_output(pointer, name);
}

zepi_result_t zepi_api_check_list(const void *object, const struct zepi_type *type,
                                  uint32_t capacity, const void *out_elements,
                                  const void *out_count)
{
    const zepi_result_t result = zepi_check_object(object, type);
    return result ? result : zepi_check_list(capacity, out_elements, out_count);
}

zepi_result_t zepi_api_check_work_dim(uint32_t work_dim)
{
    return work_dim >= 1 && work_dim <= 3
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "work_dim is %u, expected 1 to 3", work_dim);
}

zepi_result_t zepi_api_check_state(zepi_module_state_t state)
{
    return state >= ZEPI_MODULE_INPUT && state <= ZEPI_MODULE_EXECUTABLE
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "state %d is none of input (1), object (2), executable (3)", (int)state);
}

zepi_result_t zepi_api_check_usm_desc(const struct zepi_context *context,
                                      const struct zepi_usm_alloc_desc *desc)
{
    if (desc->kind != ZEPI_USM_HOST && desc->kind != ZEPI_USM_DEVICE &&
        desc->kind != ZEPI_USM_SHARED)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kind %d of USM is none of host, device and shared", (int)desc->kind);
    if (desc->kind == ZEPI_USM_HOST && desc->device)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "host memory belongs to no device: "
                                                   "expected NULL");
    if (desc->device || desc->kind == ZEPI_USM_DEVICE) {
        const zepi_result_t result = zepi_context_check_device(context, desc->device);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (desc->size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "an allocation of 0 bytes");
    if (desc->alignment_bytes & (desc->alignment_bytes - 1))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the alignment is %zu, expected a power of two or 0",
                         desc->alignment_bytes);
    return ZEPI_SUCCESS;
}
