// SPDX-License-Identifier: MIT
//
// Functions of the host in the order of a queue, while each Level Zero call fails in turn. They
// allocate nothing.
#include "walk.h"

#include "queue/command/host_function.h"

#include <stdatomic.h>
#include <unistd.h>

static struct test_gear gear;
static int32_t *memory;
static zepi_queue_t queue;

// A host may free the data as soon as it hears of an error.
static atomic_bool is_data_freed;
static atomic_bool is_freed_data_used;

static void add_one(void *data)
{
    usleep(1000);
    if (atomic_load(&is_data_freed))
        atomic_store(&is_freed_data_used, true);
    ++*(int32_t *)data;
}

static zepi_result_t free_after_error(zepi_result_t result)
{
    atomic_store(&is_data_freed, result != ZEPI_SUCCESS);
    return result;
}

static zepi_result_t call_host(void)
{
    zepi_event_t events[2] = {NULL, NULL};
    const int32_t number = 7;
    zepi_result_t result;
    memory[0] = 0;
    STEP(zepi.queue_fill(queue, memory, &number, sizeof(number), sizeof(number), TEST_NO_WAIT,
                         &events[0]));
    STEP(free_after_error(zepi_queue_call_host(queue, add_one, memory,
                                               (zepi_wait_list_t){&events[0], 1}, &events[1])));
    STEP(zepi.event_wait(1, &events[1], UINT64_MAX));
    WALK_EXPECT(memory[0] == 8);
out:
    walk_settle(queue);
    WALK_EXPECT(!atomic_load(&is_freed_data_used));
    atomic_store(&is_data_freed, false);
    walk_release(events[0]);
    walk_release(events[1]);
    return result;
}

static void walk_queue(const char *name, zepi_queue_flags_t flags)
{
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &queue));
    walk_rehearse(true);
    walk_calls(name, call_host, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearse(false);
    walk_calls(name, call_host, "ZE_RESULT_ERROR_DEVICE_LOST");
    TEST_OK(zepi.release(queue));
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(*memory), 0,
                              (void **)&memory));
    walk_queue("host functions in order", ZEPI_QUEUE_IN_ORDER);
    walk_queue("host functions out of order", 0);
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    return 0;
}
