// SPDX-License-Identifier: MIT
//
// Copies of memory that the driver did not allocate, behind a barrier, while each Level Zero call
// fails in turn. They allocate nothing.
#include "walk.h"

static struct test_gear gear;
static int32_t *memory;
static zepi_queue_t queue;

static zepi_result_t copy_behind_a_barrier(void)
{
    zepi_event_t gate = NULL;
    zepi_event_t copied = NULL;
    int32_t plain[2] = {1, 1};
    zepi_result_t result;
    memory[0] = memory[1] = 0;
    STEP(zepi.event_create(gear.context, &gate));
    STEP(zepi.queue_barrier(queue, (zepi_wait_list_t){&gate, 1}, NULL));
    STEP(zepi.queue_copy(queue, &memory[0], &plain[0], sizeof(plain[0]), TEST_NO_WAIT, NULL));
    STEP(zepi.queue_copy(queue, &memory[1], &plain[1], sizeof(plain[1]), TEST_NO_WAIT, &copied));
    plain[0] = plain[1] = 2;
    STEP(zepi.event_signal(gate));
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(memory[0] == 2 && memory[1] == 2);
out:
    // The copies must not wait for ever.
    while (gate && zepi.event_signal(gate) != ZEPI_SUCCESS)
        ;
    walk_settle(queue);
    walk_release(gate);
    walk_release(copied);
    return result;
}

static void walk_queue(const char *name, zepi_queue_flags_t flags)
{
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &queue));
    walk_rehearse(true);
    walk_calls(name, copy_behind_a_barrier, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearse(false);
    walk_calls(name, copy_behind_a_barrier, "ZE_RESULT_ERROR_DEVICE_LOST");
    TEST_OK(zepi.release(queue));
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 2 * sizeof(*memory), 0,
                              (void **)&memory));
    walk_queue("copies in order", ZEPI_QUEUE_IN_ORDER);
    walk_queue("copies out of order", 0);
    walk_queue("copies with times", ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING);
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    return 0;
}
