// SPDX-License-Identifier: MIT
// Linking for several devices: those that all objects have.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_ze_cpu ze_cpu;
static zepi_platform_t platform;
static zepi_device_t devices[2];
static zepi_context_t context;

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
}

static void tear_down(void)
{
    TEST_OK(zepi.release(context));
    TEST_OK(zepi.release(devices[0]));
    TEST_OK(zepi.release(devices[1]));
    TEST_OK(zepi.release(platform));
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(link_devices, .init = set_up, .fini = tear_down);

// An object of native code that is declared for one device.
static zepi_module_t compile_for(const char *name, zepi_device_t device)
{
    zepi_module_t object = test_object(context, name);
    zepi_device_image_desc_t image = test_native_image(object, device, ZEPI_MODULE_OBJECT);
    image.devices = &device;
    image.device_count = 1;
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_OBJECT, 1, &image, &object));
    test_native_image_finish(&image);
    return object;
}

// The result of a kernel of two devices' own, or -1 if the device has none.
static int32_t run_kernel(zepi_module_t module, const char *name, zepi_device_t device,
                          int32_t value)
{
    zepi_queue_t queue;
    zepi_kernel_t kernel;
    int32_t *memory;
    TEST_OK(zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.usm_allocate(context, device, ZEPI_USM_SHARED, 4, 0, (void **)&memory));
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    *memory = value;
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    const zepi_result_t result = zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_finish(queue));
    value = result == ZEPI_SUCCESS ? *memory : -1;
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.usm_free(context, memory));
    TEST_OK(zepi.release(queue));
    return value;
}

static int32_t run(zepi_module_t module, zepi_device_t device, int32_t value)
{
    return run_kernel(module, "triple_and_offset", device, value);
}

Test(link_devices, all_of_them_share_one_link_of_spirv)
{
    for (zepi_link_method_t method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++) {
        const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
        zepi_module_t objects[] = {test_object(context, "importer"),
                                   test_object(context, "exporter")};
        zepi_module_t module;
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        TEST_OK(zepi.module_link(2, objects, &desc, &module));
        // Native code is shared: one compile as a program, none dynamically.
        cr_assert_eq(ze_cpu.get_count("compile:spirv") - before, method == ZEPI_LINK_PROGRAM);
        for (int i = 0; i < 2; i++)
            cr_assert_eq(run(module, devices[i], 2), 106);
        TEST_OK(zepi.release(module));
        for (int i = 0; i < 2; i++)
            TEST_OK(zepi.release(objects[i]));
    }
}

Test(link_devices, are_those_that_all_objects_have)
{
    zepi_module_t objects[] = {test_object(context, "importer"),
                               compile_for("exporter", devices[1])};
    zepi_module_t module;
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    cr_assert_eq(run(module, devices[1], 2), 106);
    cr_assert_eq(run(module, devices[0], 2), -1);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(objects[i]));
    TEST_OK(zepi.release(module));
}

Test(link_devices, none_in_common_is_an_error)
{
    zepi_module_t objects[] = {compile_for("importer", devices[0]),
                               compile_for("exporter", devices[1])};
    zepi_module_t module;
    TEST_FAILS_SAYING(zepi.module_link(2, objects, NULL, &module), ZEPI_ERROR_INVALID_OBJECT,
                      "no device that all 2 objects have");
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(objects[i]));
}

Test(link_devices, may_have_different_code_of_one_object)
{
    // One object with native code for one device and SPIR-V for both.
    zepi_module_t native = compile_for("exporter", devices[0]);
    zepi_device_image_desc_t images[] = {test_native_image(native, devices[0], ZEPI_MODULE_INPUT),
                                         test_spirv_image("exporter")};
    zepi_module_t input;
    zepi_module_t objects[2] = {test_object(context, "importer"), NULL};
    zepi_module_t module;
    uint32_t count;
    images[0].devices = devices;
    images[0].device_count = 1;
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_compile(input, NULL, &objects[1]));
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(run(module, devices[i], 2), 106);
    // Each device has two images that were linked.
    TEST_OK(zepi.module_get_device_images(module, 0, NULL, &count));
    cr_assert_eq(count, 4);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(native));
    test_native_image_finish(&images[0]);
}

Test(link_devices, builds_for_one_device_each_are_joined_to_one_for_both)
{
    zepi_module_t input = test_input(context, "negate");
    zepi_module_t modules[2];
    zepi_module_t joined;
    zepi_module_info_t info = {.size = sizeof(info)};
    bool is_equal;
    for (int i = 0; i < 2; i++) {
        const zepi_build_desc_t desc = {
            .size = sizeof(desc), .devices = &devices[i], .device_count = 1};
        zepi_device_t served[2] = {NULL, NULL};
        uint32_t count;
        TEST_OK(zepi.module_build(input, &desc, &modules[i]));
        TEST_OK(zepi.module_get_devices(modules[i], 2, served, &count));
        cr_assert(count == 1 && served[0] == devices[i] && !served[1]);
        TEST_OK(zepi.release(served[0]));
        TEST_OK(zepi.module_get_info(modules[i], &info));
        cr_assert_eq(info.device_count, 1);
    }
    TEST_OK(zepi.module_is_equal(modules[0], modules[1], &is_equal));
    cr_assert(!is_equal);
    TEST_OK(zepi.module_join(2, modules, &joined));
    TEST_OK(zepi.module_get_info(joined, &info));
    cr_assert(info.image_count == 2 && info.device_count == 2);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(run_kernel(joined, "negate", devices[i], 2), -2);
    TEST_OK(zepi.release(joined));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(modules[i]));
    TEST_OK(zepi.release(input));
}

Test(link_devices, a_build_links_images_that_import_from_each_other)
{
    const zepi_device_image_desc_t images[] = {
        test_spirv_image("importer"), test_spirv_image("exporter"), test_spirv_image("negate")};
    zepi_module_t input;
    zepi_module_t object;
    zepi_module_t modules[2];
    bool is_equal;
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 3, images, &input));
    TEST_OK(zepi.module_build(input, NULL, &modules[0]));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(run(modules[0], devices[i], 2), 106);
    // The same as in two steps, and known from then on.
    const uint64_t created = ze_cpu.get_count("zeModuleCreate");
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.module_link(1, &object, NULL, &modules[1]));
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), created);
    TEST_OK(zepi.module_is_equal(modules[0], modules[1], &is_equal));
    cr_assert(is_equal);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(modules[i]));
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.release(input));
}

// Every kernel of the module on every device: those that write take a number, the others memory.
static void launch_all(zepi_module_t module, zepi_queue_t *queues, uint32_t kernel_count)
{
    const char *names[32];
    uint32_t count;
    void *memory;
    const int32_t number = 3;
    TEST_OK(zepi.usm_allocate(context, NULL, ZEPI_USM_SHARED, 64, 0, &memory));
    TEST_OK(zepi.module_get_kernel_names(module, 32, names, &count));
    cr_assert_eq(count, kernel_count);
    for (uint32_t i = 0; i < 2 * count; i++) {
        zepi_kernel_t kernel;
        TEST_OK(zepi.module_get_kernel(module, names[i / 2], &kernel));
        const zepi_argument_t argument =
            strncmp(names[i / 2], "write", 5) == 0 ? TEST_VALUE(number) : TEST_POINTER(memory);
        const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
        TEST_OK(zepi.queue_launch(queues[i % 2], &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(queues[i % 2]));
        TEST_OK(zepi.release(kernel));
    }
    TEST_OK(zepi.usm_free(context, memory));
}

Test(link_devices, launch_every_kernel_without_another_build_or_link)
{
    static const char *const diamond[] = {"link_top", "link_left", "link_right", "link_base"};
    zepi_queue_t queues[2];
    zepi_module_t objects[4];
    zepi_module_t input = test_input(context, "twenty_kernels");
    zepi_module_t module;
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queues[i]));
    for (int i = 0; i < 4; i++)
        objects[i] = test_object(context, diamond[i]);
    for (int way = 0; way <= ZEPI_LINK_DYNAMIC; way++) {
        const zepi_build_desc_t desc = {.size = sizeof(desc),
                                        .link_method = (zepi_link_method_t)way};
        if (way == 0)
            TEST_OK(zepi.module_build(input, NULL, &module));
        else
            TEST_OK(zepi.module_link(4, objects, &desc, &module));
        const uint64_t created = ze_cpu.get_count("zeModuleCreate");
        const uint64_t linked = ze_cpu.get_count("zeModuleDynamicLink");
        launch_all(module, queues, way == 0 ? 20 : 3);
        cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), created);
        cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), linked);
        TEST_OK(zepi.release(module));
    }
    for (int i = 0; i < 4; i++)
        TEST_OK(zepi.release(objects[i]));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(queues[i]));
    TEST_OK(zepi.release(input));
}
