// SPDX-License-Identifier: MIT
//
// Asks for a device's free memory through system management, while each call fails in turn. It
// allocates nothing. Memory through the driver's extension: bring_up_test.c.
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

int main(void)
{
    zepi_platform_t platform;
    uint32_t count;
    setenv("ZE_CPU_WITHOUT", "ZE_extension_device_usablemem_size_properties", 1);
    setenv("ZES_ENABLE_SYSMAN", "1", 1);
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    walk_begin();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 1, &device, &count));
    walk_keep();
    walk_calls("calls, device lost", ask, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("calls, out of memory", ask, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_calls("calls, uninitialized", ask, "ZE_RESULT_ERROR_UNINITIALIZED");
    TEST_OK(zepi.release(device));
    TEST_OK(zepi.release(platform));
    return 0;
}
