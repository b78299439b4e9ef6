// SPDX-License-Identifier: MIT
//
// Compiles two objects, links them and runs a kernel, while each Level Zero call and each
// allocation fails in turn.
#include "test_env.h"
#include "walk.h"

#include <stdlib.h>

static int32_t constant;
static zepi_link_method_t method;
static zepi_device_image_desc_t images[2];
static zepi_context_t context;
static zepi_device_t device;
static zepi_queue_t queue;

static zepi_result_t compile(int index, zepi_module_t *out_object)
{
    zepi_module_t input = NULL;
    zepi_result_t result;
    STEP(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &images[index], &input));
    STEP(zepi.spec_constant_set(input, 1, sizeof(constant), &constant));
    STEP(zepi.module_compile(input, NULL, out_object));
out:
    walk_release(input);
    return result;
}

static zepi_result_t run(zepi_module_t module)
{
    zepi_kernel_t kernel = NULL;
    int32_t *memory = NULL;
    zepi_result_t result;
    STEP(zepi.module_get_kernel(module, "show_both", &kernel));
    STEP(zepi.usm_allocate(context, device, ZEPI_USM_SHARED, 12, 0, (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    STEP(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(memory[0] == constant && memory[1] == 50 && memory[2] == constant);
out:
    walk_settle(queue);
    walk_release(kernel);
    if (memory)
        zepi.usm_free(context, memory);
    return result;
}

static zepi_result_t load(zepi_module_t linked)
{
    zepi_module_t loaded = NULL;
    void *bytes = NULL;
    void *handle;
    size_t size_bytes = 0;
    zepi_result_t result;
    STEP(zepi.module_get_native_binary(linked, device, &size_bytes, NULL));
    bytes = malloc(size_bytes);
    STEP(zepi.module_get_native_binary(linked, device, &size_bytes, bytes));
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = ZEPI_MODULE_EXECUTABLE,
                                            .bytes = bytes,
                                            .size_bytes = size_bytes};
    STEP(zepi.module_create(context, ZEPI_MODULE_EXECUTABLE, 1, &image, &loaded));
    STEP(run(loaded));
    STEP(zepi.module_get_native(linked, device, &handle));
out:
    walk_release(loaded);
    free(bytes);
    return result;
}

static zepi_result_t compile_and_link(void)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_platform_t platform = NULL;
    zepi_module_t objects[2] = {NULL, NULL};
    zepi_module_t module = NULL;
    uint32_t count;
    zepi_result_t result;
    constant = walk_build_anew();
    context = NULL;
    device = NULL;
    queue = NULL;
    STEP(zepi.platform_get(1, &platform, &count));
    STEP(zepi.device_get(platform, 1, &device, &count));
    STEP(zepi.context_create(1, &device, &context));
    STEP(zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(compile(0, &objects[0]));
    STEP(compile(1, &objects[1]));
    STEP(zepi.module_link(2, objects, &desc, &module));
    STEP(run(module));
    STEP(load(module));
out:
    walk_release(module);
    walk_release(objects[0]);
    walk_release(objects[1]);
    walk_release(queue);
    walk_release(context);
    walk_release(device);
    walk_release(platform);
    return result;
}

int main(void)
{
    walk_begin();
    images[0] = test_spirv_image("link_constants");
    images[1] = test_spirv_image("link_plain_base");
    method = ZEPI_LINK_DYNAMIC;
    TEST_OK(compile_and_link());
    walk_calls("dynamic, calls", compile_and_link, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("dynamic, allocations", compile_and_link);
    method = ZEPI_LINK_PROGRAM;
    walk_calls("program, calls", compile_and_link, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("program, allocations", compile_and_link);
    return 0;
}
