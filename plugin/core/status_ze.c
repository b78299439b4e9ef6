// SPDX-License-Identifier: MIT
// How Level Zero's results become ours, in one table.
#include "core/stats.h"
#include "core/status.h"
#include "core/thread.h"

static const struct {
    ze_result_t ze;
    const char *name;
    zepi_result_t result;
} table[] = {
#define ENTRY(ze, result)                                                                          \
    {                                                                                              \
        ze, #ze, result                                                                            \
    }
    ENTRY(ZE_RESULT_SUCCESS, ZEPI_SUCCESS),
    ENTRY(ZE_RESULT_NOT_READY, ZEPI_ERROR_NOT_READY),
    ENTRY(ZE_RESULT_ERROR_DEVICE_LOST, ZEPI_ERROR_DEVICE_LOST),
    ENTRY(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZEPI_ERROR_OUT_OF_HOST_MEMORY),
    ENTRY(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZEPI_ERROR_OUT_OF_DEVICE_MEMORY),
    ENTRY(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, ZEPI_ERROR_COMPILE_FAILURE),
    ENTRY(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, ZEPI_ERROR_LINK_FAILURE),
    ENTRY(ZE_RESULT_ERROR_NOT_AVAILABLE, ZEPI_ERROR_UNKNOWN),
    ENTRY(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, ZEPI_ERROR_COMPILER_UNAVAILABLE),
    ENTRY(ZE_RESULT_ERROR_UNINITIALIZED, ZEPI_ERROR_UNINITIALIZED),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZEPI_ERROR_UNSUPPORTED_VERSION),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZEPI_ERROR_UNSUPPORTED),
    ENTRY(ZE_RESULT_ERROR_INVALID_ARGUMENT, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZEPI_ERROR_INVALID_OBJECT),
    ENTRY(ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_SIZE, ZEPI_ERROR_INVALID_SIZE),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, ZEPI_ERROR_INVALID_SIZE),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_ENUMERATION, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, ZEPI_ERROR_UNSUPPORTED),
    ENTRY(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, ZEPI_ERROR_UNSUPPORTED),
    ENTRY(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, ZEPI_ERROR_COMPILE_FAILURE),
    ENTRY(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, ZEPI_ERROR_KERNEL_NOT_FOUND),
    ENTRY(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, ZEPI_ERROR_INVALID_SIZE),
    ENTRY(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, ZEPI_ERROR_INVALID_SIZE),
    ENTRY(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, ZEPI_ERROR_INVALID_SIZE),
    ENTRY(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, ZEPI_ERROR_LINK_FAILURE),
    ENTRY(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, ZEPI_ERROR_UNKNOWN),
    ENTRY(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, ZEPI_ERROR_INVALID_VALUE),
    ENTRY(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, ZEPI_ERROR_UNKNOWN),
    ENTRY(ZE_RESULT_ERROR_UNKNOWN, ZEPI_ERROR_UNKNOWN),
#undef ENTRY
};

static unsigned find_ze_status(ze_result_t ze)
{
    unsigned index = 0;
    while (index < sizeof(table) / sizeof(table[0]) && table[index].ze != ze)
        index++;
    return index;
}

zepi_result_t zepi_result_of_ze(ze_result_t ze)
{
    const unsigned index = find_ze_status(ze);
    return index < sizeof(table) / sizeof(table[0]) ? table[index].result : ZEPI_ERROR_UNKNOWN;
}

const char *zepi_ze_result_name(ze_result_t ze)
{
    const unsigned index = find_ze_status(ze);
    return index < sizeof(table) / sizeof(table[0]) ? table[index].name : "an unknown result";
}

zepi_result_t zepi_fail_ze(ze_result_t ze, const char *function)
{
    zepi_stats_note_failure(function, zepi_ze_result_name(ze));
    const zepi_result_t result = zepi_fail(zepi_result_of_ze(ze), "%s returned %s (0x%x)", function,
                                           zepi_ze_result_name(ze), (unsigned)ze);
    if (zepi_thread.texts)
        zepi_thread.texts->ze = (int32_t)ze;
    return result;
}

zepi_result_t zepi_check_ze_severe(ze_result_t ze, const char *function)
{
    const zepi_result_t result = zepi_result_of_ze(ze);
    return result == ZEPI_ERROR_OUT_OF_HOST_MEMORY || result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY ||
                   result == ZEPI_ERROR_DEVICE_LOST
               ? zepi_fail_ze(ze, function)
               : ZEPI_SUCCESS;
}
