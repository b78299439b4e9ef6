// SPDX-License-Identifier: MIT
#include "core/thread.h"

#include "core/status.h"
#include "core/sys.h"
#include "test_threads.h"

#include <criterion/criterion.h>
#include <errno.h>

TestSuite(thread, .timeout = 60);

static unsigned shards[ZEPI_THREAD_SHARDS];

static void *note_shard(void *user)
{
    *(unsigned *)user = zepi_thread_shard();
    cr_assert_eq(zepi_thread_shard(), *(unsigned *)user, "it stays the same");
    return NULL;
}

Test(thread, each_of_sixteen_threads_has_a_shard_of_its_own)
{
    unsigned seen = 0;
    test_threads_run(ZEPI_THREAD_SHARDS, note_shard, shards, sizeof(shards[0]));
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        cr_assert_lt(shards[i], ZEPI_THREAD_SHARDS);
        seen |= 1u << shards[i];
    }
    cr_assert_eq(seen, (1u << ZEPI_THREAD_SHARDS) - 1);
}

static void *fail_in_thread(void *unused)
{
    zepi_result_t result;
    cr_assert_str_empty(zepi_last_error(&result));
    cr_assert_eq(result, ZEPI_SUCCESS);
    zepi_fail(ZEPI_ERROR_INVALID_SIZE, "another thread's");
    zepi_build_log_set("a log", 5);
    return unused;
}

Test(thread, has_an_error_and_a_log_of_its_own)
{
    char user;
    zepi_result_t result;
    zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the value is %d", 3);
    zepi_error_prepend("kernel '%s': ", "f");
    zepi_error_append(", expected %d", 4);
    test_threads_run(1, fail_in_thread, &user, 1);
    cr_assert_str_eq(zepi_last_error(&result), "kernel 'f': the value is 3, expected 4");
    cr_assert_eq(result, ZEPI_ERROR_INVALID_VALUE);
    cr_assert_str_empty(zepi_build_log_get());
}

static int fail_all(enum zepi_sys_call call)
{
    (void)call;
    return ENOMEM;
}

Test(thread, without_memory_for_a_message_has_the_code_and_says_why)
{
    zepi_result_t result;
    zepi_sys_set_hook(fail_all);
    zepi_fail(ZEPI_ERROR_DEVICE_LOST, "the device is lost");
    zepi_error_append(" at once");
    zepi_build_log_set("a log", 5);
    zepi_sys_set_hook(NULL);
    cr_assert_str_eq(zepi_last_error(&result), "the host has no memory left for the message");
    cr_assert_eq(result, ZEPI_ERROR_DEVICE_LOST);
    cr_assert_str_empty(zepi_build_log_get());
}
