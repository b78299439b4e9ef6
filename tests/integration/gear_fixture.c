// SPDX-License-Identifier: MIT
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

struct test_gear gear;
struct test_ze_cpu ze_cpu;

void gear_set_up_with(zepi_queue_flags_t queue_flags)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(queue_flags);
}

void gear_set_up(void)
{
    gear_set_up_with(ZEPI_QUEUE_IN_ORDER);
}

void gear_tear_down(void)
{
    test_gear_destroy(&gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

void *gear_allocate(size_t size_bytes)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, size_bytes, 0, &memory));
    memset(memory, 0, size_bytes);
    return memory;
}
