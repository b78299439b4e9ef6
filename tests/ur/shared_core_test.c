// SPDX-License-Identifier: MIT
// Both front ends in one process: libzepi.so and the adapter stand on one core.
#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>

static struct test_gear table_gear;

// The host of the table is there first.
static void set_up(void)
{
    setenv("ZEPI_UR_LAYOUT", TEST_UR_RELEASE, 1); // options are read once
    test_ze_cpu_use();
    test_plugin_load();
    table_gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
}

static void unload_adapter(void)
{
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    gear = (struct ur_gear){0};
    ur_unload();
}

TestSuite(shared_core, .init = set_up);

Test(shared_core, has_the_same_platforms_and_devices)
{
    cr_expect_eq((void *)gear.device, (void *)table_gear.device);
    unload_adapter();
    test_gear_destroy(&table_gear);
}

Test(shared_core, what_was_there_before_the_adapter_begins_with_its_tables)
{
    const void *tables = *(const void *const *)gear.adapter;
    cr_expect_not_null(tables);
    cr_expect_eq(*(const void *const *)gear.platform, tables);
    cr_expect_eq(*(const void *const *)gear.device, tables);
    unload_adapter();
    test_gear_destroy(&table_gear);
}

Test(shared_core, builds_once_for_both)
{
    zepi_cache_counters_t before = {.size = sizeof(before)};
    zepi_cache_counters_t after = {.size = sizeof(after)};
    UR_OK(urProgramRelease(ur_executable("vector_add")));
    TEST_OK(zepi.cache_get_counters(table_gear.context, ZEPI_CACHE_BINARIES, &before));
    zepi_module_t module = test_executable(table_gear.context, "vector_add");
    TEST_OK(zepi.cache_get_counters(table_gear.context, ZEPI_CACHE_BINARIES, &after));
    cr_expect_gt(after.hits, before.hits);
    TEST_OK(zepi.release(module));
    unload_adapter();
    test_gear_destroy(&table_gear);
}

static void log_nothing(ur_logger_level_t level, const char *line, void *data)
{
    (void)level;
    (void)line;
    (void)data;
}

Test(shared_core, forgets_the_logger_of_an_adapter_that_is_closed)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, log_nothing, NULL, UR_LOGGER_LEVEL_DEBUG));
    unload_adapter();
    // The first build has lines about the compiler's libraries.
    TEST_OK(zepi.release(test_executable(table_gear.context, "vector_add")));
    test_gear_destroy(&table_gear);
}

Test(shared_core, stays_for_one_when_the_other_is_closed)
{
    UR_OK(urProgramRelease(ur_executable("vector_add")));
    unload_adapter();
    cr_assert_null(dlopen(TEST_UR_ADAPTER, RTLD_NOW | RTLD_NOLOAD));
    for (int round = 0; round < 2; round++) {
        TEST_OK(zepi.release(test_executable(table_gear.context, "scaled_copy")));
        TEST_OK(zepi.queue_finish(table_gear.queue));
        // And for the adapter again.
        ur_load_device();
        UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
        UR_OK(urProgramRelease(ur_executable("vector_add")));
        unload_adapter();
    }
    test_gear_destroy(&table_gear);
}
