// SPDX-License-Identifier: MIT
// What a host of DPC++ 2026.1 sees otherwise than one of the newest release.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>

TestSuite(older, .init = ur_set_up, .fini = ur_tear_down);

static uint32_t ask_u32(ur_device_info_t query)
{
    uint32_t value = 0;
    UR_OK(urDeviceGetInfo(gear.device, query, sizeof(value), &value, NULL));
    return value;
}

// The header of 2026.2 has them one higher.
Test(older, queries_about_parts_of_a_gpu_have_the_numbers_of_the_release)
{
    if (ask_u32(UR_DEVICE_INFO_TYPE) != UR_DEVICE_TYPE_GPU)
        cr_skip("the device is no GPU");
    cr_expect_eq(ask_u32(UR_DEVICE_INFO_XE_STACK_COUNT), 1);
    cr_expect_eq(ask_u32(UR_DEVICE_INFO_XE_REGIONS_PER_STACK), 1);
    cr_expect_eq(ask_u32(UR_DEVICE_INFO_XE_CLUSTERS_PER_REGION),
                 ask_u32(UR_DEVICE_INFO_GPU_EU_SLICES));
    cr_expect_eq(ask_u32(UR_DEVICE_INFO_XE_CORES_PER_CLUSTER),
                 ask_u32(UR_DEVICE_INFO_GPU_SUBSLICES_PER_SLICE));
    cr_expect_eq(ask_u32(UR_DEVICE_INFO_EUS_PER_XE_CORE),
                 ask_u32(UR_DEVICE_INFO_GPU_EU_COUNT_PER_SUBSLICE));
    cr_expect(ask_u32(UR_DEVICE_INFO_MAX_LANES_PER_HW_THREAD) > 0);
}

Test(older, captures_that_fail_have_a_result_of_the_release)
{
    ur_exp_graph_handle_t graph;
    UR_FAILS(urQueueEndGraphCaptureExp(gear.queue, &graph), UR_RESULT_ERROR_INVALID_OPERATION);
}

Test(older, physical_memory_has_a_flag_that_means_nothing)
{
    ur_physical_mem_properties_t properties = {.stype = UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                               .flags = UR_PHYSICAL_MEM_FLAG_TBD};
    ur_physical_mem_handle_t memory;
    size_t page_bytes;
    UR_OK(urVirtualMemGranularityGetInfo(gear.context, gear.device, 1,
                                         UR_VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED,
                                         sizeof(page_bytes), &page_bytes, NULL));
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, page_bytes, &properties, &memory));
    UR_OK(urPhysicalMemRelease(memory));
    properties.flags = 2;
    UR_FAILS(urPhysicalMemCreate(gear.context, gear.device, page_bytes, &properties, &memory),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
}
