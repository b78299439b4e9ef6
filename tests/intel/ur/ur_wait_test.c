// SPDX-License-Identifier: MIT
// A wait for an event ends after its command, while another thread queries the queue. A submission
// takes a while here, so that the query meets an append.
#include "intel.h"

#include "ur_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 80
#define SUBMIT_US 1000

static const ur_queue_flags_t kinds[] = {
    0, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, UR_QUEUE_FLAG_PROFILING_ENABLE,
    UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE | UR_QUEUE_FLAG_PROFILING_ENABLE};

// A thread that makes one query of a queue until it has to stop.
struct asker {
    ur_queue_handle_t queue;
    void (*ask)(ur_queue_handle_t queue);
    atomic_bool stops;
    pthread_t thread;
};

static void finish(ur_queue_handle_t queue)
{
    UR_OK(urQueueFinish(queue));
}

static void copy_and_wait(ur_queue_handle_t queue)
{
    const uint32_t from = 7;
    uint32_t to = 0;
    UR_OK(urEnqueueUSMMemcpy(queue, true, &to, &from, sizeof(to), 0, NULL, NULL));
    INTEL_EXPECT(to == from, "%u was copied", to);
}

static void ask_whether_it_is_empty(ur_queue_handle_t queue)
{
    ur_bool_t is_empty;
    UR_OK(urQueueGetInfo(queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
}

static void *ask_again_and_again(void *argument)
{
    struct asker *asker = argument;
    while (!atomic_load(&asker->stops))
        asker->ask(asker->queue);
    return NULL;
}

// `number` is on the stack: for such memory the driver keeps an object until a wait, and as long as
// there is one, its wait for a list goes another way.
static void copy_and_compare(ur_queue_handle_t queue, uint32_t *memory, uint32_t round)
{
    volatile uint32_t number = 0;
    ur_event_handle_t events[2];
    memory[0] = round + 1;
    UR_OK(urEnqueueUSMMemcpy(queue, false, memory + 1, memory, 4, 0, NULL, &events[0]));
    UR_OK(urEnqueueUSMMemcpy(queue, false, (void *)&number, memory + 1, 4, 1, events, &events[1]));
    UR_OK(urEventWait(1, &events[1]));
    INTEL_EXPECT(number == round + 1, "round %u: %u was copied", round, number);
    for (int i = 0; i < 2; i++)
        UR_OK(urEventRelease(events[i]));
}

static void copy_beside(void (*ask)(ur_queue_handle_t queue))
{
    void *memory;
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, 4096, &memory));
    intel_set_submit_time(SUBMIT_US);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct asker asker = {.queue = ur_queue(gear.device, kinds[i]), .ask = ask};
        INTEL_EXPECT(pthread_create(&asker.thread, NULL, ask_again_and_again, &asker) == 0,
                     "there is no thread");
        for (uint32_t round = 0; round < ROUNDS; round++)
            copy_and_compare(asker.queue, memory, round);
        atomic_store(&asker.stops, true);
        pthread_join(asker.thread, NULL);
        UR_OK(urQueueRelease(asker.queue));
    }
    intel_set_submit_time(0);
    UR_OK(urUSMFree(gear.context, memory));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static void a_copy_is_done_when_its_event_is_while_a_thread_asks_for_the_queue(void)
{
    copy_beside(ask_whether_it_is_empty);
}

static void and_while_a_thread_finishes_the_queue(void)
{
    copy_beside(finish);
}

static void and_while_a_thread_copies_and_waits(void)
{
    copy_beside(copy_and_wait);
}

static const struct intel_story stories[] = {
    {"a_copy_is_done_when_its_event_is_while_a_thread_asks_for_the_queue",
     a_copy_is_done_when_its_event_is_while_a_thread_asks_for_the_queue,
     {NULL}},
    {"and_while_a_thread_finishes_the_queue", and_while_a_thread_finishes_the_queue, {NULL}},
    {"and_while_a_thread_copies_and_waits", and_while_a_thread_copies_and_waits, {NULL}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
