// SPDX-License-Identifier: MIT
#include "core/status.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/stats.h"
#include "core/thread.h"
#include "core/unload.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <utlist.h>

// ---- The texts of a thread ----

// Made with the thread's first failure or log. A destructor of the thread frees them, or dlclose.
struct zepi_thread_texts {
    struct zepi_thread_texts *next, *previous; // of all threads
    struct zepi_error error;                   // without the result, which is zepi_thread.error
    char *log;                                 // the last build log; owned; NULL: none
    size_t log_capacity;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; // its values are the threads' texts, for the destructor
static bool has_key;

static struct zepi_mutex mutex;         // guards the list of all texts; nothing is called under it
static struct zepi_thread_texts *first; // utlist

static void thread_texts_destroy(struct zepi_thread_texts *texts)
{
    zepi_mutex_lock(&mutex);
    DL_DELETE2(first, texts, previous, next);
    zepi_mutex_unlock(&mutex);
    zepi_free(texts->log);
    zepi_free(texts);
}

static void end_thread(void *texts)
{
    zepi_thread.texts = NULL;
    thread_texts_destroy(texts);
}

// The texts of live threads: no destructor runs for them any more.
static void threads_unload(void)
{
    pthread_key_delete(key);
    while (first)
        thread_texts_destroy(first);
}

static void make_thread_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
    if (has_key)
        zepi_at_unload(ZEPI_UNLOAD_THREADS, threads_unload);
}

// The calling thread's, NULL without memory.
static struct zepi_thread_texts *get_thread_texts(void)
{
    if (zepi_thread.texts)
        return zepi_thread.texts;
    pthread_once(&once, make_thread_key);
    struct zepi_thread_texts *texts = has_key ? zepi_allocate(1, sizeof(*texts)) : NULL;
    if (texts && pthread_setspecific(key, texts) != 0) {
        zepi_free(texts);
        texts = NULL;
    }
    if (!texts)
        return NULL;
    zepi_mutex_lock(&mutex);
    DL_PREPEND2(first, texts, previous, next);
    zepi_mutex_unlock(&mutex);
    zepi_thread.texts = texts;
    return texts;
}

// ---- Errors ----

zepi_result_t zepi_fail_about(enum zepi_subject subject, zepi_result_t result, const char *format,
                              ...)
{
    struct zepi_thread_texts *texts = get_thread_texts();
    zepi_thread.error = result;
    if (!texts)
        return result;
    // By way of a buffer: an argument may be the old text.
    char text[sizeof(texts->error.text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    memcpy(texts->error.text, text, strlen(text) + 1);
    texts->error.ze = ZE_RESULT_SUCCESS;
    texts->error.subject = subject;
    return result;
}

enum zepi_subject zepi_last_subject(void)
{
    return zepi_thread.texts ? zepi_thread.texts->error.subject : ZEPI_SUBJECT_NONE;
}

zepi_result_t zepi_fail_no_memory(void)
{
    return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY, "the host has no memory left");
}

void zepi_error_append(const char *format, ...)
{
    struct zepi_thread_texts *texts = get_thread_texts();
    if (!texts)
        return;
    const size_t length = strlen(texts->error.text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(texts->error.text + length, sizeof(texts->error.text) - length, format, arguments);
    va_end(arguments);
}

void zepi_error_prepend(const char *format, ...)
{
    struct zepi_thread_texts *texts = get_thread_texts();
    char text[sizeof(texts->error.text)];
    if (!texts)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(text))
        return;
    snprintf(text + length, sizeof(text) - (size_t)length, "%s", texts->error.text);
    memcpy(texts->error.text, text, strlen(text) + 1);
}

const char *zepi_last_error(zepi_result_t *out_result)
{
    if (out_result)
        *out_result = zepi_thread.error;
    if (zepi_thread.texts)
        return zepi_thread.texts->error.text;
    return zepi_thread.error == ZEPI_SUCCESS ? "" : "the host has no memory left for the message";
}

ze_result_t zepi_last_ze_result(void)
{
    return zepi_thread.texts ? zepi_thread.texts->error.ze : ZE_RESULT_SUCCESS;
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
    struct zepi_thread_texts *texts = get_thread_texts();
    zepi_thread.error = error->result;
    if (!texts)
        return;
    texts->error.ze = error->ze;
    texts->error.subject = error->subject;
    memcpy(texts->error.text, error->text, strlen(error->text) + 1);
}

void zepi_build_log_set(const char *log, size_t size_bytes)
{
    struct zepi_thread_texts *texts = get_thread_texts();
    if (!texts)
        return;
    if (texts->log)
        texts->log[0] = '\0';
    if (size_bytes == 0)
        return;
    // Memory for the longest one stays: each build of a known program has a log.
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

const char *zepi_result_name(zepi_result_t result)
{
#define NAME(name)                                                                                 \
    case name:                                                                                     \
        return #name;
    switch (result) {
        NAME(ZEPI_SUCCESS)
        NAME(ZEPI_ERROR_INVALID_VALUE)
        NAME(ZEPI_ERROR_INVALID_SIZE)
        NAME(ZEPI_ERROR_INVALID_OBJECT)
        NAME(ZEPI_ERROR_WRONG_STATE)
        NAME(ZEPI_ERROR_KERNEL_NOT_FOUND)
        NAME(ZEPI_ERROR_INVALID_KERNEL)
        NAME(ZEPI_ERROR_COMPILER_UNAVAILABLE)
        NAME(ZEPI_ERROR_OUT_OF_HOST_MEMORY)
        NAME(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(ZEPI_ERROR_DEVICE_LOST)
        NAME(ZEPI_ERROR_UNSUPPORTED)
        NAME(ZEPI_ERROR_UNSUPPORTED_VERSION)
        NAME(ZEPI_ERROR_NOT_READY)
        NAME(ZEPI_ERROR_UNINITIALIZED)
        NAME(ZEPI_ERROR_UNKNOWN)
        NAME(ZEPI_ERROR_COMPILE_FAILURE)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_SIZE)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_REQUIRED)
        NAME(ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS)
        NAME(ZEPI_ERROR_LINK_FAILURE)
        NAME(ZEPI_ERROR_CAPTURE_UNSUPPORTED)
        NAME(ZEPI_ERROR_CAPTURE_INVALIDATED)
        NAME(ZEPI_ERROR_CAPTURE_MERGE)
        NAME(ZEPI_ERROR_CAPTURE_UNJOINED)
        NAME(ZEPI_ERROR_CAPTURED_EVENT)
        NAME(ZEPI_ERROR_NOT_CAPTURING)
    }
#undef NAME
    return "an unknown result";
}

// ---- Results of Level Zero ----

static const struct ze_status {
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

static const struct ze_status *find_ze_status(ze_result_t ze)
{
    static const struct ze_status unknown = {.name = "an unknown result",
                                             .result = ZEPI_ERROR_UNKNOWN};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].ze == ze)
            return &table[i];
    }
    return &unknown;
}

zepi_result_t zepi_fail_ze(ze_result_t ze, const char *function)
{
    const struct ze_status *status = find_ze_status(ze);
    zepi_stats_note_failure(function, status->name);
    zepi_fail(status->result, "%s returned %s (0x%x)", function, status->name, (unsigned)ze);
    if (zepi_thread.texts)
        zepi_thread.texts->error.ze = ze;
    return status->result;
}

zepi_result_t zepi_check_ze_severe(ze_result_t ze, const char *function)
{
    const zepi_result_t result = find_ze_status(ze)->result;
    return result == ZEPI_ERROR_OUT_OF_HOST_MEMORY || result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY ||
                   result == ZEPI_ERROR_DEVICE_LOST
               ? zepi_fail_ze(ze, function)
               : ZEPI_SUCCESS;
}
