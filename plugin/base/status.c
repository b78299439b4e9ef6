// SPDX-License-Identifier: MIT
#include "base/status.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct zepi_error last_error;

// A log has no bound, so it has owned memory; a destructor of the thread frees it (status_log.c).
zepi_result_t zepi_fail(zepi_result_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // By way of a buffer: an argument may be the old text.
    char text[sizeof(last_error.text)];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    memcpy(last_error.text, text, strlen(text) + 1);
    last_error.result = result;
    return result;
}

zepi_result_t zepi_fail_no_memory(void)
{
    return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY, "the host has no memory left");
}

void zepi_error_append(const char *format, ...)
{
    const size_t length = strlen(last_error.text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error.text + length, sizeof(last_error.text) - length, format, arguments);
    va_end(arguments);
}

void zepi_error_prepend(const char *format, ...)
{
    char text[sizeof(last_error.text)];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(text))
        return;
    snprintf(text + length, sizeof(text) - (size_t)length, "%s", last_error.text);
    memcpy(last_error.text, text, strlen(text) + 1);
}

const char *zepi_last_error(zepi_result_t *out_result)
{
    if (out_result)
        *out_result = last_error.result;
    return last_error.text;
}

void zepi_error_save(struct zepi_error *out_error)
{
    *out_error = last_error;
}

void zepi_error_restore(const struct zepi_error *error)
{
    last_error = *error;
}

#define RESULT_NAMES(X)                                                                            \
    X(ZEPI_SUCCESS)                                                                                \
    X(ZEPI_ERROR_INVALID_VALUE)                                                                    \
    X(ZEPI_ERROR_INVALID_SIZE)                                                                     \
    X(ZEPI_ERROR_INVALID_OBJECT)                                                                   \
    X(ZEPI_ERROR_WRONG_STATE)                                                                      \
    X(ZEPI_ERROR_KERNEL_NOT_FOUND)                                                                 \
    X(ZEPI_ERROR_INVALID_KERNEL)                                                                   \
    X(ZEPI_ERROR_COMPILER_UNAVAILABLE)                                                             \
    X(ZEPI_ERROR_OUT_OF_HOST_MEMORY)                                                               \
    X(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY)                                                             \
    X(ZEPI_ERROR_DEVICE_LOST)                                                                      \
    X(ZEPI_ERROR_UNSUPPORTED)                                                                      \
    X(ZEPI_ERROR_UNSUPPORTED_VERSION)                                                              \
    X(ZEPI_ERROR_NOT_READY)                                                                        \
    X(ZEPI_ERROR_UNINITIALIZED)                                                                    \
    X(ZEPI_ERROR_UNKNOWN)                                                                          \
    X(ZEPI_ERROR_COMPILE_FAILURE)                                                                  \
    X(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN)                                                            \
    X(ZEPI_ERROR_SPEC_CONSTANT_SIZE)                                                               \
    X(ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE)                                                       \
    X(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH)                                                           \
    X(ZEPI_ERROR_SPEC_CONSTANT_REQUIRED)                                                           \
    X(ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS)                                                          \
    X(ZEPI_ERROR_LINK_FAILURE)

const char *zepi_result_name(zepi_result_t result)
{
#define RESULT_CASE(name)                                                                          \
    case name:                                                                                     \
        return #name;
    switch (result) {
        RESULT_NAMES(RESULT_CASE)
    }
    return "an unknown result";
}
