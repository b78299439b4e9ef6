// SPDX-License-Identifier: MIT
#include "cache/build_result.h"
#include "core/sys.h"

#include <criterion/criterion.h>
#include <unistd.h>

static int destructions;

static void count_destruction(void *payload)
{
    cr_assert_eq(payload, &destructions);
    destructions++;
}

static struct zepi_build_result *begin(void)
{
    struct zepi_build_result *result = zepi_sys_allocate_lines(sizeof(*result));
    cr_assert_not_null(result);
    zepi_build_result_init(result);
    return result;
}

static void end(struct zepi_build_result *result, enum zepi_build_status status)
{
    struct zepi_build_output output = {
        .payload = &destructions, .destroy = count_destruction, .code = 7};
    cr_assert(zepi_build_output_set_log(&output, "warning: w", 10));
    zepi_build_result_publish(result, status, &output);
    cr_assert_null(output.payload);
    cr_assert_null(output.log);
}

Test(build_result, succeeds_with_payload_and_log)
{
    struct zepi_build_result *result = begin();
    cr_assert_eq(zepi_build_result_status(result), ZEPI_BUILD_IN_PROGRESS);
    end(result, ZEPI_BUILD_SUCCEEDED);
    cr_assert_eq(zepi_build_result_status(result), ZEPI_BUILD_SUCCEEDED);
    cr_assert_eq(zepi_build_result_payload(result), &destructions);
    cr_assert_eq(result->output.code, 0);
    cr_assert_str_eq(zepi_build_result_log(result), "warning: w");
    cr_assert_eq(result->output.log_size, 10);
    zepi_build_result_release(result);
    cr_assert_eq(destructions, 1);
}

Test(build_result, fails_with_code_and_log_and_without_payload)
{
    struct zepi_build_result *result = begin();
    end(result, ZEPI_BUILD_FAILED);
    cr_assert_eq(zepi_build_result_status(result), ZEPI_BUILD_FAILED);
    cr_assert_eq(result->output.code, 7);
    cr_assert_null(zepi_build_result_payload(result));
    cr_assert_str_eq(zepi_build_result_log(result), "warning: w");
    cr_assert_eq(destructions, 1, "what a failed build left behind is destroyed");
    zepi_build_result_release(result);
    cr_assert_eq(destructions, 1);
}

Test(build_result, is_destroyed_by_the_last_release_only)
{
    struct zepi_build_result *result = begin();
    end(result, ZEPI_BUILD_SUCCEEDED);
    cr_assert_eq(zepi_build_result_retain(result), result);
    zepi_build_result_release(result);
    cr_assert_eq(destructions, 0);
    zepi_build_result_release(result);
    cr_assert_eq(destructions, 1);
    zepi_build_result_release(NULL);
}

Test(build_result, has_a_log_even_without_one)
{
    struct zepi_build_result *result = begin();
    struct zepi_build_output output = {0};
    zepi_build_result_publish(result, ZEPI_BUILD_SUCCEEDED, &output);
    cr_assert_str_eq(zepi_build_result_log(result), "");
    cr_assert_eq(result->output.log_size, 0);
    zepi_build_result_release(result);
}

Test(build_result, keeps_a_log_with_zeroes_in_it_whole)
{
    struct zepi_build_output output = {0};
    cr_assert(zepi_build_output_set_log(&output, "a\0b", 3));
    cr_assert_eq(output.log_size, 3);
    cr_assert_arr_eq(output.log, "a\0b", 4);
    cr_assert(zepi_build_output_set_log(&output, "longer than before", 18));
    cr_assert_str_eq(output.log, "longer than before");
    zepi_build_output_finish(&output);
    cr_assert_null(output.log);
}

Test(build_result, does_not_wait_for_its_own_thread)
{
    struct zepi_build_result *result = begin();
    cr_assert_not(zepi_build_result_wait(result));
    end(result, ZEPI_BUILD_SUCCEEDED);
    cr_assert(zepi_build_result_wait(result));
    zepi_build_result_release(result);
}

static void *wait_in_thread(void *argument)
{
    struct zepi_build_result *result = argument;
    return zepi_build_result_wait(result) ? zepi_build_result_payload(result) : NULL;
}

Test(build_result, wakes_who_waits, .timeout = 20)
{
    pthread_t threads[3];
    struct zepi_build_result *result = begin();
    for (int i = 0; i < 3; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, wait_in_thread, result), 0);
    usleep(20 * 1000);
    end(result, ZEPI_BUILD_SUCCEEDED);
    for (int i = 0; i < 3; i++) {
        void *payload = NULL;
        pthread_join(threads[i], &payload);
        cr_assert_eq(payload, &destructions);
    }
    zepi_build_result_release(result);
}
