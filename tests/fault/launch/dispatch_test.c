// SPDX-License-Identifier: MIT
//
// Launches by name from executables, objects and inputs of a unit, chosen by a selector, and with
// emulated constants, and modules that are joined and imported, while each Level Zero call and each
// allocation fails in turn.
#include "walk.h"

#include <string.h>

static struct test_gear gear;
static int32_t *memory; // four numbers, four results
static const char unit;

// Images of scaled_copy: an executable made with 41, an object made with 42, and SPIR-V; and one
// whose constant 7 is emulated. The executable that does not say so, as an input beside SPIR-V.
static const int32_t made_with[2] = {41, 42};
static const zepi_spec_value_t baked[2] = {{7, 4, &made_with[0]}, {7, 4, &made_with[1]}};
static zepi_device_image_desc_t images[3];
static zepi_device_image_desc_t emulated_image;
static zepi_device_image_desc_t silent_images[2];

static zepi_launch_desc_t describe(const zepi_argument_t arguments[2])
{
    zepi_launch_desc_t desc = test_launch(NULL, 2, arguments, 4);
    desc.kernel_name = "scaled_copy_int";
    desc.unit = &unit;
    return desc;
}

static zepi_result_t launch(zepi_queue_t queue, zepi_launch_desc_t *desc, int32_t value)
{
    const zepi_spec_value_t spec = {7, sizeof(value), &value};
    zepi_result_t result;
    memset(memory + 4, 0, 16);
    desc->spec_values = &spec;
    desc->spec_value_count = 1;
    STEP(zepi.queue_launch(queue, desc, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(queue));
    for (int i = 0; i < 4; i++)
        WALK_EXPECT(memory[4 + i] == memory[i] * value);
out:
    walk_settle(queue);
    return result;
}

static zepi_device_image_t take_second(void *data, const zepi_device_image_t *list, uint32_t count)
{
    (void)data;
    return count > 1 ? list[1] : NULL;
}

// From each state once, twice from the second image, and with a value that is set on the unit. Each
// round builds.
static zepi_result_t dispatch(void)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 4)};
    zepi_launch_desc_t desc = describe(arguments);
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    zepi_module_t input = NULL;
    bool is_registered = false;
    bool has;
    zepi_result_t result;
    const int32_t last = walk_build_anew();
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.unit_register(&unit, 3, images));
    is_registered = true;
    STEP(zepi.unit_has_any_module(&unit, context, &has));
    STEP(launch(queue, &desc, 41));
    STEP(launch(queue, &desc, 42));
    STEP(launch(queue, &desc, last));
    desc.selector = take_second;
    STEP(launch(queue, &desc, 42));
    desc.selector = NULL;
    STEP(zepi.unit_get_module(&unit, context, ZEPI_MODULE_INPUT, &input));
    STEP(zepi.spec_constant_set(input, 7, sizeof(last), &last));
    STEP(launch(queue, &desc, last));
out:
    if (is_registered)
        TEST_OK(zepi.unit_unregister(&unit));
    walk_release(input);
    walk_release(queue);
    walk_release(context);
    return result;
}

// Emulated: from the unit, beside a module, as a kernel object, and built as the policy says.
static zepi_result_t emulate(void)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 4)};
    const zepi_build_desc_t build = {.size = sizeof(build), .native_policy = ZEPI_NATIVE_EMULATE};
    zepi_launch_desc_t desc = describe(arguments);
    zepi_device_image_desc_t input_image = emulated_image;
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    zepi_module_t input = NULL;
    zepi_module_t module = NULL;
    zepi_kernel_t kernel = NULL;
    bool is_registered = false;
    zepi_result_t result;
    input_image.state = ZEPI_MODULE_INPUT;
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.unit_register(&unit, 1, &emulated_image));
    is_registered = true;
    for (int32_t value = 2; value < 5; value++)
        STEP(launch(queue, &desc, value));
    STEP(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &input_image, &input));
    STEP(zepi.module_build(input, &build, &module));
    desc.module = module;
    STEP(launch(queue, &desc, 5));
    STEP(zepi.module_get_kernel(module, "scaled_copy_int", &kernel));
    desc.kernel = kernel;
    STEP(launch(queue, &desc, 6));
out:
    if (is_registered)
        TEST_OK(zepi.unit_unregister(&unit));
    walk_release(kernel);
    walk_release(module);
    walk_release(input);
    walk_release(queue);
    walk_release(context);
    return result;
}

// Two executables joined, one of them around a handle, and their names and logs asked for.
static zepi_result_t join_and_import(void)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 4)};
    zepi_launch_desc_t desc = describe(arguments);
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    zepi_module_t modules[2] = {NULL, NULL};
    zepi_module_t joined = NULL;
    zepi_module_t listed[4] = {NULL};
    uint32_t count = 0;
    void *handle;
    zepi_result_t result;
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.module_create(context, ZEPI_MODULE_EXECUTABLE, 1, &images[2], &modules[0]));
    STEP(zepi.module_get_native(modules[0], gear.device, &handle));
    STEP(zepi.module_create_from_native(context, gear.device, handle, ZEPI_MODULE_EXECUTABLE,
                                        ZEPI_OWNERSHIP_KEEP, &modules[1]));
    STEP(zepi.module_join(2, modules, &joined));
    STEP(zepi.context_get_modules(context, ZEPI_MODULE_EXECUTABLE, 4, listed, &count));
    WALK_EXPECT(count == 3);
    desc.module = joined;
    STEP(launch(queue, &desc, 41));
out:
    for (uint32_t i = 0; i < 4; i++)
        walk_release(listed[i]);
    walk_release(joined);
    walk_release(modules[1]);
    walk_release(modules[0]);
    walk_release(queue);
    walk_release(context);
    return result;
}

// Native code whose values are not known, beside SPIR-V: a unit's launch and a build with another
// value, and the images of that build joined with one of another value.
static zepi_result_t build_beside_silent_code(void)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 4)};
    zepi_launch_desc_t desc = describe(arguments);
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    zepi_module_t input = NULL;
    zepi_module_t modules[2] = {NULL, NULL};
    zepi_module_t joined = NULL;
    zepi_device_image_t listed[2] = {NULL, NULL};
    zepi_device_image_info_t info = {.size = sizeof(info)};
    uint32_t count = 0;
    zepi_result_t result;
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.unit_register(&unit, 2, silent_images));
    STEP(launch(queue, &desc, made_with[0]));
    STEP(zepi.unit_get_module(&unit, context, ZEPI_MODULE_INPUT, &input));
    for (int i = 0; i < 2; i++) {
        STEP(zepi.spec_constant_set(input, 7, 4, &made_with[i]));
        STEP(zepi.module_build(input, NULL, &modules[i]));
    }
    STEP(zepi.module_join(2, modules, &joined));
    STEP(zepi.module_get_device_images(joined, 2, listed, &count));
    WALK_EXPECT(count == 2);
    for (int i = 0; i < 2; i++) {
        STEP(zepi.device_image_get_info(listed[i], &info));
        WALK_EXPECT(info.bytes && info.state == ZEPI_MODULE_EXECUTABLE);
    }
out:
    walk_settle(queue);
    zepi.unit_unregister(&unit);
    for (int i = 0; i < 2; i++) {
        walk_release(listed[i]);
        walk_release(modules[i]);
    }
    walk_release(joined);
    walk_release(input);
    walk_release(queue);
    walk_release(context);
    return result;
}

static zepi_device_image_desc_t native_image(zepi_module_t module, zepi_module_state_t state,
                                             const zepi_spec_value_t *value)
{
    zepi_device_image_desc_t image = test_native_image(module, gear.device, state);
    image.baked_values = value;
    image.baked_value_count = value != NULL;
    TEST_OK(zepi.release(module));
    return image;
}

static void make_images(void)
{
    static const zepi_emulated_constant_t constant = {7, ZEPI_SCALAR_INT32, NULL};
    static const char *const kernel_name = "scaled_copy_int";
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t module;
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &made_with[0]));
    TEST_OK(zepi.module_build(input, NULL, &module));
    images[2] = native_image(module, ZEPI_MODULE_EXECUTABLE, &baked[0]);
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &made_with[1]));
    TEST_OK(zepi.module_compile(input, NULL, &module));
    images[1] = native_image(module, ZEPI_MODULE_OBJECT, &baked[1]);
    images[0] = test_spirv_image("scaled_copy");
    silent_images[0] = images[2];
    silent_images[0].state = ZEPI_MODULE_INPUT;
    silent_images[0].baked_value_count = 0;
    silent_images[1] = images[0];
    module = test_executable(gear.context, "emulated_copy");
    emulated_image = native_image(module, ZEPI_MODULE_EXECUTABLE, NULL);
    emulated_image.emulated_constants = &constant;
    emulated_image.emulated_constant_count = 1;
    emulated_image.emulated_kernels = &kernel_name;
    emulated_image.emulated_kernel_count = 1;
    TEST_OK(zepi.release(input));
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    make_images();
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 32, 0, (void **)&memory));
    for (int32_t i = 0; i < 4; i++)
        memory[i] = i + 1;
    TEST_OK(dispatch());
    walk_keep();
    walk_calls("dispatch, calls", dispatch, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("dispatch, unknown failures", dispatch, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("dispatch, allocations", dispatch);
    TEST_OK(emulate());
    walk_calls("emulation, calls", emulate, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_allocations("emulation, allocations", emulate);
    TEST_OK(join_and_import());
    walk_calls("joined, calls", join_and_import, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_allocations("joined, allocations", join_and_import);
    TEST_OK(build_beside_silent_code());
    walk_calls("silent code, calls", build_beside_silent_code,
               "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("silent code, allocations", build_beside_silent_code);
    TEST_OK(zepi.usm_free(gear.context, memory));
    for (int i = 1; i < 3; i++)
        test_native_image_finish(&images[i]);
    test_native_image_finish(&emulated_image);
    test_gear_destroy(&gear);
    return 0;
}
