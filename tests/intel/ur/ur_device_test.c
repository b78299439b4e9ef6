// SPDX-License-Identifier: MIT
// The adapter's values for an Arc B580, each from a query of Intel's driver.
#include "intel.h"

#include "ur_fixture.h"

#include <string.h>

// Those of four bytes.
static const struct {
    ur_device_info_t query;
    const char *name;
    uint32_t answer;
} numbers[] = {
#define NUMBER(name, answer)                                                                       \
    {                                                                                              \
        UR_DEVICE_INFO_##name, #name, answer                                                       \
    }
    NUMBER(NUM_COMPUTE_UNITS, 20),
    NUMBER(XE_CLUSTERS_PER_REGION, 5),
    NUMBER(XE_CORES_PER_CLUSTER, 4),
    NUMBER(EUS_PER_XE_CORE, 8),
    NUMBER(GLOBAL_MEM_CACHELINE_SIZE, 256),
    NUMBER(PREFERRED_VECTOR_WIDTH_FLOAT, 1),
    NUMBER(2D_BLOCK_ARRAY_CAPABILITIES_EXP, UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_LOAD |
                                                UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_STORE),
};

static const struct {
    ur_device_info_t query;
    const char *name;
} abilities[] = {
#define ABILITY(name)                                                                              \
    {                                                                                              \
        UR_DEVICE_INFO_##name, #name                                                               \
    }
    ABILITY(BFLOAT16_CONVERSIONS_NATIVE),
    ABILITY(USE_NATIVE_ASSERT),
    ABILITY(ATOMIC_64),
};

static void tear_down(void)
{
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static void the_device_is_described(void)
{
    char version[16] = "";
    ur_load_device();
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint32_t answer = 0;
        UR_OK(urDeviceGetInfo(gear.device, numbers[i].query, sizeof(answer), &answer, NULL));
        INTEL_EXPECT(answer == numbers[i].answer, "%s is %u", numbers[i].name, answer);
    }
    for (size_t i = 0; i < sizeof(abilities) / sizeof(abilities[0]); i++) {
        ur_bool_t answer = false;
        UR_OK(urDeviceGetInfo(gear.device, abilities[i].query, sizeof(answer), &answer, NULL));
        INTEL_EXPECT(answer, "%s is missing", abilities[i].name);
    }
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_IL_VERSION, sizeof(version), version, NULL));
    INTEL_EXPECT(strcmp(version, "SPIR-V_1.5") == 0, "%s", version);
    tear_down();
}

// A hardware thread has so many, or twice as many where half of the threads are enough.
static void kernels_tell_their_registers(void)
{
    uint32_t count = 0;
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    ur_kernel_handle_t kernel = ur_kernel("empty", "empty");
    UR_OK(urKernelGetInfo(kernel, UR_KERNEL_INFO_NUM_REGS, sizeof(count), &count, NULL));
    INTEL_EXPECT(count == 128 || count == 256, "%u registers", count);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urContextRelease(gear.context));
    tear_down();
}

static const struct intel_story stories[] = {
    {"the_device_is_described", the_device_is_described, {NULL}},
    {"kernels_tell_their_registers", kernels_tell_their_registers, {NULL}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
