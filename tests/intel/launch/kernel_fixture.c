// SPDX-License-Identifier: MIT
#include "kernel_fixture.h"

#include <dlfcn.h>
#include <string.h>

struct test_gear gear;
zepi_module_t module;
union kernels_out *out;

void *kernels_symbol(const char *name)
{
    void *found = dlsym(dlopen("libze_loader.so.1", RTLD_NOW), name);
    INTEL_EXPECT(found, "%s is not in the loader", name);
    return found;
}

void kernels_set_up(const char *code)
{
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    module = test_executable(gear.context, code);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(*out), 0,
                              (void **)&out));
    memset(out, 0, sizeof(*out));
}

void kernels_tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

zepi_kernel_t kernels_get(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

void kernels_run(const char *name, uint32_t count, const zepi_argument_t *arguments, size_t items,
                 size_t group)
{
    const zepi_kernel_t kernel = kernels_get(name);
    zepi_launch_desc_t desc = test_launch(kernel, count, arguments, items);
    desc.group_size[0] = group;
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
}

void *kernels_native_list(void)
{
    void *list;
    TEST_OK(zepi.queue_get_native(gear.queue, &list));
    return list;
}

void kernels_finish(void)
{
    TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT,
                               NULL)); // so that zepi has something to wait for
    TEST_OK(zepi.queue_finish(gear.queue));
}

ze_kernel_handle_t kernels_native(zepi_kernel_t kernel)
{
    void *native;
    TEST_OK(zepi.kernel_get_native(kernel, gear.device, &native));
    return native;
}

ze_image_handle_t kernels_make_line(const ze_srgb_ext_desc_t *srgb)
{
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .pNext = srgb,
        .type = ZE_IMAGE_TYPE_1D,
        .format = {.layout =
                       srgb ? ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8 : ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                   .type = srgb ? ZE_IMAGE_FORMAT_TYPE_UNORM : ZE_IMAGE_FORMAT_TYPE_SINT,
                   .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                   .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                   .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
        .width = ITEMS / 4,
        .height = 1,
        .depth = 1};
    zepi_device_info_t info = {.size = sizeof(info)};
    ze_image_handle_t image;
    void *context;
    TEST_OK(zepi.context_get_native(gear.context, &context));
    TEST_OK(zepi.device_get_info(gear.device, &info));
    ZE_OK(ZE(zeImageCreate)(context, info.native_handle, &desc, &image));
    return image;
}

void kernels_launch_on_line(ze_image_handle_t image)
{
    const int more[4] = {100, 200, 300, 400};
    const zepi_argument_t arguments[] = {TEST_VALUE(image), TEST_VALUE(image), TEST_VALUE(more)};
    const zepi_kernel_t kernel = kernels_get("add_line");
    const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, ITEMS / 4);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.release(kernel));
}
