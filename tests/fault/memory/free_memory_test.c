// SPDX-License-Identifier: MIT
//
// Asks for a device's free memory and sensors through system management, while each call and each
// allocation fails in turn. Memory through the driver's extension: bring_up_test.c.
#include "device/sysman.h"
#include "test_env.h"
#include "walk.h"

#include <stdlib.h>

static zepi_device_t device;

static zepi_result_t ask(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    zepi_result_t result;
    STEP(zepi.device_get_info(device, &info));
    // A value that the driver does not know now is no failure.
    WALK_EXPECT(info.free_memory_bytes <= info.global_memory_bytes);
out:
    return result;
}

static zepi_result_t ask_sensors(void)
{
    static const struct {
        enum zepi_sysman_query query;
        uint64_t expected;
    } sensors[] = {{ZEPI_SYSMAN_FAN_PERCENT, 40},
                   {ZEPI_SYSMAN_MIN_POWER_MW, 15000},
                   {ZEPI_SYSMAN_MAX_POWER_MW, 20000},
                   {ZEPI_SYSMAN_THROTTLE_REASONS, 0xa}};
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < sizeof(sensors) / sizeof(sensors[0]); i++) {
        uint64_t value = 1;
        bool is_known = true;
        STEP(zepi_sysman_get(device, sensors[i].query, &value, &is_known));
        // All parts are in the answer, or there is none.
        WALK_EXPECT(is_known ? value == sensors[i].expected : value == 0);
    }
out:
    return result;
}

int main(void)
{
    zepi_platform_t platform;
    uint32_t count;
    setenv("ZE_CPU_WITHOUT", "ZE_extension_device_usablemem_size_properties", 1);
    setenv("ZES_ENABLE_SYSMAN", "1", 1);
    setenv("ZE_CPU_SENSORS", "1", 1);
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    walk_begin();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 1, &device, &count));
    walk_keep();
    walk_calls("calls, device lost", ask, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("calls, out of memory", ask, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_calls("calls, uninitialized", ask, "ZE_RESULT_ERROR_UNINITIALIZED");
    walk_allocations("allocations", ask);
    walk_calls("sensors, device lost", ask_sensors, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("sensors, out of memory", ask_sensors, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_calls("sensors, not available", ask_sensors, "ZE_RESULT_ERROR_NOT_AVAILABLE");
    walk_allocations("sensors, allocations", ask_sensors);
    TEST_OK(zepi.release(device));
    TEST_OK(zepi.release(platform));
    return 0;
}
