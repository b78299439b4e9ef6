// SPDX-License-Identifier: MIT
// The engine of copies, and the calls of a query.
#include "intel.h"

#include "test_plugin.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define COPIES 20

static const zepi_queue_flags_t kinds[] = {0, ZEPI_QUEUE_IN_ORDER, ZEPI_QUEUE_PROFILING,
                                           ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING};
static struct test_gear gear;

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(0);
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
    test_plugin_unload();
}

// None is a kernel on the engine that computes.
static void copies_are_the_copy_engines(void)
{
    set_up();
    void *memory[2];
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, &memory[i]));
    for (int i = 0; i < 4; i++) {
        zepi_queue_t queue;
        TEST_OK(zepi.queue_create(gear.context, gear.device, kinds[i], &queue));
        for (int copy = 0; copy < COPIES; copy++)
            TEST_OK(zepi.queue_copy(queue, memory[1], memory[0], 64, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(queue));
        TEST_OK(zepi.release(queue));
    }
    struct intel_trace trace = intel_trace_read();
    const size_t kernels = intel_trace_count(&trace, INTEL_BEGIN);
    INTEL_EXPECT(kernels == 0, "%zu of %d copies are kernels", kernels, 4 * COPIES);
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_COPY) >= 4 * COPIES, "%zu copies",
                 intel_trace_count(&trace, INTEL_COPY));
    intel_trace_finish(&trace);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.usm_free(gear.context, memory[i]));
    tear_down();
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The driver's own query about an event with times takes 5 seconds in an in-order queue.
static void a_status_is_told_at_once(void)
{
    set_up();
    const zepi_kernel_t kernel = test_kernel(gear.context, "empty", "empty");
    for (int i = 0; i < 4; i++) {
        const zepi_launch_desc_t desc = test_launch(kernel, 0, NULL, 64);
        zepi_queue_t queue;
        zepi_event_t gate;
        zepi_event_t event;
        zepi_event_status_t status;
        TEST_OK(zepi.queue_create(gear.context, gear.device, kinds[i], &queue));
        TEST_OK(zepi.event_create(gear.context, &gate));
        TEST_OK(zepi.queue_launch(queue, &desc, (zepi_wait_list_t){&gate, 1}, &event));
        const double start = now();
        TEST_OK(zepi.event_get_status(event, &status));
        INTEL_EXPECT(now() - start < 4, "the status took %.1f seconds", now() - start);
        INTEL_EXPECT(status == ZEPI_EVENT_SUBMITTED, "status %d", (int)status);
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(gate));
        TEST_OK(zepi.release(queue));
    }
    TEST_OK(zepi.release(kernel));
    tear_down();
}

// The driver's wait of no time for a complete event may be one for all that its engine was given.
static void a_status_is_told_while_a_later_command_waits(void)
{
    set_up();
    const zepi_kernel_t kernel = test_kernel(gear.context, "empty", "empty");
    const struct timespec pause = {.tv_nsec = 1000000};
    alarm(60); // ends a status that does not come
    for (int i = 0; i < 4; i++) {
        const zepi_launch_desc_t desc = test_launch(kernel, 0, NULL, 64);
        zepi_event_status_t status;
        zepi_queue_t queue;
        zepi_event_t gate;
        zepi_event_t event;
        TEST_OK(zepi.queue_create(gear.context, gear.device, kinds[i], &queue));
        TEST_OK(zepi.event_create(gear.context, &gate));
        TEST_OK(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, &event));
        TEST_OK(zepi.queue_launch(queue, &desc, (zepi_wait_list_t){&gate, 1}, NULL));
        while (TEST_OK(zepi.event_get_status(event, &status)), status != ZEPI_EVENT_COMPLETE)
            nanosleep(&pause, NULL);
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.queue_finish(queue));
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(gate));
        TEST_OK(zepi.release(queue));
    }
    alarm(0);
    TEST_OK(zepi.release(kernel));
    tear_down();
}

// Threads of one queue: each fills numbers of its own and finishes the queue. What a finish says is
// complete is read at once, while the other thread submits.
enum { FINISHERS = 2, FINISHES = 400, NUMBERS = 2048 };

struct finisher {
    zepi_queue_t queue;
    uint32_t *numbers; // memory of the host
    uint32_t first;
};

static void *finish_and_read(void *argument)
{
    const struct finisher *finisher = argument;
    for (uint32_t i = 0; i < FINISHES; i++) {
        const uint32_t value = finisher->first + i;
        TEST_OK(zepi.queue_fill(finisher->queue, finisher->numbers, &value, sizeof(value),
                                NUMBERS * sizeof(value), TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(finisher->queue));
        for (uint32_t at = 0; at < NUMBERS; at += NUMBERS / 4 - 1)
            INTEL_EXPECT(finisher->numbers[at] == value, "number %u of fill %u is %u, expected %u",
                         at, i, finisher->numbers[at], value);
    }
    return NULL;
}

static void a_finish_is_right_beside_submissions(void)
{
    set_up();
    // An append is in the driver for long, and its command is not over at once.
    intel_set_submit_time(100);
    intel_set_kernel_time(100);
    for (int kind = 0; kind < 2; kind++) {
        struct finisher finishers[FINISHERS];
        pthread_t threads[FINISHERS];
        zepi_queue_t queue;
        TEST_OK(zepi.queue_create(gear.context, gear.device, kinds[kind], &queue));
        for (uint32_t i = 0; i < FINISHERS; i++) {
            void *memory;
            TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, NUMBERS * sizeof(uint32_t),
                                      0, &memory));
            finishers[i] = (struct finisher){queue, memory, i << 16};
            pthread_create(&threads[i], NULL, finish_and_read, &finishers[i]);
        }
        for (uint32_t i = 0; i < FINISHERS; i++) {
            pthread_join(threads[i], NULL);
            TEST_OK(zepi.usm_free(gear.context, finishers[i].numbers));
        }
        TEST_OK(zepi.release(queue));
    }
    tear_down();
}

static const struct intel_story stories[] = {
    {"a_finish_is_right_beside_submissions",
     a_finish_is_right_beside_submissions,
     {"DRM_SHIM_EXEC=1"}},
    {"copies_are_the_copy_engines", copies_are_the_copy_engines, {NULL}},
    {"a_status_is_told_at_once", a_status_is_told_at_once, {NULL}},
    {"a_status_is_told_while_a_later_command_waits",
     a_status_is_told_while_a_later_command_waits,
     {NULL}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
