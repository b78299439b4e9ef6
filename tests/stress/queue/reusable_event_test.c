// SPDX-License-Identifier: MIT
// A thread writes numbers in the order of its queue and signals one event behind each, while others
// wait for that event, on the host and in queues of their own, and ask about it: behind each wait
// lies the number that was written before the last signal that the waiter knew of. Two more threads
// signal one event at the same time.
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include "ur/ur.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 2000
#define WAITERS 2

static struct test_gear gear;
static ur_event_handle_t numbered, shared;
static uint64_t *written;          // by the signalling thread's queue: number i at i
static uint64_t *copies;           // by the waiters' queues
static atomic_uint_fast64_t known; // the number whose signal was enqueued last
static bool are_numbers_right;     // commands are executed

// Draws the plugin out of the archive: test_plugin_load takes it as soon as it is there.
extern zepi_plugin_init_fn *const plugin_init;
zepi_plugin_init_fn *const plugin_init = zepiPluginInit;

static void expect(bool is_right, const char *step)
{
    if (is_right)
        return;
    fprintf(stderr, "reusable events: %s (last error: %s)\n", step, zepi.last_error(NULL));
    exit(1);
}
#define OK(call) expect((call) == UR_RESULT_SUCCESS, #call)

static ur_event_handle_t make(ur_exp_event_flags_t flags)
{
    const ur_exp_event_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EVENT_DESC, .flags = flags};
    ur_event_handle_t event;
    OK(zepi_urEventCreateExp((ur_context_handle_t)gear.context, (ur_device_handle_t)gear.device,
                             &desc, &event));
    return event;
}

static zepi_queue_t make_queue(zepi_queue_flags_t flags)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &queue));
    return queue;
}

static void end_queue(zepi_queue_t queue)
{
    TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.release(queue));
}

static void signal_event(zepi_queue_t queue, ur_event_handle_t event)
{
    OK(zepi_urEnqueueEventsWaitWithBarrierExt((ur_queue_handle_t)queue, NULL, 0, NULL, &event));
}

static void *write_and_signal(void *unused)
{
    zepi_queue_t queue = make_queue(ZEPI_QUEUE_IN_ORDER);
    (void)unused;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        TEST_OK(zepi.queue_fill(queue, &written[i], &i, sizeof(i), sizeof(i), TEST_NO_WAIT, NULL));
        signal_event(queue, numbered);
        atomic_store(&known, i);
    }
    end_queue(queue);
    return NULL;
}

// Queue by queue, in any order and with profiling.
static void *signal_shared(void *flags)
{
    zepi_queue_t queue = make_queue((zepi_queue_flags_t)(uintptr_t)flags);
    for (int i = 0; i < ROUNDS / 4; i++) {
        signal_event(queue, shared);
        if (i % 16 == 0)
            OK(zepi_urEventWait(1, &shared));
    }
    end_queue(queue);
    return NULL;
}

static void *wait_on_host(void *unused)
{
    (void)unused;
    for (uint64_t least = 0; least < ROUNDS;) {
        least = atomic_load(&known);
        OK(zepi_urEventWait(1, &numbered));
        expect(!are_numbers_right || written[least] == least, "a wait of the host ended too early");
    }
    return NULL;
}

static void *wait_in_queue(void *number)
{
    zepi_queue_t queue = make_queue((uintptr_t)number % 2 ? 0 : ZEPI_QUEUE_IN_ORDER);
    uint64_t *copy = &copies[(uintptr_t)number];
    for (uint64_t least = 0; least < ROUNDS;) {
        zepi_event_t waits[] = {(zepi_event_t)numbered, (zepi_event_t)shared}, copied;
        least = atomic_load(&known);
        TEST_OK(zepi.queue_copy(queue, copy, &written[least], sizeof(*copy),
                                (zepi_wait_list_t){waits, 2}, &copied));
        TEST_OK(zepi.event_wait(1, &copied, UINT64_MAX));
        TEST_OK(zepi.release(copied));
        expect(!are_numbers_right || *copy == least, "a wait of a queue ended too early");
    }
    end_queue(queue);
    return NULL;
}

// Every answer is right for some signal.
static void *ask(void *unused)
{
    (void)unused;
    while (atomic_load(&known) < ROUNDS) {
        ur_event_status_t status;
        ur_native_handle_t native;
        uint64_t ns;
        OK(zepi_urEventGetInfo(numbered, UR_EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(status),
                               &status, NULL));
        expect(status == UR_EVENT_STATUS_SUBMITTED || status == UR_EVENT_STATUS_COMPLETE,
               "a status");
        OK(zepi_urEventGetNativeHandle(numbered, &native));
        const ur_result_t result = zepi_urEventGetProfilingInfo(
            numbered, UR_PROFILING_INFO_COMMAND_END, sizeof(ns), &ns, NULL);
        expect(result == UR_RESULT_SUCCESS ||
                   result == UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE,
               "times");
    }
    return NULL;
}

int main(void)
{
    enum { THREADS = 5 + WAITERS };
    pthread_t threads[THREADS];
    int count = 0;
    const char *execute = getenv("ZE_CPU_EXECUTE");
    are_numbers_right = !execute || execute[0] != '0';
    test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED,
                              (ROUNDS + 1) * sizeof(*written), 0, (void **)&written));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, WAITERS * sizeof(*copies),
                              0, (void **)&copies));
    written[0] = 0;
    numbered = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
    shared = make(0);
    pthread_create(&threads[count++], NULL, write_and_signal, NULL);
    pthread_create(&threads[count++], NULL, signal_shared, (void *)ZEPI_QUEUE_IN_ORDER);
    pthread_create(&threads[count++], NULL, signal_shared, (void *)ZEPI_QUEUE_PROFILING);
    pthread_create(&threads[count++], NULL, wait_on_host, NULL);
    pthread_create(&threads[count++], NULL, ask, NULL);
    for (uintptr_t i = 0; i < WAITERS; i++)
        pthread_create(&threads[count++], NULL, wait_in_queue, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    OK(zepi_urEventRelease(numbered));
    OK(zepi_urEventRelease(shared));
    TEST_OK(zepi.usm_free(gear.context, written));
    TEST_OK(zepi.usm_free(gear.context, copies));
    test_gear_destroy(&gear);
    return 0;
}
