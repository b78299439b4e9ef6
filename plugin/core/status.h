// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_STATUS_H
#define ZEPI_CORE_STATUS_H

#include <zepi/zepi.h>

#include <level_zero/ze_api.h>

// The calling thread's last error, and how errors of Level Zero become ours.

// The argument that a failure is about, for front ends whose codes name it.
enum zepi_subject {
    ZEPI_SUBJECT_NONE, // any other
    ZEPI_SUBJECT_ARG_COUNT,
    ZEPI_SUBJECT_ARG,
    ZEPI_SUBJECT_GROUP_SIZE,
    ZEPI_SUBJECT_CONTEXT,
};

// Notes a failure: the mistake and the expected value, as one sentence without a full stop. Returns
// `result`, so that a function can `return zepi_fail(...)`.
zepi_result_t zepi_fail_about(enum zepi_subject subject, zepi_result_t result, const char *format,
                              ...) __attribute__((format(printf, 3, 4), cold, noinline));
#define zepi_fail(result, ...) zepi_fail_about(ZEPI_SUBJECT_NONE, result, __VA_ARGS__)
enum zepi_subject zepi_last_subject(void); // of the thread's last failure

// Fails with the sentence that every lack of memory gets.
zepi_result_t zepi_fail_no_memory(void) __attribute__((cold, noinline));

// Appends to the text of the thread's last failure, or puts text before it ("kernel 'f': ").
void zepi_error_append(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void zepi_error_prepend(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

// Borrowed until the thread's next failure. *out_result may be NULL.
const char *zepi_last_error(zepi_result_t *out_result);
// The driver's result behind it, or ZE_RESULT_SUCCESS: zepi found the mistake itself.
ze_result_t zepi_last_ze_result(void);

// Sets codes and text again: for work on the way out that may fail itself, or an error that another
// thread had.
struct zepi_error {
    zepi_result_t result;
    ze_result_t ze;
    enum zepi_subject subject;
    char text[2048];
};
void zepi_error_save(struct zepi_error *out_error);
void zepi_error_restore(const struct zepi_error *error);

// The calling thread's last build log. Copies; an allocation that fails leaves it empty.
void zepi_build_log_set(const char *log, size_t size_bytes);
const char *zepi_build_log_get(void);

const char *zepi_result_name(zepi_result_t result);

zepi_result_t zepi_fail_ze(ze_result_t result, const char *function)
    __attribute__((cold, noinline));

// For calls that a driver may refuse, in many ways and without harm (queries of what it may lack,
// imports, waits that the host can do): success unless memory is short or the device is lost, which
// a later call may get past.
zepi_result_t zepi_check_ze_severe(ze_result_t result, const char *function);

// Translates the result of Level Zero's `function`, and notes it if it is a failure.
static inline zepi_result_t zepi_check_ze(ze_result_t result, const char *function)
{
    return __builtin_expect(result == ZE_RESULT_SUCCESS, 1) ? ZEPI_SUCCESS
                                                            : zepi_fail_ze(result, function);
}

#endif
