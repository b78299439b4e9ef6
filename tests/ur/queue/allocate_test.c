// SPDX-License-Identifier: MIT
// Memory that is allocated and freed in the order of a queue, and the pools that it comes from.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void set_up_unpooled(void)
{
    setenv("ZEPI_USM_POOL", "off", 1);
    ur_set_up();
}

static void set_up_older(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    ur_set_up();
}

static void set_up_parts(void)
{
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    ur_set_up();
}

TestSuite(allocate, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(allocate_of_parts, .init = set_up_parts, .fini = ur_tear_down);
TestSuite(allocate_of_two, .init = ur_set_up_two, .fini = ur_tear_down);
TestSuite(allocate_older, .init = set_up_older, .fini = ur_tear_down);
TestSuite(allocate_unpooled, .init = set_up_unpooled, .fini = ur_tear_down);

// One of a block of a slab, a large block, and one that the driver allocates for itself.
static const size_t sizes[] = {1000, MIB, 5 * MIB};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void *enqueue(ur_queue_handle_t queue, ur_usm_type_t kind, ur_usm_pool_handle_t pool,
                     size_t size, uint32_t wait_count, const ur_event_handle_t *wait_list,
                     ur_event_handle_t *event)
{
    void *memory = NULL;
    switch ((int)kind) {
    case UR_USM_TYPE_HOST:
        UR_OK(urEnqueueUSMHostAllocExp(queue, pool, size, NULL, wait_count, wait_list, &memory,
                                       event));
        break;
    case UR_USM_TYPE_DEVICE:
        UR_OK(urEnqueueUSMDeviceAllocExp(queue, pool, size, NULL, wait_count, wait_list, &memory,
                                         event));
        break;
    default:
        UR_OK(urEnqueueUSMSharedAllocExp(queue, pool, size, NULL, wait_count, wait_list, &memory,
                                         event));
    }
    cr_assert_not_null(memory);
    return memory;
}

static void *device_memory(ur_queue_handle_t queue, size_t size)
{
    return enqueue(queue, UR_USM_TYPE_DEVICE, NULL, size, 0, NULL, NULL);
}

static void free_in_order(ur_queue_handle_t queue, void *memory)
{
    UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory, 0, NULL, NULL));
}

// From here on the queue does nothing before the event is signalled.
static struct host_event hold_up(ur_queue_handle_t queue)
{
    const struct host_event host = host_event_make();
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &host.event, NULL));
    return host;
}

static void go_on(ur_queue_handle_t queue, const struct host_event *host)
{
    host_event_signal(host);
    UR_OK(urQueueFinish(queue));
    host_event_release(host);
}

static ur_usm_pool_handle_t default_pool(void)
{
    ur_usm_pool_handle_t pool;
    UR_OK(urUSMPoolGetDefaultDevicePoolExp(gear.context, gear.device, &pool));
    return pool;
}

static size_t pool_size(ur_usm_pool_handle_t pool, ur_usm_pool_info_t query)
{
    size_t size;
    UR_OK(urUSMPoolGetInfoExp(pool, query, &size, NULL));
    return size;
}

static void set_threshold(ur_usm_pool_handle_t pool, size_t size)
{
    UR_OK(urUSMPoolSetInfoExp(pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP, &size, sizeof(size)));
}

// ---- Reuse ----

// Memory that commands read goes there: Intel's driver waits for earlier commands before a copy to
// other memory.
static unsigned char *host_memory(size_t size)
{
    void *memory;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, size, &memory));
    return memory;
}

static void fill_and_read(ur_queue_handle_t queue, void *memory, size_t size, unsigned char value,
                          unsigned char *out)
{
    UR_OK(urEnqueueUSMFill(queue, memory, 1, &value, size, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(queue, false, out, memory, size, 0, NULL, NULL));
}

static void expect_bytes(const unsigned char *bytes, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(bytes[i], value);
}

static void reuse_under_commands(ur_usm_type_t kind, size_t size)
{
    enum { ROUNDS = 4 };
    unsigned char *read = host_memory(size * ROUNDS);
    void *first = NULL;
    const struct host_event host = hold_up(gear.queue);
    for (int i = 0; i < ROUNDS; i++) {
        void *memory = enqueue(gear.queue, kind, NULL, size, 0, NULL, NULL);
        first = first ? first : memory;
        cr_assert_eq(memory, first, "%zu bytes were not used again", size);
        fill_and_read(gear.queue, memory, size, (unsigned char)(i + 1), read + size * i);
        free_in_order(gear.queue, memory);
    }
    go_on(gear.queue, &host);
    for (int i = 0; i < ROUNDS; i++)
        expect_bytes(read + size * i, size, (unsigned char)(i + 1));
    ur_free(read);
}

Test(allocate, later_commands_of_the_queue_have_freed_memory_without_waiting)
{
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        for (size_t i = 0; i < SIZES; i++)
            reuse_under_commands(kind, sizes[i]);
    }
}

Test(allocate_older, later_commands_of_the_queue_have_freed_memory_without_waiting)
{
    for (size_t i = 0; i < SIZES; i++)
        reuse_under_commands(UR_USM_TYPE_DEVICE, sizes[i]);
}

// `flags`: of both queues.
static void reuse_by_another_queue(ur_queue_flags_t flags, size_t size)
{
    unsigned char *read = host_memory(2 * size);
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_queue_handle_t second = ur_queue(gear.device, flags);
    const struct host_event host = hold_up(queue);
    ur_event_handle_t events[4];
    const unsigned char values[] = {1, 2};
    void *memory = enqueue(queue, UR_USM_TYPE_DEVICE, NULL, size, 0, NULL, &events[0]);
    UR_OK(urEnqueueUSMFill(queue, memory, 1, &values[0], size, 1, &events[0], &events[1]));
    UR_OK(urEnqueueUSMMemcpy(queue, false, read, memory, size, 1, &events[1], &events[2]));
    UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory, 1, &events[2], &events[3]));
    // Not in the order of the free.
    void *others[2] = {device_memory(second, size),
                       enqueue(second, UR_USM_TYPE_DEVICE, NULL, size, 1, &events[1], NULL)};
    cr_assert_neq(others[0], memory);
    cr_assert_neq(others[1], memory);
    for (int i = 0; i < 3; i++)
        UR_OK(urEventRelease(events[i]));
    void *again = enqueue(second, UR_USM_TYPE_DEVICE, NULL, size, 1, &events[3], &events[0]);
    cr_assert_eq(again, memory);
    UR_OK(urEnqueueUSMFill(second, memory, 1, &values[1], size, 1, &events[0], &events[1]));
    UR_OK(urEnqueueUSMMemcpy(second, false, read + size, memory, size, 1, &events[1], &events[2]));
    go_on(queue, &host);
    UR_OK(urEventWait(1, &events[2]));
    expect_bytes(read, size, 1);
    expect_bytes(read + size, size, 2);
    for (int i = 0; i < 4; i++)
        UR_OK(urEventRelease(events[i]));
    free_in_order(second, memory);
    free_in_order(second, others[0]);
    free_in_order(queue, others[1]);
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(second));
    ur_free(read);
}

Test(allocate, another_queue_has_freed_memory_after_the_event)
{
    for (size_t i = 0; i < SIZES; i++) {
        reuse_by_another_queue(0, sizes[i]);
        reuse_by_another_queue(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, sizes[i]);
    }
}

// A later event of an in-order queue will do, and none of one without order.
Test(allocate, a_later_event_of_the_queue_comes_after_the_free)
{
    const ur_queue_flags_t flags[] = {0, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    for (int i = 0; i < 2; i++) {
        ur_queue_handle_t queue = ur_queue(gear.device, flags[i]);
        const struct host_event host = hold_up(queue);
        ur_event_handle_t freed, later;
        void *memory = device_memory(queue, 3000);
        UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory, 0, NULL, &freed));
        UR_OK(urEnqueueEventsWait(queue, 0, NULL, &later));
        void *again = enqueue(gear.queue, UR_USM_TYPE_DEVICE, NULL, 3000, 1, &later, NULL);
        if (i == 0)
            cr_assert_eq(again, memory);
        else
            cr_assert_neq(again, memory);
        go_on(queue, &host);
        UR_OK(urQueueFinish(gear.queue));
        free_in_order(gear.queue, again);
        UR_OK(urEventRelease(freed));
        UR_OK(urEventRelease(later));
        UR_OK(urQueueRelease(queue));
    }
}

// Memory that was used again under commands, and freed by the host, waits for all of them.
Test(allocate, the_host_has_no_memory_that_commands_use)
{
    for (size_t i = 0; i < SIZES; i++) {
        void *others[4];
        unsigned char *read = host_memory(sizes[i]);
        const struct host_event host = hold_up(gear.queue);
        void *memory = enqueue(gear.queue, UR_USM_TYPE_HOST, NULL, sizes[i], 0, NULL, NULL);
        fill_and_read(gear.queue, memory, sizes[i], 7, read);
        free_in_order(gear.queue, memory);
        cr_assert_eq(enqueue(gear.queue, UR_USM_TYPE_HOST, NULL, sizes[i], 0, NULL, NULL), memory);
        ur_free(memory);
        for (int k = 0; k < 4; k++) {
            UR_OK(urUSMHostAlloc(gear.context, NULL, default_pool(), sizes[i], &others[k]));
            cr_assert_neq(others[k], memory);
            memset(others[k], 0xff, sizes[i]);
        }
        go_on(gear.queue, &host);
        expect_bytes(read, sizes[i], 7);
        for (int k = 0; k < 4; k++)
            ur_free(others[k]);
        ur_free(read);
    }
}

Test(allocate, a_thousand_rounds_without_a_wait_need_the_memory_of_one)
{
    ze_cpu.reset_counts();
    const struct host_event host = hold_up(gear.queue);
    for (int i = 0; i < 1000; i++) {
        void *a = device_memory(gear.queue, 8 * MIB);
        void *b = device_memory(gear.queue, 300);
        free_in_order(gear.queue, a);
        free_in_order(gear.queue, b);
    }
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 2);
    cr_assert_eq(ze_cpu.get_count("zeMemFree"), 0);
    go_on(gear.queue, &host);
}

// Blocks and allocations alone are for all once the commands before the free are complete.
Test(allocate, memory_is_for_all_once_the_queue_was_waited_for)
{
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    void *memory = device_memory(queue, MIB);
    free_in_order(queue, memory);
    void *alone = device_memory(queue, 8 * MIB);
    free_in_order(queue, alone);
    UR_OK(urQueueFinish(queue));
    cr_assert_eq(device_memory(gear.queue, MIB), memory);
    ur_free(memory);
    const size_t reserved = pool_size(default_pool(), UR_USM_POOL_INFO_RESERVED_CURRENT_EXP);
    cr_assert_lt(reserved, 8 * MIB, "%zu bytes did not go back to the driver", reserved);
    UR_OK(urQueueRelease(queue));
}

// ---- Commands ----

Test(allocate, events_say_what_they_are_of_and_wait_for_the_wait_list)
{
    static const ur_command_t types[] = {
        UR_COMMAND_ENQUEUE_USM_HOST_ALLOC_EXP, UR_COMMAND_ENQUEUE_USM_DEVICE_ALLOC_EXP,
        UR_COMMAND_ENQUEUE_USM_SHARED_ALLOC_EXP, UR_COMMAND_ENQUEUE_USM_FREE_EXP};
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const struct host_event host = host_event_make();
    ur_event_handle_t events[4];
    void *memory[3];
    for (int i = 0; i < 3; i++)
        memory[i] = enqueue(queue, (ur_usm_type_t)(UR_USM_TYPE_HOST + i), NULL, 100, 1, &host.event,
                            &events[i]);
    UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory[0], 1, &events[0], &events[3]));
    for (int i = 0; i < 4; i++) {
        ur_command_t type;
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        cr_assert_eq(type, types[i]);
        ur_expect_held_up(events[i]);
    }
    host_event_signal(&host);
    UR_OK(urEventWait(4, events));
    for (int i = 0; i < 4; i++)
        UR_OK(urEventRelease(events[i]));
    UR_OK(urQueueFinish(queue));
    host_event_release(&host);
    free_in_order(queue, memory[1]);
    ur_free(memory[2]);
    UR_OK(urQueueRelease(queue));
}

Test(allocate, freed_memory_is_no_memory_any_more)
{
    for (size_t i = 0; i < SIZES; i++) {
        const struct host_event host = hold_up(gear.queue);
        char *memory = device_memory(gear.queue, sizes[i]);
        char byte = 0;
        UR_FAILS(urEnqueueUSMFreeExp(gear.queue, NULL, memory + 1, 0, NULL, NULL),
                 UR_RESULT_ERROR_INVALID_MEM_OBJECT);
        free_in_order(gear.queue, memory);
        UR_FAILS(urEnqueueUSMFreeExp(gear.queue, NULL, memory, 0, NULL, NULL),
                 UR_RESULT_ERROR_INVALID_MEM_OBJECT);
        UR_FAILS(urUSMFree(gear.context, memory), UR_RESULT_ERROR_INVALID_MEM_OBJECT);
        UR_FAILS(urEnqueueUSMMemcpy(gear.queue, false, &byte, memory, 1, 0, NULL, NULL),
                 UR_RESULT_ERROR_INVALID_SIZE);
        go_on(gear.queue, &host);
    }
}

Test(allocate, memory_of_the_host_s_is_freed_in_the_order_of_a_queue)
{
    for (size_t i = 0; i < SIZES; i++) {
        unsigned char *read = host_memory(sizes[i]);
        const struct host_event host = hold_up(gear.queue);
        void *memory = ur_device_memory(sizes[i]);
        fill_and_read(gear.queue, memory, sizes[i], 9, read);
        free_in_order(gear.queue, memory);
        void *other = ur_device_memory(sizes[i]);
        cr_assert_neq(other, memory);
        go_on(gear.queue, &host);
        expect_bytes(read, sizes[i], 9);
        ur_free(other);
        ur_free(read);
    }
}

Test(allocate_unpooled, each_allocation_is_the_driver_s)
{
    ze_cpu.reset_counts();
    for (int i = 0; i < 3; i++)
        free_in_order(gear.queue, device_memory(gear.queue, 300));
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 3);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(ze_cpu.get_count("zeMemFree"), 3);
}

// ---- Pools ----

Test(allocate_of_two, each_device_has_a_default_pool_and_the_host_may_set_another)
{
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    ur_usm_pool_handle_t pool, current, of, others;
    ur_context_handle_t context;
    UR_OK(urUSMPoolGetDefaultDevicePoolExp(gear.context, gear.devices[1], &others));
    cr_assert_neq(others, default_pool());
    UR_OK(urUSMPoolGetDevicePoolExp(gear.context, gear.device, &current));
    cr_assert_eq(current, default_pool());
    UR_OK(urUSMPoolGetInfoExp(current, UR_USM_POOL_INFO_CONTEXT, &context, NULL));
    cr_assert_eq(context, gear.context);
    UR_OK(urUSMPoolCreateExp(gear.context, gear.device, &desc, &pool));
    UR_OK(urUSMPoolSetDevicePoolExp(gear.context, gear.device, pool));
    UR_OK(urUSMPoolGetDevicePoolExp(gear.context, gear.device, &current));
    cr_assert_eq(current, pool);
    void *memory = device_memory(gear.queue, 100);
    UR_OK(
        urUSMGetMemAllocInfo(gear.context, memory, UR_USM_ALLOC_INFO_POOL, sizeof(of), &of, NULL));
    cr_assert_eq(of, pool);
    free_in_order(gear.queue, memory);
    // Of the other device.
    UR_FAILS(urUSMPoolSetDevicePoolExp(gear.context, gear.devices[1], pool),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urUSMPoolDestroyExp(gear.context, gear.devices[1], pool),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urUSMPoolDestroyExp(gear.context, gear.device, pool));
    UR_OK(urUSMPoolGetDevicePoolExp(gear.context, gear.device, &current));
    cr_assert_eq(current, default_pool());
    // Default pools stay.
    UR_FAILS(urUSMPoolDestroyExp(gear.context, gear.device, current),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urUSMPoolRetain(current));
    for (int i = 0; i < 3; i++)
        UR_OK(urUSMPoolRelease(current));
    ur_free(enqueue(gear.queue, UR_USM_TYPE_SHARED, current, 100, 0, NULL, NULL));
}

// The default pool serves a device and its parts, whichever asked for it first.
Test(allocate_of_parts, memory_of_the_default_pool_is_on_the_device_of_the_queue)
{
    const ur_device_partition_property_t by_affinity = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA};
    const ur_device_partition_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
        .pProperties = &by_affinity,
        .PropCount = 1};
    ur_device_handle_t parts[2];
    const ur_result_t result = urDevicePartition(gear.device, &properties, 2, parts, NULL);
    if (result && test_env_is_on_intel_driver())
        cr_skip_test("the device has no parts");
    UR_OK(result);
    ur_queue_handle_t queues[] = {ur_queue(parts[0], 0), gear.queue, ur_queue(parts[1], 0)};
    const ur_device_handle_t devices[] = {parts[0], gear.device, parts[1]};
    for (int i = 0; i < 3; i++) {
        ur_usm_pool_handle_t pool;
        ur_device_handle_t device;
        void *memory = device_memory(queues[i], 100);
        UR_OK(urUSMGetMemAllocInfo(gear.context, memory, UR_USM_ALLOC_INFO_DEVICE, sizeof(device),
                                   &device, NULL));
        cr_assert_eq(device, devices[i], "queue %d", i);
        UR_OK(urUSMPoolGetDevicePoolExp(gear.context, devices[i], &pool));
        UR_OK(urUSMPoolTrimToExp(gear.context, devices[i], pool, 0));
        free_in_order(queues[i], memory);
        UR_OK(urQueueFinish(queues[i]));
    }
    for (int i = 0; i < 2; i++) {
        UR_OK(urQueueRelease(queues[i * 2]));
        UR_OK(urDeviceRelease(parts[i]));
    }
}

// As the SYCL runtime makes them: maximum and threshold come as the limits of a native pool.
static ur_usm_pool_handle_t native_pool(size_t maximum, size_t threshold)
{
    ur_usm_pool_limits_desc_t limits = {.stype = UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC,
                                        .maxPoolableSize = maximum,
                                        .minDriverAllocSize = threshold};
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC,
                               .pNext = &limits,
                               .flags = UR_USM_POOL_FLAG_USE_NATIVE_MEMORY_POOL_EXP};
    ur_usm_pool_handle_t pool;
    UR_OK(urUSMPoolCreateExp(gear.context, gear.device, &desc, &pool));
    return pool;
}

Test(allocate, a_pool_keeps_to_its_maximum)
{
    ur_usm_pool_handle_t pool = native_pool(20 * MIB, 0);
    void *none = NULL;
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP), 20 * MIB);
    void *memory = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, 12 * MIB, 0, NULL, NULL);
    UR_FAILS(urEnqueueUSMDeviceAllocExp(gear.queue, pool, 12 * MIB, NULL, 0, NULL, &none, NULL),
             UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    cr_assert_null(none);
    free_in_order(gear.queue, memory);
    // Too long to be taken for it; the first one goes.
    memory = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, 16 * MIB, 0, NULL, NULL);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 16 * MIB);
    free_in_order(gear.queue, memory);
    UR_OK(urUSMPoolDestroyExp(gear.context, gear.device, pool));
}

Test(allocate, a_pool_keeps_what_its_threshold_says)
{
    ur_usm_pool_handle_t pool = native_pool(0, 30 * MIB);
    void *memory[3];
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP), 30 * MIB);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP), SIZE_MAX);
    for (int i = 0; i < 3; i++)
        memory[i] = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, 10 * MIB + 1, 0, NULL, NULL);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 30 * MIB + 3);
    for (int i = 0; i < 3; i++)
        free_in_order(gear.queue, memory[i]);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP), 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_USED_HIGH_EXP), 30 * MIB + 3);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 20 * MIB + 2);
    // Allocations of any kind have it, and leave it there.
    ze_cpu.reset_counts();
    void *again = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, 10 * MIB, 0, NULL, NULL);
    ur_free(again);
    UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, pool, 10 * MIB, &again));
    ur_free(again);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(ze_cpu.get_count("zeMemAllocDevice"), 0);
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 20 * MIB + 2);
    UR_OK(urUSMPoolTrimToExp(gear.context, gear.device, pool, 15 * MIB));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 10 * MIB + 1);
    set_threshold(pool, 0);
    ur_free(enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, 10 * MIB, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 0);
    UR_OK(urUSMPoolDestroyExp(gear.context, gear.device, pool));
}

Test(allocate, a_pool_goes_before_the_commands_that_use_its_memory)
{
    unsigned char *read = host_memory(5 * MIB);
    const uint64_t before = ze_cpu.get_live_bytes();
    ur_usm_pool_handle_t pool = native_pool(0, 100 * MIB);
    const struct host_event host = hold_up(gear.queue);
    for (size_t i = 0; i < SIZES; i++) {
        void *memory = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, sizes[i], 0, NULL, NULL);
        fill_and_read(gear.queue, memory, sizes[i], 5, read);
        free_in_order(gear.queue, memory);
    }
    UR_OK(urUSMPoolDestroyExp(gear.context, gear.device, pool));
    go_on(gear.queue, &host);
    expect_bytes(read, 5 * MIB, 5);
    cr_assert_leq(ze_cpu.get_live_bytes(), before);
    ur_free(read);
}

static void trim(ur_usm_pool_handle_t pool)
{
    UR_OK(urUSMPoolTrimToExp(gear.context, gear.device, pool, 0));
}

// What the host has, and what commands still use, stays.
Test(allocate, a_pool_is_trimmed_while_its_memory_is_used)
{
    for (size_t i = 0; i < SIZES; i++) {
        unsigned char *read = host_memory(2 * sizes[i]);
        ur_usm_pool_handle_t pool = native_pool(0, 100 * MIB);
        const struct host_event host = hold_up(gear.queue);
        void *used = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, sizes[i], 0, NULL, NULL);
        void *freed = enqueue(gear.queue, UR_USM_TYPE_DEVICE, pool, sizes[i], 0, NULL, NULL);
        fill_and_read(gear.queue, used, sizes[i], 3, read);
        fill_and_read(gear.queue, freed, sizes[i], 4, read + sizes[i]);
        free_in_order(gear.queue, freed);
        trim(pool);
        go_on(gear.queue, &host);
        expect_bytes(read, sizes[i], 3);
        expect_bytes(read + sizes[i], sizes[i], 4);
        trim(pool);
        fill_and_read(gear.queue, used, sizes[i], 5, read);
        UR_OK(urQueueFinish(gear.queue));
        expect_bytes(read, sizes[i], 5);
        free_in_order(gear.queue, used);
        UR_OK(urQueueFinish(gear.queue));
        trim(pool);
        cr_assert_eq(pool_size(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP), 0, "%zu bytes",
                     sizes[i]);
        UR_OK(urUSMPoolDestroyExp(gear.context, gear.device, pool));
        ur_free(read);
    }
}

// The memory stays the first device's. Without times, which another device would wait for in the
// call.
Test(allocate_of_two, memory_is_freed_by_a_queue_of_another_device)
{
    ur_queue_handle_t queue = ur_queue(gear.devices[1], 0);
    ur_queue_handle_t first = ur_queue(gear.devices[0], 0);
    for (size_t i = 0; i < SIZES; i++) {
        unsigned char *read = host_memory(sizes[i]);
        ur_event_handle_t event;
        const struct host_event host = hold_up(first);
        void *memory = device_memory(first, sizes[i]);
        fill_and_read(first, memory, sizes[i], 9, read);
        UR_OK(urEnqueueEventsWait(first, 0, NULL, &event));
        UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory, 1, &event, NULL));
        void *other = device_memory(queue, sizes[i]);
        const ur_result_t freed_again = urEnqueueUSMFreeExp(first, NULL, memory, 0, NULL, NULL);
        go_on(first, &host);
        UR_OK(urQueueFinish(queue));
        ur_device_handle_t of;
        UR_OK(urUSMGetMemAllocInfo(gear.context, other, UR_USM_ALLOC_INFO_DEVICE, sizeof(of), &of,
                                   NULL));
        cr_assert_eq(of, gear.devices[1]);
        cr_assert_neq(other, memory);
        UR_FAILS(freed_again, UR_RESULT_ERROR_INVALID_MEM_OBJECT);
        expect_bytes(read, sizes[i], 9);
        free_in_order(queue, other);
        UR_OK(urEventRelease(event));
        ur_free(read);
    }
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(first));
}
