// SPDX-License-Identifier: MIT
// Failed builds: deterministic ones are kept, spurious ones tried again, lack of memory evicts.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 8

TestSuite(cache_failures, .init = gear_set_up, .fini = gear_tear_down, .timeout = 60);

// A failed build as its caller sees it.
struct failure {
    zepi_result_t result;
    char error[1024];
    char log[4096];
    char callback_log[4096];
};

static void take_log(void *data, zepi_device_t device, const char *log, size_t size_bytes)
{
    struct failure *failure = data;
    (void)device;
    snprintf(failure->callback_log, sizeof(failure->callback_log), "%.*s", (int)size_bytes, log);
}

static struct failure fail(zepi_context_t context, const char *name, const char *options)
{
    struct failure failure = {0};
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .options = options, .log = take_log, .log_data = &failure};
    zepi_module_t executable = NULL;
    zepi_module_t input = test_input(context, name);
    failure.result = zepi.module_build(input, &desc, &executable);
    cr_assert_null(executable);
    snprintf(failure.error, sizeof(failure.error), "%s", zepi.last_error(NULL));
    snprintf(failure.log, sizeof(failure.log), "%s", zepi.last_build_log());
    TEST_OK(zepi.release(input));
    return failure;
}

static void expect_same(const struct failure *a, const struct failure *b)
{
    cr_assert_eq(a->result, b->result);
    cr_assert_str_eq(a->error, b->error);
    cr_assert_str_eq(a->log, b->log);
    cr_assert_str_eq(a->callback_log, b->callback_log);
}

static void expect_kept(const char *name, const char *options, zepi_result_t result,
                        const char *words)
{
    zepi_context_t other;
    test_ze_cpu_require_own_compiler();
    const struct failure first = fail(gear.context, name, options);
    const uint64_t modules = ze_cpu.get_count("zeModuleCreate");
    cr_assert_eq(first.result, result);
    cr_assert(strstr(first.error, words) || strstr(first.log, words), "%s / %s", first.error,
              first.log);
    cr_assert_str_eq(first.log, first.callback_log);
    for (int i = 0; i < 3; i++) {
        const struct failure again = fail(gear.context, name, options);
        expect_same(&first, &again);
    }
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    const struct failure elsewhere = fail(other, name, options);
    expect_same(&first, &elsewhere);
    TEST_OK(zepi.release(other));
    // One build in all.
    cr_assert_eq(modules, 1);
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 1);
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(zepi.cache_clear(NULL));
    const struct failure cleared = fail(gear.context, name, options);
    expect_same(&first, &cleared);
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 2);
}

Test(cache_failures, of_the_compiler_are_kept_with_code_text_and_log)
{
    expect_kept("scaled_copy", "-cl-no-such-option", ZEPI_ERROR_COMPILE_FAILURE, "no-such-option");
}

Test(cache_failures, of_the_linker_are_kept_with_code_text_and_log)
{
    expect_kept("unresolved_import", NULL, ZEPI_ERROR_LINK_FAILURE, "nobody_defines_this");
}

// ---- In many threads ----

struct caller {
    pthread_t thread;
    const char *options;
    zepi_result_t result;
    char error[1024];
    zepi_module_t executable;
};

static pthread_barrier_t all_are_ready;

static void *build_at_once(void *user)
{
    struct caller *caller = user;
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = caller->options};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    pthread_barrier_wait(&all_are_ready);
    caller->result = zepi.module_build(input, &desc, &caller->executable);
    if (caller->result != ZEPI_SUCCESS)
        snprintf(caller->error, sizeof(caller->error), "%s", zepi.last_error(NULL));
    TEST_OK(zepi.release(input));
    return NULL;
}

static void build_in_threads(struct caller *callers, const char *options)
{
    pthread_barrier_init(&all_are_ready, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.options = options};
        cr_assert_eq(pthread_create(&callers[i].thread, NULL, build_at_once, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(callers[i].thread, NULL);
    pthread_barrier_destroy(&all_are_ready);
}

Test(cache_failures, of_the_compiler_reach_every_thread_that_waits)
{
    struct caller callers[THREADS];
    test_ze_cpu_require_own_compiler();
    build_in_threads(callers, "-cl-no-such-option");
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 1);
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(callers[i].result, ZEPI_ERROR_COMPILE_FAILURE);
        cr_assert_str_eq(callers[i].error, callers[0].error);
    }
}

Test(cache_failures, that_are_spurious_are_tried_again_by_those_who_wait)
{
    struct caller callers[THREADS];
    int failed = 0;
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_DEVICE_LOST"), 0);
    build_in_threads(callers, NULL);
    for (int i = 0; i < THREADS; i++) {
        failed += callers[i].result != ZEPI_SUCCESS;
        if (callers[i].result == ZEPI_SUCCESS)
            TEST_OK(zepi.release(callers[i].executable));
        else
            cr_assert_eq(callers[i].result, ZEPI_ERROR_DEVICE_LOST);
    }
    // The one that was building; a waiter built again, and the others got that.
    cr_assert_eq(failed, 1);
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 2);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 1);
}

Test(cache_failures, that_are_spurious_are_forgotten)
{
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_DEVICE_LOST"), 0);
    const struct failure lost = fail(gear.context, "scaled_copy", NULL);
    cr_assert_eq(lost.result, ZEPI_ERROR_DEVICE_LOST);
    TEST_OK(zepi.release(test_executable(gear.context, "scaled_copy")));
}

// ---- Out of memory ----

static uint64_t evictions(zepi_cache_level_t level)
{
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    TEST_OK(zepi.cache_get_counters(gear.context, level, &counters));
    return counters.evictions;
}

Test(cache_failures, for_lack_of_memory_are_tried_once_more)
{
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    TEST_OK(zepi.release(test_executable(gear.context, "scaled_copy")));
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 2);
}

// Memory that is reclaimed before the second try: empty slabs, lists of released queues.
Test(cache_failures, for_lack_of_memory_reclaim_what_is_unused)
{
    void *memory;
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_PROFILING, &queue));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 64, 0, &memory));
    TEST_OK(zepi.usm_free(gear.context, memory));
    ze_cpu.reset_counts();
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    TEST_OK(zepi.release(test_executable(gear.context, "scaled_copy")));
    cr_assert_gt(ze_cpu.get_count("zeCommandListDestroy"), 0);
    cr_assert_gt(ze_cpu.get_count("zeMemFree"), 0);
}

Test(cache_failures, for_lack_of_memory_evict_what_is_unused_first)
{
    zepi_module_t used = test_executable(gear.context, "negate");
    TEST_OK(zepi.release(test_executable(gear.context, "vector_add")));
    TEST_OK(zepi.release(test_executable(gear.context, "arguments")));
    const uint64_t destroyed = ze_cpu.get_count("zeModuleDestroy");
    ze_cpu.reset_counts();
    // Each try is two, of which the second comes after a reclaim. Two tries in a row: the memory of
    // native code was not enough, handles go as well.
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,"
                                 "zeModuleCreate:2:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,"
                                 "zeModuleCreate:3:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,"
                                 "zeModuleCreate:4:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"),
                 0);
    TEST_OK(zepi.release(test_executable(gear.context, "scaled_copy")));
    cr_assert_eq(evictions(ZEPI_CACHE_MODULES), 2);
    cr_assert_geq(evictions(ZEPI_CACHE_BINARIES), 2);
    cr_assert_eq(destroyed, 0);
    cr_assert_eq(ze_cpu.get_count("zeModuleDestroy"), 2);
    // The one in use is as good as before.
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(used, "negate", &kernel));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(used));
}

Test(cache_failures, for_lack_of_memory_that_stays_are_reported_and_forgotten)
{
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:*:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    const struct failure lack = fail(gear.context, "scaled_copy", NULL);
    cr_assert_eq(lack.result, ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    cr_assert_eq(ze_cpu.set_fail(""), 0);
    TEST_OK(zepi.release(test_executable(gear.context, "scaled_copy")));
}
