// SPDX-License-Identifier: MIT
// Launches by name in a context of several devices: they concern the queue's device alone.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const char *const UNIT = "unit";

static struct test_ze_cpu ze_cpu;
static zepi_platform_t platform;
static zepi_device_t devices[2];
static zepi_context_t context;
static zepi_queue_t queues[2];
static uint32_t *memory;

static void set_up(void)
{
    uint32_t count;
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("CreateMultipleRootDevices", "2", 1); // of Intel's driver
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 2, devices, &count));
    cr_assert_eq(count, 2);
    TEST_OK(zepi.context_create(2, devices, &context));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queues[i]));
    TEST_OK(zepi.usm_allocate(context, NULL, ZEPI_USM_HOST, 4, 0, (void **)&memory));
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(context, memory));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.release(queues[i]));
        TEST_OK(zepi.release(devices[i]));
    }
    TEST_OK(zepi.release(context));
    TEST_OK(zepi.release(platform));
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(dispatch_devices, .init = set_up, .fini = tear_down);

static zepi_result_t touch(zepi_queue_t queue)
{
    const zepi_argument_t argument = TEST_POINTER(memory);
    zepi_launch_desc_t launch = test_launch(NULL, 1, &argument, 1);
    launch.kernel_name = "touch";
    launch.unit = UNIT;
    return zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL);
}

Test(dispatch_devices, a_launch_builds_for_the_device_of_its_queue_alone)
{
    const zepi_device_image_desc_t image = test_spirv_image("empty");
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    for (int i = 0; i < 2; i++) {
        const uint64_t before = ze_cpu.get_count("zeModuleCreate");
        TEST_OK(touch(queues[i]));
        cr_assert_eq(ze_cpu.get_count("zeModuleCreate") - before, 1, "device %d", i);
        TEST_OK(zepi.queue_finish(queues[i]));
    }
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 1);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch_devices, code_that_another_device_lacks_is_no_failure)
{
    zepi_module_t built = test_executable(context, "empty");
    zepi_device_image_desc_t image = test_native_image(built, devices[1], ZEPI_MODULE_INPUT);
    image.devices = &devices[1];
    image.device_count = 1;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_OK(touch(queues[1]));
    TEST_OK(zepi.queue_finish(queues[1]));
    TEST_FAILS_SAYING(touch(queues[0]), ZEPI_ERROR_COMPILE_FAILURE, "no image serves device");
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.release(built));
    test_native_image_finish(&image);
}
