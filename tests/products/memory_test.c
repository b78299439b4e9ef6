// SPDX-License-Identifier: MIT
// Integrated GPUs: their memory is the system's, which memory of the program is a part of.
#include "intel.h"

#include "test_plugin.h"

#define PART (UINT64_C(100) << 20)
#define PARTS 16 // more than DRM_SHIM_SYSTEM_GIB has

static struct test_gear gear;

static uint32_t take_all(void *memory[PARTS])
{
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    while (result == ZEPI_SUCCESS && count < PARTS) {
        result = zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, PART, 0, &memory[count]);
        count += result == ZEPI_SUCCESS;
    }
    INTEL_EXPECT(result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY ||
                     result == ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                 "after %u allocations: %d", count, result);
    return count;
}

// Memory of the host: for device memory the driver does not look whether it got any.
static void the_systems_memory_is_a_limit(void)
{
    void *memory[PARTS];
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int round = 0; round < 3; round++) {
        const uint32_t count = take_all(memory);
        INTEL_EXPECT(count >= 5 && count <= 10, "%u allocations", count);
        for (uint32_t part = 0; part < count; part++)
            TEST_OK(zepi.usm_free(gear.context, memory[part]));
    }
    test_gear_destroy(&gear);
    test_plugin_unload();
}

#define ON(product)                                                                                \
    {                                                                                              \
        "the_systems_memory_is_a_limit_on_" product, the_systems_memory_is_a_limit,                \
        {                                                                                          \
            "DRM_SHIM_PRODUCT=" product, "DRM_SHIM_SYSTEM_GIB=1"                                   \
        }                                                                                          \
    }

static const struct intel_story stories[] = {ON("tgl"), ON("mtl-i915"), ON("mtl"), ON("lnl"), {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
