// SPDX-License-Identifier: MIT
// Buffers of a context with two devices: integrated ones, which share the host's memory, discrete
// ones, between which buffers move, and discrete ones that do not reach each other's memory.
#include "test_threads.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 1024
#define SIZE (COUNT * sizeof(int))

static void set_up(const char *integrated, const char *peers)
{
    setenv("ZE_CPU_INTEGRATED", integrated, 1);
    setenv("ZE_CPU_PEERS", peers, 1);
    ur_set_up_two();
}

static void set_up_integrated(void)
{
    set_up("1", "1");
}

static void set_up_discrete(void)
{
    set_up("0", "1");
}

static void set_up_strangers(void)
{
    set_up("0", "0");
}

static void set_up_one_discrete(void)
{
    setenv("ZE_CPU_INTEGRATED", "0", 1);
    ur_set_up();
}

static void set_up_one_integrated(void)
{
    setenv("ZE_CPU_INTEGRATED", "1", 1);
    ur_set_up();
}

TestSuite(integrated, .init = set_up_integrated, .fini = ur_tear_down);
TestSuite(discrete, .init = set_up_discrete, .fini = ur_tear_down);
TestSuite(strangers, .init = set_up_strangers, .fini = ur_tear_down);
TestSuite(one_discrete, .init = set_up_one_discrete, .fini = ur_tear_down);
TestSuite(one_integrated, .init = set_up_one_integrated, .fini = ur_tear_down);

// A story on all kinds of two devices.
#define TEST_OF_TWO(name, story)                                                                   \
    Test(integrated, name)                                                                         \
    {                                                                                              \
        story();                                                                                   \
    }                                                                                              \
    Test(discrete, name)                                                                           \
    {                                                                                              \
        story();                                                                                   \
    }                                                                                              \
    Test(strangers, name)                                                                          \
    {                                                                                              \
        story();                                                                                   \
    }

static ur_mem_handle_t create(ur_mem_flags_t flags, int *host)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context, flags, SIZE, host ? &properties : NULL, &buffer));
    return buffer;
}

// With `first` for the first number, and so on.
static ur_mem_handle_t create_of_numbers(int first)
{
    int numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = first + i;
    return create(UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, numbers);
}

static ur_mem_handle_t part(ur_mem_handle_t buffer, size_t first, size_t count)
{
    const ur_buffer_region_t region = {.stype = UR_STRUCTURE_TYPE_BUFFER_REGION,
                                       .origin = first * sizeof(int),
                                       .size = count * sizeof(int)};
    ur_mem_handle_t made;
    UR_OK(urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                               &region, &made));
    return made;
}

static void expect(ur_queue_handle_t queue, ur_mem_handle_t buffer, int factor, int first)
{
    int numbers[COUNT];
    UR_OK(urEnqueueMemBufferRead(queue, buffer, true, 0, SIZE, numbers, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(numbers[i], factor * (first + i), "number %d is %d", i, numbers[i]);
}

// Two queues, one a device, and a kernel for both.
struct machine {
    ur_queue_handle_t queues[2];
    ur_kernel_handle_t negate;
};

static struct machine open_machine(ur_queue_flags_t flags)
{
    struct machine machine = {.negate = ur_kernel("negate", "negate")};
    for (int i = 0; i < 2; i++)
        machine.queues[i] = ur_queue(gear.devices[i], flags);
    return machine;
}

static void close_machine(struct machine *machine)
{
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueRelease(machine->queues[i]));
    UR_OK(urKernelRelease(machine->negate));
}

static void negate(const struct machine *machine, int device, ur_mem_handle_t buffer, size_t count,
                   const ur_event_handle_t *after, ur_event_handle_t *out_event)
{
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
    UR_OK(ur_launch(machine->queues[device], machine->negate, count, 1, &argument, after ? 1 : 0,
                    after, out_event));
}

// Until both queues are empty.
static void wait_for(const struct machine *machine)
{
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueFinish(machine->queues[i]));
}

// ---- Counted ----

static void check_moves(uint64_t expected)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t buffer = create_of_numbers(1);
    static const int devices[] = {0, 0, 0, 1, 1, 0, 0};
    ze_cpu.reset_counts();
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        negate(&machine, devices[i], buffer, COUNT, NULL, NULL);
        wait_for(&machine);
    }
    const uint64_t copies = ze_cpu.get_count("zeCommandListAppendMemoryCopy");
    cr_assert_eq(copies, expected, "%llu copies", (unsigned long long)copies);
    expect(machine.queues[0], buffer, -1, 1);
    UR_OK(urMemRelease(buffer));
    close_machine(&machine);
}

Test(integrated, need_no_copies)
{
    check_moves(0);
}

Test(discrete, copy_a_buffer_when_another_device_uses_it)
{
    check_moves(3); // from the host, to the second device, and back
}

Test(strangers, copy_a_buffer_through_host_memory)
{
    check_moves(5);
}

static void check_reads(uint64_t expected)
{
    struct machine machine = open_machine(0);
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    ur_mem_handle_t shared = create_of_numbers(0);
    ur_mem_handle_t sums[2] = {create(UR_MEM_FLAG_READ_WRITE, NULL),
                               create(UR_MEM_FLAG_READ_WRITE, NULL)};
    ze_cpu.reset_counts();
    for (int i = 0; i < 10; i++) {
        ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, shared), UR_MEM(1, shared),
                                                      UR_MEM(2, sums[i % 2])};
        arguments[0].value.memObjTuple.flags = UR_MEM_FLAG_READ_ONLY;
        arguments[1].value.memObjTuple.flags = UR_MEM_FLAG_READ_ONLY;
        UR_OK(ur_launch(machine.queues[i % 2], add, COUNT, 3, arguments, 0, NULL, NULL));
    }
    const uint64_t copies = ze_cpu.get_count("zeCommandListAppendMemoryCopy");
    cr_assert_eq(copies, expected, "%llu copies", (unsigned long long)copies);
    wait_for(&machine);
    expect(machine.queues[1], shared, 1, 0);
    UR_OK(urMemRelease(sums[0]));
    UR_OK(urMemRelease(sums[1]));
    UR_OK(urMemRelease(shared));
    UR_OK(urKernelRelease(add));
    close_machine(&machine);
}

Test(discrete, keep_a_copy_each_of_what_both_read)
{
    check_reads(2);
}

Test(strangers, keep_a_copy_each_of_what_both_read)
{
    check_reads(2);
}

// ---- Right ----

// No host waits: each command knows the one before by its event alone.
static void hand_on(ur_queue_flags_t flags)
{
    struct machine machine = open_machine(flags);
    ur_mem_handle_t buffer = create_of_numbers(5);
    ur_event_handle_t events[31];
    for (int i = 0; i < 31; i++)
        negate(&machine, i % 2, buffer, COUNT, i > 0 ? &events[i - 1] : NULL, &events[i]);
    UR_OK(urEventWait(1, &events[30]));
    expect(machine.queues[1], buffer, -1, 5);
    UR_OK(urMemRelease(buffer));
    for (int i = 0; i < 31; i++)
        UR_OK(urEventRelease(events[i]));
    close_machine(&machine);
}

static void hand_on_in_order(void)
{
    hand_on(0);
}

static void hand_on_in_any_order(void)
{
    hand_on(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

TEST_OF_TWO(hand_a_buffer_on_by_events, hand_on_in_order)
TEST_OF_TWO(hand_a_buffer_on_by_events_in_queues_of_any_order, hand_on_in_any_order)

// A launch by another thread, which a command on another device holds up.
struct held_launch {
    const struct machine *machine;
    ur_mem_handle_t part;
    ur_event_handle_t after;
};

static void *launch_held(void *user)
{
    const struct held_launch *launch = user;
    negate(launch->machine, 1, launch->part, COUNT / 2, &launch->after, NULL);
    return NULL;
}

// Two threads bring two halves of a buffer to a device at the same time. The first copy to be
// enqueued ends last: a later command that reads its half waits for it. An event with times of
// another device is waited for by the thread that submits, which is where the first thread stays
// while the second one's copy is enqueued.
static void bring_parts(void)
{
    ze_cpu.reset_counts(); // other drivers skip the story here, before commands wait for the host
    struct machine machine = open_machine(0);
    ur_queue_handle_t reader = ur_queue(gear.devices[1], 0);
    ur_queue_handle_t writer = ur_queue(gear.devices[1], 0);
    ur_mem_handle_t buffer = create_of_numbers(1), sums = create(UR_MEM_FLAG_READ_WRITE, NULL);
    ur_mem_handle_t parts[] = {part(buffer, 0, COUNT / 2), part(buffer, COUNT / 2, COUNT / 2)};
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    const struct host_event holds[] = {host_event_make(), host_event_make()};
    struct held_launch held = {.machine = &machine, .part = parts[0]};
    const struct timespec a_while = {.tv_nsec = 20000000};
    void *memory = ur_device_memory(SIZE);
    int back[COUNT / 2];
    negate(&machine, 1, sums, COUNT, NULL, NULL); // a first launch waits before it looks at buffers
    wait_for(&machine);
    UR_OK(urEnqueueUSMFill(gear.queue, memory, 1, "", SIZE, 1, &holds[0].event, &held.after));
    ze_cpu.reset_counts();
    const pthread_t thread = test_thread_start(launch_held, &held);
    while (ze_cpu.get_count("zeEventHostSynchronize") == 0)
        sched_yield();
    ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, parts[1]), UR_MEM(1, parts[1]),
                                                  UR_MEM(2, sums)};
    arguments[0].value.memObjTuple.flags = UR_MEM_FLAG_READ_ONLY;
    arguments[1].value.memObjTuple.flags = UR_MEM_FLAG_READ_ONLY;
    UR_OK(ur_launch(writer, add, COUNT / 2, 3, arguments, 1, &holds[1].event, NULL));
    host_event_signal(&holds[0]);
    pthread_join(thread, NULL);
    UR_OK(urEnqueueMemBufferRead(reader, parts[1], false, 0, SIZE / 2, back, 0, NULL, NULL));
    nanosleep(&a_while, NULL); // for a read that waits for nothing
    host_event_signal(&holds[1]);
    UR_OK(urQueueFinish(reader));
    for (int i = 0; i < COUNT / 2; i++)
        cr_assert_eq(back[i], COUNT / 2 + i + 1, "number %d is %d", i, back[i]);
    wait_for(&machine);
    UR_OK(urQueueFinish(writer));
    UR_OK(urEventRelease(held.after));
    ur_free(memory);
    for (int i = 0; i < 2; i++) {
        host_event_release(&holds[i]);
        UR_OK(urMemRelease(parts[i]));
    }
    UR_OK(urMemRelease(sums));
    UR_OK(urMemRelease(buffer));
    UR_OK(urKernelRelease(add));
    UR_OK(urQueueRelease(writer));
    UR_OK(urQueueRelease(reader));
    close_machine(&machine);
}

TEST_OF_TWO(wait_for_the_copies_of_several_threads, bring_parts)

// Each device writes a part of its own, while the other one does.
static void write_parts(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t buffer = create_of_numbers(0);
    ur_mem_handle_t parts[] = {part(buffer, 0, 100), part(buffer, 100, COUNT - 100)};
    for (int round = 0; round < 11; round++) {
        negate(&machine, 0, parts[0], 100, NULL, NULL);
        negate(&machine, 1, parts[1], COUNT - 100, NULL, NULL);
    }
    wait_for(&machine);
    expect(machine.queues[0], buffer, -1, 0);
    negate(&machine, 1, buffer, COUNT, NULL, NULL);
    wait_for(&machine);
    expect(machine.queues[0], buffer, 1, 0);
    UR_OK(urMemRelease(parts[0]));
    UR_OK(urMemRelease(buffer));
    UR_OK(urMemRelease(parts[1]));
    close_machine(&machine);
}

TEST_OF_TWO(write_parts_of_a_buffer_at_once, write_parts)

static void transfer(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t first = create_of_numbers(1);
    ur_mem_handle_t second = create(UR_MEM_FLAG_READ_WRITE, NULL);
    const int seven = 7;
    const ur_rect_offset_t origin = {0};
    const ur_rect_region_t quarter = {SIZE / 4, 1, 1};
    int zeros[COUNT / 4] = {0}, back[COUNT];
    negate(&machine, 0, first, COUNT, NULL, NULL);
    wait_for(&machine);
    UR_OK(urEnqueueMemBufferCopy(machine.queues[1], first, second, 0, 0, SIZE, 0, NULL, NULL));
    negate(&machine, 1, second, COUNT, NULL, NULL);
    wait_for(&machine);
    // A copy from the second device, in the first one's queue.
    UR_OK(urEnqueueMemBufferWriteRect(machine.queues[0], second, false, origin, origin, quarter, 0,
                                      0, 0, 0, zeros, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferFill(machine.queues[0], second, &seven, sizeof(seven), SIZE / 4,
                                 SIZE / 4, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopyRect(machine.queues[0], first, second, origin,
                                     (ur_rect_offset_t){SIZE / 2, 0, 0}, quarter, 0, 0, 0, 0, 0,
                                     NULL, NULL));
    wait_for(&machine);
    negate(&machine, 1, second, COUNT, NULL, NULL);
    wait_for(&machine);
    UR_OK(urEnqueueMemBufferReadRect(machine.queues[0], second, true, origin, origin,
                                     (ur_rect_region_t){SIZE, 1, 1}, 0, 0, 0, 0, back, 0, NULL,
                                     NULL));
    for (int i = 0; i < COUNT; i++) {
        const int expected = i < COUNT / 4       ? 0
                             : i < COUNT / 2     ? -7
                             : i < COUNT * 3 / 4 ? i - COUNT / 2 + 1
                                                 : -(i + 1);
        cr_assert_eq(back[i], expected, "number %d is %d, expected %d", i, back[i], expected);
    }
    UR_OK(urMemRelease(first));
    UR_OK(urMemRelease(second));
    close_machine(&machine);
}

TEST_OF_TWO(write_fill_and_copy_what_another_device_has, transfer)

static void map_elsewhere(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t buffer = create_of_numbers(1);
    void *mapped;
    negate(&machine, 0, buffer, COUNT, NULL, NULL);
    wait_for(&machine);
    UR_OK(urEnqueueMemBufferMap(machine.queues[1], buffer, true,
                                UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 4, 8, 0, NULL, NULL,
                                &mapped));
    int *numbers = mapped;
    cr_assert(numbers[0] == -2 && numbers[1] == -3);
    numbers[0] = 2;
    numbers[1] = 3;
    UR_OK(urEnqueueMemUnmap(machine.queues[1], buffer, mapped, 0, NULL, NULL));
    wait_for(&machine);
    negate(&machine, 0, buffer, COUNT, NULL, NULL);
    int back[COUNT];
    UR_OK(urEnqueueMemBufferRead(machine.queues[0], buffer, true, 0, SIZE, back, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(back[i], i == 1 || i == 2 ? -(i + 1) : i + 1, "number %d is %d", i, back[i]);
    UR_OK(urMemRelease(buffer));
    close_machine(&machine);
}

TEST_OF_TWO(map_what_another_device_has, map_elsewhere)

static void get_native(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t buffer = create_of_numbers(1);
    ur_native_handle_t native;
    int back[COUNT];
    negate(&machine, 0, buffer, COUNT, NULL, NULL);
    wait_for(&machine);
    UR_OK(urMemGetNativeHandle(buffer, gear.devices[1], &native));
    UR_OK(urEnqueueUSMMemcpy(machine.queues[1], true, back, (void *)native, SIZE, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(back[i], -(i + 1));
    // Writes through the handle are seen on the other device.
    memset(back, 0, SIZE);
    UR_OK(urEnqueueUSMMemcpy(machine.queues[1], true, (void *)native, back, SIZE, 0, NULL, NULL));
    negate(&machine, 0, buffer, COUNT, NULL, NULL);
    UR_OK(urEnqueueMemBufferRead(machine.queues[0], buffer, true, 0, SIZE, back, 0, NULL, NULL));
    cr_assert_eq(back[COUNT - 1], 0);
    UR_OK(urMemRelease(buffer));
    close_machine(&machine);
}

TEST_OF_TWO(hand_out_native_memory_with_the_contents, get_native)

static void replay(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t buffer = create_of_numbers(1);
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isInOrder = true};
    ur_exp_command_buffer_handle_t commands;
    const size_t offset = 0, global = COUNT;
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
    int back[COUNT];
    UR_OK(urCommandBufferCreateExp(gear.context, gear.devices[1], &desc, &commands));
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(commands, machine.negate, 1, &offset,
                                                       &global, NULL, 1, &argument, 0, NULL, 0,
                                                       NULL, 0, NULL, NULL, NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferReadExp(commands, buffer, 0, SIZE, back, 0, NULL, 0, NULL,
                                                NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(commands));
    for (int round = 0; round < 3; round++) {
        negate(&machine, 0, buffer, COUNT, NULL, NULL);
        wait_for(&machine);
        UR_OK(urEnqueueCommandBufferExp(machine.queues[1], commands, 0, NULL, NULL));
        wait_for(&machine);
        for (int i = 0; i < COUNT; i++)
            cr_assert_eq(back[i], i + 1, "round %d: number %d is %d", round, i, back[i]);
    }
    UR_OK(urCommandBufferReleaseExp(commands));
    UR_OK(urMemRelease(buffer));
    close_machine(&machine);
}

TEST_OF_TWO(run_recorded_commands_on_what_another_device_has, replay)

// ---- The host's memory as the buffer ----

struct host_story {
    ur_queue_handle_t queue;
    ur_kernel_handle_t negate;
    ur_mem_handle_t buffer;
    int *host;
};

static struct host_story begin_around(int device, int *host)
{
    struct host_story story = {.queue = ur_queue(gear.devices[device], 0),
                               .negate = ur_kernel("negate", "negate"),
                               .host = host};
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    story.buffer = create(UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER, host);
    return story;
}

static void end_around(struct host_story *story)
{
    UR_OK(urKernelRelease(story->negate));
    UR_OK(urQueueRelease(story->queue));
}

static void negate_around(const struct host_story *story)
{
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, story->buffer);
    UR_OK(ur_launch(story->queue, story->negate, COUNT, 1, &argument, 0, NULL, NULL));
}

// Maps numbers, which are where the host has them.
static void map_around(const struct host_story *story, ur_map_flags_t flags, size_t first,
                       size_t count)
{
    void *mapped;
    UR_OK(urEnqueueMemBufferMap(story->queue, story->buffer, true, flags, first * sizeof(int),
                                count * sizeof(int), 0, NULL, NULL, &mapped));
    cr_assert_eq(mapped, story->host + first);
}

static void unmap_around(const struct host_story *story, size_t first)
{
    UR_OK(urEnqueueMemUnmap(story->queue, story->buffer, story->host + first, 0, NULL, NULL));
}

static void map_host_memory(int device)
{
    static int host[COUNT];
    struct host_story story = begin_around(device, host);
    negate_around(&story);
    map_around(&story, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0, COUNT);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(host[i], -i, "number %d is %d", i, host[i]);
    host[3] = 1000;
    unmap_around(&story, 0);
    negate_around(&story);
    // The host overwrites but a part.
    map_around(&story, UR_MAP_FLAG_WRITE_INVALIDATE_REGION, 5, 2);
    host[5] = host[6] = 7;
    unmap_around(&story, 5);
    negate_around(&story);
    map_around(&story, UR_MAP_FLAG_READ, 0, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const int expected = i == 3 ? 1000 : i == 5 || i == 6 ? -7 : -i;
        cr_assert_eq(host[i], expected, "number %d is %d, expected %d", i, host[i], expected);
    }
    unmap_around(&story, 0);
    // A runtime may have freed it when a buffer goes.
    negate_around(&story);
    UR_OK(urMemRelease(story.buffer));
    cr_assert_eq(host[10], -10);
    end_around(&story);
}

static void release_host_memory(int device)
{
    void *host;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, SIZE, &host));
    struct host_story story = begin_around(device, host);
    negate_around(&story);
    UR_OK(urMemRelease(story.buffer)); // no other call waits for the kernel
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(story.host[i], -i, "number %d is %d", i, story.host[i]);
    ur_free(host);
    end_around(&story);
}

static void use_host_memory_on_the_first(void)
{
    map_host_memory(0);
    release_host_memory(0);
}

static void use_host_memory_on_the_second(void)
{
    map_host_memory(1);
    release_host_memory(1);
}

TEST_OF_TWO(see_the_host_s_own_memory_as_a_buffer, use_host_memory_on_the_second)

Test(one_discrete, sees_the_host_s_own_memory_as_a_buffer)
{
    use_host_memory_on_the_first();
}

Test(one_integrated, sees_the_host_s_own_memory_as_a_buffer)
{
    use_host_memory_on_the_first();
}

// ---- Failures ----

// The n-th call of the driver fails on the way to the second device.
static void fail_to_move(void)
{
    struct machine machine = open_machine(0);
    ur_mem_handle_t warm = create_of_numbers(1);
    negate(&machine, 0, warm, COUNT, NULL, NULL);
    negate(&machine, 1, warm, COUNT, NULL, NULL);
    wait_for(&machine);
    UR_OK(urMemRelease(warm));
    bool was_met = true;
    int failures = 0;
    // Some failures are harmless: an event that was not destroyed is made anew. How many calls come
    // before the copy depends on how fast commands end.
    for (unsigned n = 1; was_met; n++) {
        char failure[64];
        ur_mem_handle_t buffer = create_of_numbers((int)n);
        const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
        negate(&machine, 0, buffer, COUNT, NULL, NULL);
        wait_for(&machine);
        snprintf(failure, sizeof(failure), "*:%u:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", n);
        ze_cpu.reset_counts();
        cr_assert_eq(ze_cpu.set_fail(failure), 0);
        const ur_result_t result =
            ur_launch(machine.queues[1], machine.negate, COUNT, 1, &argument, 0, NULL, NULL);
        was_met = ze_cpu.get_count("*") >= n;
        cr_assert_eq(ze_cpu.set_fail(""), 0);
        cr_assert(was_met || result == UR_RESULT_SUCCESS);
        failures += result != UR_RESULT_SUCCESS;
        wait_for(&machine);
        if (result != UR_RESULT_SUCCESS)
            negate(&machine, 1, buffer, COUNT, NULL, NULL);
        wait_for(&machine);
        expect(machine.queues[n % 2], buffer, 1, (int)n);
        UR_OK(urMemRelease(buffer));
    }
    cr_assert_geq(failures, 2, "%d calls failed", failures);
    close_machine(&machine);
}

Test(discrete, lose_nothing_when_a_move_fails)
{
    fail_to_move();
}

Test(strangers, lose_nothing_when_a_move_fails)
{
    fail_to_move();
}
