// SPDX-License-Identifier: MIT
#include "program/build/text.h"

#include "core/alloc.h"
#include "core/unload.h"

void zepi_text_finish(struct zepi_text *text)
{
    zepi_free(text->bytes);
    *text = (struct zepi_text){0};
}

void zepi_text_append(struct zepi_text *text, const char *bytes, size_t size_bytes)
{
    if (size_bytes == 0)
        return;
    char *longer = zepi_allocate(text->size_bytes + size_bytes + 1, 1);
    if (!longer)
        return;
    if (text->bytes)
        memcpy(longer, text->bytes, text->size_bytes);
    memcpy(longer + text->size_bytes, bytes, size_bytes);
    zepi_free(text->bytes);
    text->bytes = longer;
    text->size_bytes += size_bytes;
}

const char *zepi_build_log(const struct zepi_build_result *result, size_t *out_size_bytes)
{
    const size_t size = result->output.log_size;
    *out_size_bytes = 0;
    if (size == 0)
        return "";
    const char *both = zepi_build_result_log(result);
    const size_t error_size = (both[0] ? strnlen(both, size) : 0) + 1;
    *out_size_bytes = error_size < size ? size - error_size : 0;
    return *out_size_bytes > 0 ? both + error_size : "";
}

zepi_result_t zepi_build_fail(const struct zepi_build_result *result)
{
    const zepi_result_t failure = (zepi_result_t)result->output.code;
    const char *error = zepi_build_result_log(result); // up to its zero
    return zepi_fail(failure != ZEPI_SUCCESS ? failure : ZEPI_ERROR_UNKNOWN, "%s",
                     error[0] ? error : "the build failed");
}

zepi_result_t zepi_lookup_fail(enum zepi_build_lookup lookup)
{
    // Log callbacks run after a build. During it the driver runs, and layers above it.
    return lookup == ZEPI_LOOKUP_RECURSIVE
               ? zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "the thread that builds this asks for it from inside the build")
               : zepi_fail_no_memory();
}

enum zepi_build_status zepi_build_status_of(zepi_result_t result)
{
    switch ((int)result) {
    case ZEPI_SUCCESS:
        return ZEPI_BUILD_SUCCEEDED;
    case ZEPI_ERROR_OUT_OF_HOST_MEMORY:
    case ZEPI_ERROR_OUT_OF_DEVICE_MEMORY:
        return ZEPI_BUILD_OUT_OF_MEMORY;
    case ZEPI_ERROR_COMPILE_FAILURE:
    case ZEPI_ERROR_LINK_FAILURE:
        return ZEPI_BUILD_FAILED;
    default:
        return ZEPI_BUILD_SPURIOUS;
    }
}

enum zepi_build_status zepi_build_output_end(struct zepi_build_output *output, zepi_result_t result,
                                             struct zepi_text *log)
{
    const char *error = result == ZEPI_SUCCESS ? "" : zepi_last_error(NULL);
    const size_t error_size = strlen(error) + 1;
    char *both = NULL;
    if (error[0] || log->size_bytes > 0)
        both = zepi_allocate(error_size + log->size_bytes, 1);
    // Lack of memory leaves the output without texts.
    if (both) {
        memcpy(both, error, error_size);
        if (log->size_bytes > 0)
            memcpy(both + error_size, log->bytes, log->size_bytes);
        zepi_build_output_set_log(output, both, error_size + log->size_bytes);
    }
    zepi_free(both);
    output->code = (int32_t)result;
    zepi_text_finish(log);
    return zepi_build_status_of(result);
}

zepi_result_t zepi_build_hold(void)
{
    return zepi_process_hold() ? ZEPI_SUCCESS
                               : zepi_fail(ZEPI_ERROR_COMPILER_UNAVAILABLE,
                                           "the process ends: nothing is built any more");
}
