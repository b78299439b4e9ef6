// SPDX-License-Identifier: MIT
//
// Compiles, links, joins and dispatches, while each Level Zero call and each allocation fails in
// turn.
#include "walk.h"

static struct test_gear gear;
static zepi_device_image_desc_t plain;
static zepi_device_image_desc_t parts[2];
static zepi_link_method_t method;
static float *data;
static float gain;
static const char unit;

static zepi_launch_desc_t describe(const char *kernel_name, const zepi_argument_t *argument)
{
    zepi_launch_desc_t desc = test_launch(NULL, 1, argument, 4);
    desc.kernel_name = kernel_name;
    return desc;
}

static zepi_result_t dispatch(void)
{
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    const zepi_spec_value_t value = {0, sizeof(gain), &gain};
    const zepi_argument_t argument = TEST_POINTER(data);
    zepi_launch_desc_t desc = describe("shift", &argument);
    zepi_result_t result;
    gain = (float)walk_build_anew();
    desc.unit = &unit;
    desc.spec_values = &value;
    desc.spec_value_count = 1;
    STEP(zepi.context_create(1, &gear.device, &context));
    STEP(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.unit_register(&unit, 1, &plain));
    data[0] = 1;
    STEP(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(data[0] == 1 + 2 * gain);
out:
    walk_settle(queue);
    zepi.unit_unregister(&unit);
    walk_release(queue);
    walk_release(context);
    return result;
}

static zepi_result_t link_and_run(void)
{
    zepi_module_t inputs[2] = {NULL, NULL};
    zepi_module_t objects[2] = {NULL, NULL};
    zepi_module_t linked = NULL;
    zepi_module_t joined = NULL;
    zepi_queue_t queue = NULL; // its own: a queue remembers the kernel of its last launch by name
    const zepi_argument_t argument = TEST_POINTER(data);
    zepi_launch_desc_t desc = describe("amplify", &argument);
    const zepi_build_desc_t build = {.size = sizeof(build), .link_method = method};
    zepi_result_t result;
    gain = (float)walk_build_anew();
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    for (int i = 0; i < 2; i++) {
        STEP(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &parts[i], &inputs[i]));
        if (i == 0)
            STEP(zepi.spec_constant_set(inputs[0], 0, sizeof(gain), &gain));
        STEP(zepi.module_compile(inputs[i], NULL, &objects[i]));
    }
    STEP(zepi.module_link(2, objects, &build, &linked));
    STEP(zepi.module_join(1, &linked, &joined));
    desc.module = joined;
    data[0] = 1;
    STEP(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(data[0] == gain + 1);
out:
    walk_settle(queue);
    walk_release(queue);
    for (int i = 0; i < 2; i++) {
        walk_release(inputs[i]);
        walk_release(objects[i]);
    }
    walk_release(linked);
    walk_release(joined);
    TEST_OK(zepi.cache_clear(gear.context));
    return result;
}

int main(void)
{
    walk_begin();
    plain = test_spirv_image("example_plain");
    parts[0] = test_spirv_image("example_kernel");
    parts[1] = test_spirv_image("example_library");
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, (void **)&data));
    TEST_OK(dispatch());
    TEST_OK(link_and_run());
    walk_keep();
    walk_calls("dispatch, calls", dispatch, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("dispatch, allocations", dispatch);
    for (method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++) {
        TEST_OK(link_and_run());
        walk_calls(method == ZEPI_LINK_PROGRAM ? "program, calls" : "dynamic, calls", link_and_run,
                   "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
        walk_allocations(method == ZEPI_LINK_PROGRAM ? "program, allocations"
                                                     : "dynamic, allocations",
                         link_and_run);
    }
    TEST_OK(zepi.usm_free(gear.context, data));
    test_gear_destroy(&gear);
    return 0;
}
