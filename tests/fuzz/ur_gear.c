// SPDX-License-Identifier: MIT
#include "ur_gear.h"
#include "test_env.h"

#define OK(call) fuzz_require((call) == UR_RESULT_SUCCESS)

static void gear_create(struct ur_gear *gear, enum ur_gear_driver driver)
{
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_program_handle_t program;
    if (driver == UR_GEAR_ON_ZE_CPU) {
        // Commands are complete at once, and memory has handles.
        setenv("ZE_CPU_EXECUTE", "0", 1);
        setenv("ZE_CPU_IPC", "1", 1);
        test_env_use_ze_cpu();
    } else {
        test_env_use_null_driver();
    }
    setenv("ZEPI_CACHE", "off", 1);
    const struct test_bytes code = test_env_read_spirv("empty");
    OK(zepi_urAdapterGet(1, &adapter, NULL));
    OK(zepi_urPlatformGet(adapter, 1, &platform, NULL));
    OK(zepi_urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &gear->device, NULL));
    OK(zepi_urContextCreate(1, &gear->device, NULL, &gear->context));
    OK(zepi_urQueueCreate(gear->context, gear->device, NULL, &gear->queue));
    OK(zepi_urProgramCreateWithIL(gear->context, code.data, code.size_bytes, NULL, &program));
    OK(zepi_urProgramBuild(gear->context, program, NULL));
    OK(zepi_urKernelCreate(program, "empty", &gear->kernel));
    OK(zepi_urProgramRelease(program));
    free(code.data);
}

const struct ur_gear *ur_gear_get(enum ur_gear_driver driver)
{
    static struct ur_gear gear;
    if (!gear.kernel)
        gear_create(&gear, driver);
    return &gear;
}
