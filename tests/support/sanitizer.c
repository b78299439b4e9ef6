// SPDX-License-Identifier: MIT
//
// Options of the sanitizers, compiled in so that every test runs bare. The sanitizers' run time
// calls these functions by name, before main(); ASAN_OPTIONS and its like still have the last word.
#include "suppressions.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED const char *__asan_default_options(void);
EXPORTED const char *__lsan_default_options(void);
EXPORTED const char *__lsan_default_suppressions(void);
EXPORTED const char *__ubsan_default_options(void);
EXPORTED const char *__tsan_default_options(void);
EXPORTED const char *__tsan_default_suppressions(void);

const char *__asan_default_options(void)
{
    // Stack checks after return cost little here and find what a queue's worker keeps for too long.
    // Intel's graphics compiler deletes some objects by a smaller type than it made them.
    // Every process looks for leaks at its end; the names of frames would take most of its time,
    // and suppressions are of whole libraries. ASAN_OPTIONS=symbolize=1 brings the names back.
    return "detect_stack_use_after_return=1:strict_string_checks=1:new_delete_type_mismatch=0:"
           "symbolize=0:quarantine_size_mb=16:malloc_context_size=16";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void)
{
    return TEST_LSAN_SUPPRESSIONS;
}

const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1";
}

const char *__tsan_default_options(void)
{
    // A child of a fork that ends by exit() may start threads: the OpenCL runtime has handlers.
    return "halt_on_error=0:second_deadlock_stack=1:print_suppressions=0:die_after_fork=0";
}

const char *__tsan_default_suppressions(void)
{
    return TEST_TSAN_SUPPRESSIONS;
}
