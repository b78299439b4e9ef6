// SPDX-License-Identifier: MIT
// Functions of the host in the order of a queue.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_up_without(void)
{
    setenv("ZE_CPU_WITHOUT", "zeCommandListAppendHostFunction", 1);
    ur_set_up();
}

TestSuite(host_task, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(host_task_unsupported, .init = set_up_without, .fini = ur_tear_down);

static bool is_supported(void)
{
    ur_bool_t answer;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP, sizeof(answer),
                          &answer, NULL));
    return answer;
}

static void need_support(void)
{
    if (!is_supported())
        cr_skip_test("the driver runs no functions of the host");
}

#define ITEMS 256

static int32_t *numbers;
static atomic_int sum;

// Earlier writes of a kernel are visible.
static void add_numbers(void *data)
{
    int32_t total = 0;
    for (int i = 0; i < ITEMS; i++)
        total += numbers[i];
    atomic_fetch_add(&sum, total);
    numbers[0] = *(const int32_t *)data;
}

static void count_up(void *data)
{
    atomic_fetch_add((atomic_int *)data, 1);
}

Test(host_task, runs_between_the_commands_around_it)
{
    int32_t one = 1, given = 500, read = 0;
    need_support();
    numbers = ur_shared(ITEMS * sizeof(int32_t));
    UR_OK(urEnqueueUSMFill(gear.queue, numbers, sizeof(one), &one, ITEMS * sizeof(one), 0, NULL,
                           NULL));
    UR_OK(urEnqueueHostTaskExp(gear.queue, add_numbers, &given, NULL, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, &read, numbers, sizeof(read), 0, NULL, NULL));
    cr_assert_eq(atomic_load(&sum), ITEMS);
    cr_assert_eq(read, 500);
    ur_free(numbers);
}

Test(host_task, waits_for_events_and_has_one)
{
    const ur_exp_host_task_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_EXP_HOST_TASK_PROPERTIES};
    atomic_int calls = 0;
    need_support();
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                        UR_QUEUE_FLAG_PROFILING_ENABLE);
    ur_event_handle_t event = NULL;
    for (int i = 0; i < 10; i++) {
        ur_event_handle_t next;
        ur_command_t type;
        UR_OK(urEnqueueHostTaskExp(i % 2 ? queue : gear.queue, count_up, &calls, &properties,
                                   event ? 1 : 0, event ? &event : NULL, &next));
        UR_OK(urEventGetInfo(next, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        cr_assert_eq(type, UR_COMMAND_HOST_TASK_EXP);
        if (event)
            UR_OK(urEventRelease(event));
        event = next;
    }
    UR_OK(urEventWait(1, &event));
    cr_assert_eq(atomic_load(&calls), 10);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
}

struct chain {
    ur_queue_handle_t queue;
    int32_t *numbers;
    atomic_int begun, calls;
    _Atomic ur_result_t result;
};

// Three more of itself, with a command between them, without a wait: out of order the next one may
// begin before this one has ended.
static void enqueue_next(void *data)
{
    struct chain *chain = data;
    const int call = atomic_fetch_add(&chain->begun, 1);
    const int32_t number = 100 + call;
    ur_result_t result = urEnqueueUSMFill(chain->queue, chain->numbers + call, sizeof(number),
                                          &number, sizeof(number), 0, NULL, NULL);
    if (result == UR_RESULT_SUCCESS && call < 3)
        result = urEnqueueHostTaskExp(chain->queue, enqueue_next, chain, NULL, 0, NULL, NULL);
    if (result != UR_RESULT_SUCCESS)
        atomic_store(&chain->result, result);
    atomic_fetch_add(&chain->calls, 1);
}

Test(host_task, enqueues_into_its_own_queue)
{
    static const ur_queue_flags_t flags[] = {0, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    need_support();
    for (int i = 0; i < 2; i++) {
        struct chain chain = {ur_queue(gear.device, flags[i]), ur_shared(4 * sizeof(int32_t)), 0, 0,
                              UR_RESULT_SUCCESS};
        UR_OK(urEnqueueHostTaskExp(chain.queue, enqueue_next, &chain, NULL, 0, NULL, NULL));
        while (atomic_load(&chain.calls) < 4)
            usleep(100);
        UR_OK(atomic_load(&chain.result));
        UR_OK(urQueueFinish(chain.queue));
        for (int number = 0; number < 4; number++)
            cr_assert_eq(chain.numbers[number], 100 + number);
        ur_free(chain.numbers);
        UR_OK(urQueueRelease(chain.queue));
    }
}

Test(host_task, bad_arguments_get_the_header_s_errors)
{
    ur_exp_host_task_properties_t properties = {.stype = UR_STRUCTURE_TYPE_EXP_HOST_TASK_PROPERTIES,
                                                .flags = 2};
    atomic_int calls = 0;
    ur_event_handle_t event = NULL;
    UR_FAILS(urEnqueueHostTaskExp(NULL, count_up, &calls, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urEnqueueHostTaskExp(gear.queue, NULL, &calls, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urEnqueueHostTaskExp(gear.queue, count_up, &calls, &properties, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urEnqueueHostTaskExp(gear.queue, count_up, &calls, NULL, 1, NULL, NULL),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(urEnqueueHostTaskExp(gear.queue, count_up, &calls, NULL, 0, &event, NULL),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(atomic_load(&calls), 0);
}

Test(host_task_unsupported, is_refused_where_the_driver_does_not_run_functions)
{
    atomic_int calls = 0;
    if (test_env_is_on_intel_driver())
        cr_skip_test("the driver's functions stay");
    cr_assert(!is_supported());
    UR_FAILS_SAYING(urEnqueueHostTaskExp(gear.queue, count_up, &calls, NULL, 0, NULL, NULL),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeCommandListAppendHostFunction");
}
