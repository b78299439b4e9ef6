// SPDX-License-Identifier: MIT
#include "ur/check.h"

#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

static ur_result_t ur_result_of(zepi_result_t result)
{
    switch (result) {
    case ZEPI_SUCCESS:
        return UR_RESULT_SUCCESS;
    case ZEPI_ERROR_INVALID_VALUE:
    case ZEPI_ERROR_SPEC_CONSTANT_SIZE:
        return UR_RESULT_ERROR_INVALID_VALUE;
    case ZEPI_ERROR_INVALID_SIZE:
        return UR_RESULT_ERROR_INVALID_SIZE;
    case ZEPI_ERROR_INVALID_OBJECT:
        return UR_RESULT_ERROR_INVALID_ARGUMENT;
    case ZEPI_ERROR_WRONG_STATE:
    case ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE:
        return UR_RESULT_ERROR_INVALID_OPERATION;
    case ZEPI_ERROR_KERNEL_NOT_FOUND:
        return UR_RESULT_ERROR_INVALID_KERNEL_NAME;
    case ZEPI_ERROR_INVALID_KERNEL:
        return UR_RESULT_ERROR_INVALID_KERNEL;
    case ZEPI_ERROR_COMPILER_UNAVAILABLE:
        return UR_RESULT_ERROR_COMPILER_NOT_AVAILABLE;
    case ZEPI_ERROR_OUT_OF_HOST_MEMORY:
        return UR_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case ZEPI_ERROR_OUT_OF_DEVICE_MEMORY:
        return UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case ZEPI_ERROR_DEVICE_LOST:
        return UR_RESULT_ERROR_DEVICE_LOST;
    case ZEPI_ERROR_UNSUPPORTED:
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case ZEPI_ERROR_UNSUPPORTED_VERSION:
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    case ZEPI_ERROR_NOT_READY:
        return UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE;
    case ZEPI_ERROR_UNINITIALIZED:
        return UR_RESULT_ERROR_UNINITIALIZED;
    case ZEPI_ERROR_COMPILE_FAILURE:
    case ZEPI_ERROR_SPEC_CONSTANT_MISMATCH:
    case ZEPI_ERROR_SPEC_CONSTANT_REQUIRED:
    case ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS:
        return UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE;
    case ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN:
        return UR_RESULT_ERROR_INVALID_SPEC_ID;
    case ZEPI_ERROR_LINK_FAILURE:
        return UR_RESULT_ERROR_PROGRAM_LINK_FAILURE;
    case ZEPI_ERROR_CAPTURE_UNSUPPORTED:
        return UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED;
    case ZEPI_ERROR_CAPTURE_INVALIDATED:
        return UR_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED;
    case ZEPI_ERROR_CAPTURE_MERGE:
        return UR_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT;
    case ZEPI_ERROR_CAPTURE_UNJOINED:
        return UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS;
    case ZEPI_ERROR_CAPTURED_EVENT:
        return UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT;
    case ZEPI_ERROR_NOT_CAPTURING:
        return UR_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING;
    case ZEPI_ERROR_UNKNOWN:
        break;
    }
    return UR_RESULT_ERROR_UNKNOWN;
}

static atomic_bool has_capture_results = true;

void zepi_ur_set_has_capture_results(bool has)
{
    has_capture_results = has;
}

ur_result_t zepi_ur_fail(zepi_result_t result)
{
    const ur_result_t code = ur_result_of(result);
    const bool is_of_capture = code >= UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED &&
                               code <= UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT;
    zepi_log(ZEPI_LOG_ERROR, "%s", zepi_last_error(NULL));
    return is_of_capture && !has_capture_results ? UR_RESULT_ERROR_INVALID_OPERATION : code;
}

ur_result_t zepi_ur_refuse(ur_result_t result, const char *format, ...)
{
    char text[512];
    // Hosts query support as a rule, so that a missing feature is no error worth a message.
    const bool is_expected = result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE ||
                             result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    zepi_fail(is_expected ? ZEPI_ERROR_UNSUPPORTED : ZEPI_ERROR_INVALID_VALUE, "%s", text);
    zepi_log(is_expected ? ZEPI_LOG_DEBUG : ZEPI_LOG_ERROR, "%s", text);
    return result;
}

ur_result_t zepi_ur_fail_check(const struct zepi_fault *fault)
{
    zepi_ur_fail(zepi_fault_fail(fault));
    switch (fault->kind) {
    case ZEPI_FAULT_NO_LIST:
    case ZEPI_FAULT_EVENT:
        return UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
    case ZEPI_FAULT_PLATFORM:
        return UR_RESULT_ERROR_INVALID_CONTEXT;
    case ZEPI_FAULT_NULL:
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    default:
        return UR_RESULT_ERROR_INVALID_SIZE;
    }
}

ur_result_t zepi_ur_refuse_handle(const void *handle, const struct zepi_type *type,
                                  ur_result_t wrong)
{
    zepi_fail_object(handle, type);
    zepi_log(ZEPI_LOG_ERROR, "%s", zepi_last_error(NULL));
    return handle ? wrong : UR_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ur_result_t zepi_ur_refuse_null(const char *name)
{
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_NULL_POINTER, "%s is NULL", name);
}

ur_result_t zepi_ur_check_list(uint32_t capacity, const void *list)
{
    if (capacity == 0 && list)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a list with room for nothing");
    return UR_RESULT_SUCCESS;
}

const void *zepi_ur_find_in_chain(const void *next, ur_structure_type_t type)
{
    const ur_base_desc_t *desc = next;
    while (desc && desc->stype != type)
        desc = desc->pNext;
    return desc;
}
