// SPDX-License-Identifier: MIT
// Which compute engine, and which priority, the command lists of a queue have: the driver's
// function that makes lists is listened to.
#include "ur/ur.h"

#include "device/device.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "ze/ze.h"

#include <criterion/criterion.h>

#define LISTS 64

// Draws the plugin out of the archive: test_plugin_load takes it.
extern zepi_plugin_init_fn *const linked_plugin;
zepi_plugin_init_fn *const linked_plugin = zepiPluginInit;

static struct test_gear gear;
static __typeof__(zeCommandListCreateImmediate) *driver_create;
static ze_command_queue_desc_t made[LISTS]; // of the group for compute
static uint32_t made_count;

static ze_result_t ZE_APICALL create(ze_context_handle_t context, ze_device_handle_t device,
                                     const ze_command_queue_desc_t *desc,
                                     ze_command_list_handle_t *out_list)
{
    if (desc->ordinal == gear.device->compute_ordinal && made_count < LISTS)
        made[made_count++] = *desc;
    return driver_create(context, device, desc, out_list);
}

static void set_up(void)
{
    test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    driver_create = zepi_ze.zeCommandListCreateImmediate;
    zepi_ze.zeCommandListCreateImmediate = create;
}

static void tear_down(void)
{
    zepi_ze.zeCommandListCreateImmediate = driver_create;
    test_gear_destroy(&gear);
    test_plugin_unload();
}

TestSuite(queue, .init = set_up, .fini = tear_down);

static ur_result_t create_queue(ur_queue_flags_t flags, uint32_t engine,
                                ur_queue_handle_t *out_queue)
{
    ur_queue_index_properties_t index = {.stype = UR_STRUCTURE_TYPE_QUEUE_INDEX_PROPERTIES,
                                         .computeIndex = engine};
    // One that says nothing of engines comes first.
    ur_base_properties_t other = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_PROPERTIES,
                                  .pNext = &index};
    const ur_queue_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, .pNext = &other, .flags = flags};
    return zepi_urQueueCreate((ur_context_handle_t)gear.context, (ur_device_handle_t)gear.device,
                              &properties, out_queue);
}

static uint32_t engine_count(void)
{
    uint32_t count = 0;
    cr_assert_eq(zepi_urDeviceGetInfo((ur_device_handle_t)gear.device,
                                      UR_DEVICE_INFO_MAX_COMPUTE_QUEUE_INDICES, sizeof(count),
                                      &count, NULL),
                 UR_RESULT_SUCCESS);
    return count;
}

Test(queue, runs_on_the_compute_engine_that_is_asked_for)
{
    static const ur_queue_flags_t kinds[] = {0, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    const uint32_t count = engine_count();
    zepi_device_info_t device = {.size = sizeof(device)};
    TEST_OK(zepi.device_get_info(gear.device, &device));
    cr_assert_eq(device.compute_engine_count, count);
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t engine = 0; engine < count; engine++) {
            zepi_queue_info_t info = {.size = sizeof(info)};
            ur_queue_handle_t queue;
            made_count = 0;
            cr_assert_eq(create_queue(kinds[kind], engine, &queue), UR_RESULT_SUCCESS);
            for (uint32_t i = 0; i < made_count; i++)
                cr_assert_eq(made[i].index, engine);
            TEST_OK(zepi.queue_get_info((zepi_queue_t)queue, &info));
            cr_assert_eq(info.compute_engine, engine);
            cr_assert_eq(zepi_urQueueRelease(queue), UR_RESULT_SUCCESS);
        }
    }
}

// Lists of released queues are of use for the same engine alone.
Test(queue, runs_there_after_queues_of_other_engines)
{
    const uint32_t count = engine_count();
    ur_queue_handle_t queue;
    for (uint32_t engine = 0; engine < count; engine++) {
        made_count = 0;
        cr_assert_eq(create_queue(UR_QUEUE_FLAG_PROFILING_ENABLE, engine, &queue),
                     UR_RESULT_SUCCESS);
        cr_assert(made_count == 1 && made[0].index == engine);
        cr_assert_eq(zepi_urQueueRelease(queue), UR_RESULT_SUCCESS);
    }
    made_count = 0;
    for (uint32_t engine = 0; engine < count; engine++) {
        cr_assert_eq(create_queue(UR_QUEUE_FLAG_PROFILING_ENABLE, engine, &queue),
                     UR_RESULT_SUCCESS);
        cr_assert_eq(zepi_urQueueRelease(queue), UR_RESULT_SUCCESS);
    }
    cr_assert_eq(made_count, 0);
}

Test(queue, others_are_spread_over_the_engines)
{
    const uint32_t count = engine_count();
    uint32_t uses[LISTS] = {0};
    zepi_queue_t queues[LISTS];
    cr_assert_leq(count, LISTS);
    for (uint32_t i = 0; i < count; i++) {
        zepi_queue_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.queue_create(gear.context, gear.device,
                                  ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, &queues[i]));
        TEST_OK(zepi.queue_get_info(queues[i], &info));
        cr_assert_eq(info.compute_engine, ZEPI_COMPUTE_ENGINE_ANY);
    }
    cr_assert_eq(made_count, count);
    for (uint32_t i = 0; i < count; i++)
        uses[made[i].index]++;
    for (uint32_t engine = 0; engine < count; engine++)
        cr_assert_eq(uses[engine], 1, "engine %u has %u queues", engine, uses[engine]);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(queues[i]));
}

// The lists of one queue are on engines of their own, as far as there are as many (ze_cpu has
// eight), and serve the next queue.
Test(queue, out_of_order_uses_four_engines_and_makes_its_lists_once)
{
    const uint32_t count = engine_count();
    const uint32_t lists = count < 2 ? 2 : count < 4 ? count : 4;
    for (int i = 0; i < 10; i++) {
        zepi_queue_t queue;
        TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
        TEST_OK(zepi.release(queue));
        cr_assert_eq(made_count, lists);
    }
    for (uint32_t i = 1; i < lists; i++)
        cr_assert_eq(made[i].index, (made[0].index + i) % count);
}

Test(queue, lists_have_its_priority)
{
    static const struct {
        ur_queue_flags_t flag;
        ze_command_queue_priority_t priority;
    } kinds[] = {{0, ZE_COMMAND_QUEUE_PRIORITY_NORMAL},
                 {UR_QUEUE_FLAG_PRIORITY_LOW, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW},
                 {UR_QUEUE_FLAG_PRIORITY_HIGH, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH}};
    ur_queue_flags_t known = 0;
    cr_assert_eq(zepi_urDeviceGetInfo((ur_device_handle_t)gear.device,
                                      UR_DEVICE_INFO_QUEUE_PROPERTIES, sizeof(known), &known, NULL),
                 UR_RESULT_SUCCESS);
    for (int kind = 0; kind < 3; kind++) {
        ur_queue_handle_t queue;
        ur_queue_flags_t flags = 0;
        made_count = 0;
        cr_assert_eq(kinds[kind].flag & ~known, 0);
        cr_assert_eq(create_queue(kinds[kind].flag | UR_QUEUE_FLAG_PROFILING_ENABLE, 0, &queue),
                     UR_RESULT_SUCCESS);
        cr_assert(made_count == 1 && made[0].priority == kinds[kind].priority);
        cr_assert_eq(zepi_urQueueGetInfo(queue, UR_QUEUE_INFO_FLAGS, sizeof(flags), &flags, NULL),
                     UR_RESULT_SUCCESS);
        cr_assert_eq(flags, kinds[kind].flag | UR_QUEUE_FLAG_PROFILING_ENABLE);
        cr_assert_eq(zepi_urQueueRelease(queue), UR_RESULT_SUCCESS);
    }
}

Test(queue, engines_that_the_device_lacks_are_refused)
{
    const uint32_t wrong[] = {engine_count(), UINT32_MAX - 1, UINT32_MAX};
    ur_queue_handle_t queue = NULL;
    zepi_queue_t own = NULL;
    for (int i = 0; i < 3; i++)
        cr_assert_eq(create_queue(0, wrong[i], &queue), UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES);
    TEST_FAILS_SAYING(zepi.queue_create_on_engine(gear.context, gear.device, 0, wrong[0], &own),
                      ZEPI_ERROR_INVALID_VALUE, "compute engine");
    TEST_FAILS(zepi.queue_create_on_engine(gear.context, gear.device, 0, 0, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.queue_create_on_engine(gear.context, NULL, 0, 0, &own),
               ZEPI_ERROR_INVALID_OBJECT);
    cr_assert(!queue && !own && made_count == 0);
}
