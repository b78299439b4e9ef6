// SPDX-License-Identifier: MIT
#include "core/status.h"

#include "core/alloc.h"
#include "core/thread.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#define ERROR_BYTES sizeof(((struct zepi_error *)NULL)->text)
static_assert(sizeof(((struct zepi_thread_texts *)NULL)->error) == ERROR_BYTES,
              "an error can be saved whole");

static void note_failure(enum zepi_subject subject, zepi_result_t result, const char *format,
                         va_list arguments)
{
    struct zepi_thread_texts *texts = zepi_thread_texts();
    zepi_thread.error = result;
    if (!texts)
        return;
    // By way of a buffer: an argument may be the old text.
    char text[ERROR_BYTES];
    vsnprintf(text, sizeof(text), format, arguments);
    memcpy(texts->error, text, strlen(text) + 1);
    texts->ze = ZE_RESULT_SUCCESS;
    texts->subject = (uint8_t)subject;
}

zepi_result_t zepi_fail(zepi_result_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_failure(ZEPI_SUBJECT_NONE, result, format, arguments);
    va_end(arguments);
    return result;
}

zepi_result_t zepi_fail_about(enum zepi_subject subject, zepi_result_t result, const char *format,
                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_failure(subject, result, format, arguments);
    va_end(arguments);
    return result;
}

enum zepi_subject zepi_last_subject(void)
{
    return zepi_thread.texts ? (enum zepi_subject)zepi_thread.texts->subject : ZEPI_SUBJECT_NONE;
}

zepi_result_t zepi_fail_no_memory(void)
{
    return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY, "the host has no memory left");
}

void zepi_error_append(const char *format, ...)
{
    struct zepi_thread_texts *texts = zepi_thread_texts();
    if (!texts)
        return;
    const size_t length = strlen(texts->error);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(texts->error + length, sizeof(texts->error) - length, format, arguments);
    va_end(arguments);
}

void zepi_error_prepend(const char *format, ...)
{
    struct zepi_thread_texts *texts = zepi_thread_texts();
    char text[ERROR_BYTES];
    if (!texts)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(text))
        return;
    snprintf(text + length, sizeof(text) - (size_t)length, "%s", texts->error);
    memcpy(texts->error, text, strlen(text) + 1);
}

const char *zepi_last_error(zepi_result_t *out_result)
{
    if (out_result)
        *out_result = zepi_thread.error;
    if (zepi_thread.texts)
        return zepi_thread.texts->error;
    return zepi_thread.error == ZEPI_SUCCESS ? "" : "the host has no memory left for the message";
}

ze_result_t zepi_last_ze_result(void)
{
    return zepi_thread.texts ? (ze_result_t)zepi_thread.texts->ze : ZE_RESULT_SUCCESS;
}

void zepi_error_save(struct zepi_error *out_error)
{
    out_error->ze = zepi_last_ze_result();
    out_error->subject = zepi_last_subject();
    const char *text = zepi_last_error(&out_error->result);
    memcpy(out_error->text, text, strlen(text) + 1);
}

void zepi_error_restore(const struct zepi_error *error)
{
    struct zepi_thread_texts *texts = zepi_thread_texts();
    zepi_thread.error = error->result;
    if (!texts)
        return;
    texts->ze = (int32_t)error->ze;
    texts->subject = (uint8_t)error->subject;
    memcpy(texts->error, error->text, strlen(error->text) + 1);
}

void zepi_build_log_set(const char *log, size_t size_bytes)
{
    struct zepi_thread_texts *texts = zepi_thread_texts();
    if (!texts)
        return;
    if (texts->log)
        texts->log[0] = '\0';
    if (size_bytes >= texts->log_capacity) {
        char *more = zepi_allocate(size_bytes + 1, 1);
        if (!more)
            return;
        zepi_free(texts->log);
        texts->log = more;
        texts->log_capacity = size_bytes + 1;
    }
    memcpy(texts->log, log, size_bytes);
    texts->log[size_bytes] = '\0';
}

const char *zepi_build_log_get(void)
{
    return zepi_thread.texts && zepi_thread.texts->log ? zepi_thread.texts->log : "";
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
    X(ZEPI_ERROR_LINK_FAILURE)                                                                     \
    X(ZEPI_ERROR_CAPTURE_UNSUPPORTED)                                                              \
    X(ZEPI_ERROR_CAPTURE_INVALIDATED)                                                              \
    X(ZEPI_ERROR_CAPTURE_MERGE)                                                                    \
    X(ZEPI_ERROR_CAPTURE_UNJOINED)                                                                 \
    X(ZEPI_ERROR_CAPTURED_EVENT)                                                                   \
    X(ZEPI_ERROR_NOT_CAPTURING)

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
