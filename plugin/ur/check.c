// SPDX-License-Identifier: MIT
#include "ur/check.h"

#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

// A result of the core, and Unified Runtime's. Others are UR_RESULT_ERROR_UNKNOWN.
static const struct {
    zepi_result_t core;
    ur_result_t ur;
} results[] = {
    {ZEPI_SUCCESS, UR_RESULT_SUCCESS},
    {ZEPI_ERROR_INVALID_VALUE, UR_RESULT_ERROR_INVALID_VALUE},
    {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_SIZE},
    {ZEPI_ERROR_INVALID_OBJECT, UR_RESULT_ERROR_INVALID_ARGUMENT},
    {ZEPI_ERROR_WRONG_STATE, UR_RESULT_ERROR_INVALID_OPERATION},
    {ZEPI_ERROR_KERNEL_NOT_FOUND, UR_RESULT_ERROR_INVALID_KERNEL_NAME},
    {ZEPI_ERROR_INVALID_KERNEL, UR_RESULT_ERROR_INVALID_KERNEL},
    {ZEPI_ERROR_COMPILER_UNAVAILABLE, UR_RESULT_ERROR_COMPILER_NOT_AVAILABLE},
    {ZEPI_ERROR_OUT_OF_HOST_MEMORY, UR_RESULT_ERROR_OUT_OF_HOST_MEMORY},
    {ZEPI_ERROR_OUT_OF_DEVICE_MEMORY, UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
    {ZEPI_ERROR_DEVICE_LOST, UR_RESULT_ERROR_DEVICE_LOST},
    {ZEPI_ERROR_UNSUPPORTED, UR_RESULT_ERROR_UNSUPPORTED_FEATURE},
    {ZEPI_ERROR_UNSUPPORTED_VERSION, UR_RESULT_ERROR_UNSUPPORTED_VERSION},
    {ZEPI_ERROR_NOT_READY, UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE},
    {ZEPI_ERROR_UNINITIALIZED, UR_RESULT_ERROR_UNINITIALIZED},
    {ZEPI_ERROR_COMPILE_FAILURE, UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE},
    {ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, UR_RESULT_ERROR_INVALID_SPEC_ID},
    {ZEPI_ERROR_SPEC_CONSTANT_SIZE, UR_RESULT_ERROR_INVALID_VALUE},
    {ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE, UR_RESULT_ERROR_INVALID_OPERATION},
    {ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE},
    {ZEPI_ERROR_SPEC_CONSTANT_REQUIRED, UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE},
    {ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS, UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE},
    {ZEPI_ERROR_LINK_FAILURE, UR_RESULT_ERROR_PROGRAM_LINK_FAILURE},
    {ZEPI_ERROR_CAPTURE_UNSUPPORTED, UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED},
    {ZEPI_ERROR_CAPTURE_INVALIDATED, UR_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED},
    {ZEPI_ERROR_CAPTURE_MERGE, UR_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT},
    {ZEPI_ERROR_CAPTURE_UNJOINED, UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS},
    {ZEPI_ERROR_CAPTURED_EVENT, UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT},
    {ZEPI_ERROR_NOT_CAPTURING, UR_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING},
};

static ur_result_t ur_result_of(zepi_result_t result)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].core == result)
            return results[i].ur;
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

ur_result_t zepi_ur_fail_wait_list(zepi_result_t result)
{
    zepi_ur_fail(result);
    return zepi_last_subject() == ZEPI_SUBJECT_CONTEXT ? UR_RESULT_ERROR_INVALID_CONTEXT
                                                       : UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
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
