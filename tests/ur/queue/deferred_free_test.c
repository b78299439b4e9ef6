// SPDX-License-Identifier: MIT
// Memory that the host gives up while commands may use it: not handed out before they are
// complete, and there for the next allocation that needs it.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void set_up_small(void)
{
    setenv("ZE_CPU_MEMORY", "1024", 1);
    ur_set_up();
}

static void set_up_discrete(void)
{
    setenv("ZE_CPU_INTEGRATED", "0", 1);
    ur_set_up();
}

// Everything is complete at once, so that a thousand rounds take no time.
static void set_up_discrete_idle(void)
{
    setenv("ZE_CPU_EXECUTE", "0", 1);
    set_up_discrete();
}

static void set_up_discrete_idle_older(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up_discrete_idle();
}

TestSuite(deferred_free, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(device_of_1_gib, .init = set_up_small, .fini = ur_tear_down);
TestSuite(discrete, .init = set_up_discrete, .fini = ur_tear_down);
TestSuite(discrete_idle, .init = set_up_discrete_idle, .fini = ur_tear_down);
TestSuite(discrete_idle_older, .init = set_up_discrete_idle_older, .fini = ur_tear_down);

static void wait_for(ur_event_handle_t event)
{
    UR_OK(urEventWait(1, &event));
    UR_OK(urEventRelease(event));
}

// ---- Memory is short ----

static void add(ur_queue_handle_t queue, ur_kernel_handle_t kernel, void *memory)
{
    ur_event_handle_t event;
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, memory), UR_POINTER(1, memory), UR_POINTER(2, memory)};
    UR_OK(ur_launch(queue, kernel, 64, 3, arguments, 0, NULL, &event));
    wait_for(event);
}

Test(device_of_1_gib, has_room_for_a_buffer_of_400_mib_after_another)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (int round = 0; round < 100; round++) {
        ur_mem_handle_t buffer;
        ur_event_handle_t event;
        UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 400 * MIB, NULL, &buffer));
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, buffer), UR_MEM(1, buffer),
                                                            UR_MEM(2, buffer)};
        UR_OK(ur_launch(queue, kernel, 64, 3, arguments, 0, NULL, &event));
        wait_for(event);
        UR_OK(urMemRelease(buffer));
    }
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(kernel));
}

// Images and physical memory need what freed USM still holds, and the other way round.
Test(device_of_1_gib, has_room_for_memory_of_any_kind_after_another)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_FLOAT};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = 4096,
                                  .height = 4096};
    const ur_rect_region_t pixel = {1, 1, 1};
    static float values[4];
    for (int round = 0; round < 3; round++) {
        ur_mem_handle_t image;
        ur_physical_mem_handle_t physical;
        ur_event_handle_t event;
        void *memory = ur_device_memory(800 * MIB);
        add(queue, kernel, memory);
        ur_free(memory);
        UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL, &image));
        UR_OK(urEnqueueMemImageWrite(queue, image, false, (ur_rect_offset_t){0}, pixel, 0, 0,
                                     values, 0, NULL, &event));
        wait_for(event);
        UR_OK(urMemRelease(image));
        UR_OK(urPhysicalMemCreate(gear.context, gear.device, 800 * MIB, NULL, &physical));
        UR_OK(urPhysicalMemRelease(physical));
    }
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(kernel));
}

// A queue holds up memory that was freed until the host signals.
static struct host_event hold_up_freed_memory(ur_kernel_handle_t kernel)
{
    void *memory = ur_shared(4096);
    const struct host_event gate = host_event_make();
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, memory), UR_POINTER(1, memory), UR_POINTER(2, memory)};
    UR_OK(ur_launch(gear.queue, kernel, 64, 3, arguments, 1, &gate.event, NULL));
    ur_free(memory);
    return gate;
}

Test(deferred_free, a_small_allocation_waits_once_for_memory_that_commands_use)
{
    void *memory;
    test_ze_cpu_require();
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    const struct host_event gate = hold_up_freed_memory(kernel);
    ze_cpu.reset_counts();
    ze_cpu.set_fail("zeMemAllocDevice:*:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    UR_FAILS_SAYING(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, 64, &memory),
                    UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeMemAllocDevice");
    ze_cpu.set_fail("");
    const uint64_t waits = ze_cpu.get_count("zeEventHostSynchronize");
    host_event_signal(&gate);
    UR_OK(urQueueFinish(gear.queue));
    host_event_release(&gate);
    UR_OK(urKernelRelease(kernel));
    cr_assert_eq(waits, 1, "%llu waits", (unsigned long long)waits);
}

// ---- Memory in use ----

static void *host_memory(ur_usm_pool_handle_t pool, size_t size)
{
    void *memory;
    UR_OK(urUSMHostAlloc(gear.context, NULL, pool, size, &memory));
    return memory;
}

// A kernel that writes to its memory at the end of some 50 milliseconds.
static void start_long_kernel(ur_kernel_handle_t spin, void *out)
{
    static uint32_t rounds = 40000000;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    UR_OK(ur_launch(gear.queue, spin, 1, 2, arguments, 0, NULL, NULL));
}

// `before`: a pool of the host's, released meanwhile, or NULL.
static void free_under_a_kernel(size_t size, ur_usm_pool_handle_t before,
                                ur_usm_pool_handle_t after)
{
    enum { COUNT = 40, WORDS = 64 };
    uint32_t *others[COUNT];
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    uint32_t *memory = host_memory(before, size);
    start_long_kernel(spin, memory);
    ur_free(memory);
    if (before)
        UR_OK(urUSMPoolRelease(before));
    for (int i = 0; i < COUNT; i++) {
        others[i] = host_memory(after, size);
        memset(others[i], i, WORDS * sizeof(uint32_t));
    }
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < COUNT; i++) {
        for (int word = 0; word < WORDS; word++)
            cr_assert_eq(others[i][word], (uint32_t)i * 0x01010101u);
        ur_free(others[i]);
    }
    UR_OK(urKernelRelease(spin));
}

Test(deferred_free, memory_freed_under_a_kernel_is_handed_to_nobody)
{
    free_under_a_kernel(4096, NULL, NULL);
    free_under_a_kernel(100000, NULL, NULL);
}

Test(deferred_free, memory_of_a_pool_that_was_released_is_handed_to_nobody)
{
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    ur_usm_pool_handle_t pools[3];
    for (int i = 0; i < 3; i++)
        UR_OK(urUSMPoolCreate(gear.context, &desc, &pools[i]));
    free_under_a_kernel(4096, pools[0], pools[1]);
    free_under_a_kernel(3 * MIB, pools[2], pools[1]);
    UR_OK(urUSMPoolRelease(pools[1]));
}

// ---- Maps ----

// An out-of-order queue, of which the host waits for events alone.
static void map_64_mib(int rounds)
{
    ur_mem_handle_t buffer;
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 64 * MIB, NULL, &buffer));
    uint64_t most_bytes = 0;
    for (int round = 0; round < rounds; round++) {
        ur_event_handle_t event;
        void *address;
        UR_OK(urEnqueueMemBufferMap(queue, buffer, false, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0,
                                    64 * MIB, 0, NULL, &event, &address));
        wait_for(event);
        const uint64_t bytes = ze_cpu.get_live_bytes();
        UR_OK(urEnqueueMemUnmap(queue, buffer, address, 0, NULL, &event));
        wait_for(event);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    // The buffer itself is the device's.
    cr_assert_geq(most_bytes, 128 * MIB, "nothing was copied to the host");
    cr_assert_leq(most_bytes, (64 + 256) * MIB, "%llu MiB", (unsigned long long)(most_bytes / MIB));
    UR_OK(urMemRelease(buffer));
    UR_OK(urQueueRelease(queue));
}

Test(discrete, maps_of_64_mib_hold_little_of_the_host)
{
    map_64_mib(5);
}

Test(discrete_idle, a_thousand_maps_of_64_mib_hold_little_of_the_host)
{
    map_64_mib(1000);
}

Test(discrete_idle_older, a_thousand_maps_of_64_mib_hold_little_of_the_host)
{
    map_64_mib(1000);
}
