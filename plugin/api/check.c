// SPDX-License-Identifier: MIT
#include "api/check.h"

#include "core/list.h"

zepi_result_t zepi_api_fail(const struct zepi_fault *fault)
{
    const char *what = fault->what;
    const size_t has = fault->has, wanted = fault->wanted;
    switch (fault->kind) {
    case ZEPI_FAULT_NO_LIST:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %zu",
                         wanted);
    case ZEPI_FAULT_EVENT:
        return zepi_fail_object(fault->object, &zepi_event_type);
    case ZEPI_FAULT_PLATFORM:
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "an event of the wait list is of another platform than the queue");
    case ZEPI_FAULT_NULL:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", what);
    case ZEPI_FAULT_EMPTY:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s is 0 bytes, expected some", what);
    case ZEPI_FAULT_END:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s is %zu bytes from %p on, its allocation has %zu there", what,
                         wanted, fault->object, has);
    case ZEPI_FAULT_WRAP:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s is %zu bytes from %p on, which reach past the end of memory", what,
                         wanted, fault->object);
    case ZEPI_FAULT_ROW_PITCH:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch is %zu bytes, expected at least %zu, the region's "
                         "width",
                         what, has, wanted);
    case ZEPI_FAULT_SLICE_PITCH:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch is %zu bytes, expected at least %zu, the row pitch "
                         "times the region's height",
                         what, has, wanted);
    case ZEPI_FAULT_TOO_LARGE:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is too large", what);
    case ZEPI_FAULT_IMAGE:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "a region of %zu pixels in a dimension in which the image has %zu", wanted,
                         has);
    case ZEPI_FAULT_32_BITS:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is beyond 32 bits", what);
    case ZEPI_FAULT_ROW_32_BITS:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch of %zu bytes is beyond 32 bits", what, has);
    case ZEPI_FAULT_SLICE_32_BITS:
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch of %zu bytes is beyond 32 bits: copy single slices "
                         "from where they begin",
                         what, has);
    }
    return ZEPI_ERROR_UNKNOWN;
}

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
    uint32_t index;
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    return result ? result : zepi_context_check_device(context, device, &index);
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
