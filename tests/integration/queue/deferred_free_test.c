// SPDX-License-Identifier: MIT
// Objects and memory that the host releases while commands may use them: they are not reused and
// not unmapped before these are complete, and they are given back when memory is short.
#include "queue_fixture.h"
#include "test_threads.h"

#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void set_up(void)
{
    queue_set_up(ZEPI_QUEUE_IN_ORDER, true);
}

static void set_up_small(void)
{
    setenv("ZE_CPU_MEMORY", "1024", 1);
    queue_set_up(0, true);
}

static void set_up_small_older(void)
{
    setenv("ZE_CPU_MEMORY", "1024", 1);
    queue_set_up(0, false);
}

static void set_up_pool_off(void)
{
    setenv("ZEPI_USM_POOL", "off", 1);
    set_up();
}

TestSuite(deferred_free, .init = set_up, .fini = queue_tear_down);
TestSuite(deferred_free_pool_off, .init = set_up_pool_off, .fini = queue_tear_down);
TestSuite(device_of_1_gib, .init = set_up_small, .fini = queue_tear_down);
TestSuite(device_of_1_gib_older, .init = set_up_small_older, .fini = queue_tear_down);

static zepi_event_t create_gate(void)
{
    zepi_event_t gate;
    TEST_OK(zepi.event_create(gear.context, &gate));
    return gate;
}

static void open_gate(zepi_event_t gate)
{
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.release(gate));
}

// ---- A look at a queue that goes ----

static sem_t look_is_sent;
static sem_t queue_was_waited_for;
static atomic_bool is_appended;
static atomic_bool is_waited_for_since;

// Holds the look back, before it makes events for its barriers, until the thread that releases the
// queue has waited for it.
static void hold_back(const char *function, int is_over)
{
    static atomic_bool is_met;
    // The second one is all, where the commands are over.
    const bool is_wait = strcmp(function, "zeEventHostSynchronize") == 0 ||
                         strcmp(function, "zeCommandListHostSynchronize") == 0;
    if (strcmp(function, "zeEventPoolCreate") == 0 && !is_over && !atomic_exchange(&is_met, true)) {
        sem_post(&look_is_sent);
        sem_wait(&queue_was_waited_for);
    }
    if (strcmp(function, "zeCommandListAppendBarrier") == 0 && is_over)
        atomic_store(&is_appended, true);
    if (is_wait && !is_over && atomic_load(&is_appended))
        atomic_store(&is_waited_for_since, true);
    if (is_wait && is_over && atomic_load(&is_met))
        sem_post(&queue_was_waited_for);
}

#define MANY_EVENTS 64

// So that the next one needs a pool. Returns how many were taken.
static size_t take_all_events(zepi_event_t events[MANY_EVENTS])
{
    size_t count = 0;
    uint64_t made = 0; // with the one that was taken last
    while (made == 0) {
        const uint64_t before = ze_cpu.get_count("zeEventCreate");
        events[count++] = create_gate();
        made = ze_cpu.get_count("zeEventCreate") - before;
    }
    while (--made > 0)
        events[count++] = create_gate();
    return count;
}

// Makes the context look how far its queues are.
static void *release_much(void *buffer)
{
    TEST_OK(zepi.release(buffer));
    return NULL;
}

// Otherwise the look's events would be handed out while its barriers may still signal them.
Test(deferred_free, a_queue_that_goes_waits_for_a_look_at_it_that_another_thread_sends)
{
    zepi_queue_t queue;
    zepi_buffer_t buffer;
    test_ze_cpu_require();
    zepi_event_t events[MANY_EVENTS];
    zepi_event_t gate = create_gate();
    float *memory = queue_allocate_filled(1);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.buffer_create(gear.context, (size_t)64 << 20, NULL, &buffer));
    const size_t event_count = take_all_events(events);
    queue_add(queue, memory, memory, memory, WAIT_FOR(gate), NULL);
    sem_init(&look_is_sent, 0, 0);
    sem_init(&queue_was_waited_for, 0, 0);
    ze_cpu.set_hook(hold_back);
    pthread_t thread = test_thread_start(release_much, buffer);
    sem_wait(&look_is_sent);
    open_gate(gate);
    TEST_OK(zepi.release(queue));
    pthread_join(thread, NULL);
    ze_cpu.set_hook(NULL);
    cr_assert(atomic_load(&is_waited_for_since));
    cr_assert_eq(memory[0], 2);
    for (size_t i = 0; i < event_count; i++)
        TEST_OK(zepi.release(events[i]));
    queue_free(memory);
}

// ---- Memory is short ----

#define MIB ((size_t)1 << 20)

static float *address_of(zepi_buffer_t buffer)
{
    void *address;
    TEST_OK(zepi.buffer_get_address(buffer, gear.device, &address, NULL));
    return address;
}

// An out-of-order queue, of which the host waits for events alone.
static void use_buffers_of_400_mib(bool waits)
{
    for (int round = 0; round < 100; round++) {
        zepi_buffer_t buffer;
        zepi_event_t event;
        TEST_OK(zepi.buffer_create(gear.context, 400 * MIB, NULL, &buffer));
        float *memory = address_of(buffer);
        queue_add(gear.queue, memory, memory, memory, TEST_NO_WAIT, &event);
        if (waits)
            TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(buffer));
    }
    TEST_OK(zepi.queue_finish(gear.queue));
}

Test(device_of_1_gib, has_room_for_a_buffer_of_400_mib_after_another)
{
    use_buffers_of_400_mib(true);
}

Test(device_of_1_gib_older, has_room_for_a_buffer_of_400_mib_after_another)
{
    use_buffers_of_400_mib(true);
}

Test(device_of_1_gib, has_room_for_buffers_that_nobody_waits_for)
{
    use_buffers_of_400_mib(false);
}

Test(device_of_1_gib, has_room_for_usm_of_any_kind_after_another)
{
    for (int round = 0; round < 60; round++) {
        void *memory;
        zepi_event_t event;
        const zepi_usm_kind_t kind = (zepi_usm_kind_t)(ZEPI_USM_HOST + round % 3);
        TEST_OK(zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind,
                                  400 * MIB, 0, &memory));
        queue_add(gear.queue, memory, memory, memory, TEST_NO_WAIT, &event);
        TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        queue_free(memory);
    }
    TEST_OK(zepi.queue_finish(gear.queue));
}

// Memory that commands still use cannot be reclaimed; the error says so, and nothing hangs.
Test(device_of_1_gib, is_full_while_a_kernel_that_waits_for_the_host_may_use_it)
{
    void *memory[3];
    zepi_event_t gate = create_gate();
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 400 * MIB, 0,
                                  &memory[i]));
        queue_add(gear.queue, memory[i], memory[i], memory[i], WAIT_FOR(gate), NULL);
        queue_free(memory[i]);
    }
    TEST_FAILS(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 400 * MIB, 0, &memory[2]),
        ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    open_gate(gate);
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 400 * MIB, 0, &memory[2]));
    queue_free(memory[2]);
}

enum { BUSY_QUEUES = 4 };

// Each of them may use the memory, which is freed, until the gate opens.
static void use_in_many_queues(zepi_queue_t queues[BUSY_QUEUES], float *memory, zepi_event_t gate)
{
    for (int i = 0; i < BUSY_QUEUES; i++) {
        TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[i]));
        queue_add(queues[i], memory, memory, memory, WAIT_FOR(gate), NULL);
    }
    queue_free(memory);
}

static void release_queues(zepi_queue_t queues[BUSY_QUEUES])
{
    for (int i = 0; i < BUSY_QUEUES; i++)
        TEST_OK(zepi.release(queues[i]));
}

// The pool asks for a slab, once more without a wait, then for one block: both together wait for
// memory once, for one queue.
Test(deferred_free, a_small_allocation_waits_once_for_memory_that_commands_use)
{
    zepi_queue_t queues[BUSY_QUEUES];
    void *memory;
    test_ze_cpu_require();
    zepi_event_t gate = create_gate();
    use_in_many_queues(queues, queue_allocate_filled(1), gate);
    ze_cpu.reset_counts();
    ze_cpu.set_fail("zeMemAllocDevice:*:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    TEST_FAILS(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 64, 0, &memory),
               ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    ze_cpu.set_fail("");
    const uint64_t waits = ze_cpu.get_count("zeEventHostSynchronize");
    open_gate(gate);
    cr_assert_eq(waits, 1, "%llu waits", (unsigned long long)waits);
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 5);
    release_queues(queues);
}

Test(deferred_free, a_small_allocation_of_a_full_pool_waits_once)
{
    const zepi_pool_desc_t desc = {.size = sizeof(desc), .maximum_bytes = 100 << 10};
    zepi_queue_t queues[BUSY_QUEUES];
    zepi_pool_t pool;
    void *memory;
    test_ze_cpu_require();
    zepi_event_t gate = create_gate();
    TEST_OK(zepi.pool_create(gear.context, &desc, &pool));
    TEST_OK(zepi.queue_allocate(gear.queue, pool, ZEPI_USM_SHARED, 100 << 10, 0, TEST_NO_WAIT,
                                &memory, NULL));
    use_in_many_queues(queues, memory, gate);
    ze_cpu.reset_counts();
    TEST_FAILS(
        zepi.queue_allocate(gear.queue, pool, ZEPI_USM_DEVICE, 64, 0, TEST_NO_WAIT, &memory, NULL),
        ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    const uint64_t waits = ze_cpu.get_count("zeEventHostSynchronize");
    open_gate(gate);
    cr_assert_eq(waits, 1, "%llu waits", (unsigned long long)waits);
    TEST_OK(
        zepi.queue_allocate(gear.queue, pool, ZEPI_USM_DEVICE, 64, 0, TEST_NO_WAIT, &memory, NULL));
    queue_free(memory);
    TEST_OK(zepi.release(pool));
    release_queues(queues);
}

// ---- Memory in use ----

static const size_t sizes[] = {ITEMS * sizeof(float), 4096, 65536, 65537, 3 * MIB};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static float *allocate(size_t size_bytes)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, size_bytes, 0, &memory));
    return memory;
}

// A kernel writes to memory that was freed before it ran: no other allocation has it by then.
static void free_before_a_kernel_runs(void)
{
    enum { COUNT = 70 }; // more than a slab has blocks
    for (size_t i = 0; i < SIZES; i++) {
        float *others[COUNT];
        zepi_event_t gate = create_gate();
        float *memory = allocate(sizes[i]);
        float *one = queue_allocate_filled(1);
        queue_add(gear.queue, one, one, memory, WAIT_FOR(gate), NULL);
        queue_free(memory);
        TEST_FAILS(zepi.usm_free(gear.context, memory), ZEPI_ERROR_INVALID_VALUE);
        zepi_usm_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.usm_get_info(gear.context, memory, &info));
        cr_assert_eq(info.kind, ZEPI_USM_UNKNOWN);
        for (int k = 0; k < COUNT; k++) {
            others[k] = allocate(sizes[i]);
            cr_assert_neq(others[k], memory);
            for (int item = 0; item < ITEMS; item++)
                others[k][item] = (float)k;
        }
        open_gate(gate);
        TEST_OK(zepi.queue_finish(gear.queue));
        for (int k = 0; k < COUNT; k++) {
            for (int item = 0; item < ITEMS; item++)
                cr_assert_eq(others[k][item], (float)k, "%zu bytes", sizes[i]);
            queue_free(others[k]);
        }
        queue_free(one);
    }
}

Test(deferred_free, memory_freed_before_a_kernel_ran_is_not_handed_out)
{
    free_before_a_kernel_runs();
}

Test(deferred_free_pool_off, memory_freed_before_a_kernel_ran_is_not_unmapped)
{
    free_before_a_kernel_runs();
}

Test(deferred_free, what_commands_are_done_with_is_handed_out_again)
{
    float *memory = allocate(4096);
    queue_add(gear.queue, memory, memory, memory, TEST_NO_WAIT, NULL);
    queue_free(memory);
    TEST_OK(zepi.queue_finish(gear.queue));
    float *again = allocate(4096);
    cr_assert_eq(again, memory);
    queue_free(again);
}

// Its lists are in order on newer drivers: what completes one command tells of those before it.
Test(deferred_free, an_out_of_order_queue_learns_from_an_event_that_memory_is_free)
{
    zepi_queue_t queue;
    zepi_event_t event;
    test_ze_cpu_require();
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    float *memory = allocate(4096);
    queue_add(queue, memory, memory, memory, TEST_NO_WAIT, &event);
    queue_free(memory);
    ze_cpu.reset_counts();
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    float *again = allocate(4096);
    cr_assert_eq(again, memory);
    cr_assert_eq(ze_cpu.get_count("*"), 1, "the wait alone calls the driver");
    queue_free(again);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(queue));
}

Test(deferred_free, a_kernel_that_never_ends_does_not_make_memory_grow)
{
    zepi_queue_t other;
    test_ze_cpu_require();
    zepi_event_t gate = create_gate();
    float *one = queue_allocate_filled(1);
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
    queue_add(gear.queue, one, one, one, WAIT_FOR(gate), NULL);
    uint64_t warm_bytes = 0;
    for (int round = 0; round < 3000; round++) {
        float *memory = allocate(sizes[round % SIZES]);
        float *idle = allocate(sizes[round % SIZES]);
        if (round % 30 == 0) {
            zepi_event_t event;
            queue_add(other, memory, memory, memory, TEST_NO_WAIT, &event);
            if (round % 60 == 0)
                TEST_OK(zepi.queue_finish(other));
            else
                TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
            TEST_OK(zepi.release(event));
        }
        queue_free(memory);
        queue_free(idle);
        if (round == 1000)
            warm_bytes = ze_cpu.get_live_bytes();
    }
    cr_assert_leq(ze_cpu.get_live_bytes(), warm_bytes + 40 * MIB);
    open_gate(gate);
    TEST_OK(zepi.release(other));
    queue_free(one);
}

Test(deferred_free, a_free_appends_no_command)
{
    enum { COUNT = 200 };
    static float *memory[COUNT];
    test_ze_cpu_require();
    zepi_event_t gate = create_gate();
    for (int i = 0; i < COUNT; i++) {
        memory[i] = allocate(sizes[i % 4]);
        queue_add(gear.queue, memory[i], memory[i], memory[i], WAIT_FOR(gate), NULL);
    }
    ze_cpu.reset_counts();
    for (int i = 0; i < COUNT; i++)
        queue_free(memory[i]);
    cr_assert_eq(ze_cpu.get_count("*"), 0);
    open_gate(gate);
}

Test(deferred_free, a_stream_of_commands_gives_memory_back_as_it_goes)
{
    uint64_t most_bytes = 0;
    for (int round = 0; round < 2000; round++) {
        float *memory = allocate(MIB);
        memory[0] = 1;
        queue_add(gear.queue, memory, memory, memory, TEST_NO_WAIT, NULL);
        queue_free(memory);
        // Sixteen ahead of the device at most.
        if (round % 16 == 0) {
            zepi_event_t event;
            memory = allocate(4096);
            queue_add(gear.queue, memory, memory, memory, TEST_NO_WAIT, &event);
            TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
            queue_free(memory);
            TEST_OK(zepi.release(event));
        }
        if (ze_cpu.get_live_bytes() > most_bytes)
            most_bytes = ze_cpu.get_live_bytes();
    }
    cr_assert_leq(most_bytes, 100 * MIB, "%llu MiB", (unsigned long long)(most_bytes / MIB));
}
