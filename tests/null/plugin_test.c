// SPDX-License-Identifier: MIT
// The plugin's calls of a driver, from platform to launch, under the parameter-validation layer.
#include "recorder.h"
#include "test_env.h"
#include "test_plugin.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static struct recorder *recorder;

static void set_up_with(zepi_queue_flags_t flags)
{
    uint32_t count;
    test_env_use_null_driver();
    test_plugin_load();
    // Tracers may be made once the loader came up.
    TEST_OK(zepi.platform_get(0, NULL, &count));
    recorder = recorder_start();
    gear = test_gear_create(flags);
}

static void set_up(void)
{
    set_up_with(ZEPI_QUEUE_IN_ORDER);
}

static void set_up_out_of_order(void)
{
    set_up_with(0);
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
    cr_assert_eq(recorder->live, 0, "%d objects are left in the driver", recorder->live);
}

TestSuite(null_plugin, .init = set_up, .fini = tear_down);

Test(null_plugin, sends_constants_sorted_at_their_real_size_and_no_defaults)
{
    struct sized {
        int8_t a;
        int16_t b;
        int32_t c;
        int64_t d;
    } from = {-7, -300, 70000, INT64_C(5000000000)};
    const float same_as_default = 1.0f;
    const zepi_spec_value_t values[] = {{11, 1, &from.a},
                                        {2, 8, &from.d},
                                        {7, 4, &from.c},
                                        {3, 4, &same_as_default},
                                        {5, 2, &from.b}};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable;
    TEST_OK(zepi.spec_constant_set_many(input, 5, values));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    const struct recorded_module *sent = &recorder->module;
    const uint32_t ids[] = {2, 5, 7, 11};
    const uint64_t masks[] = {UINT64_MAX, 0xffff, 0xffffffff, 0xff};
    const uint64_t expected[] = {(uint64_t)from.d, (uint16_t)from.b, (uint32_t)from.c,
                                 (uint8_t)from.a};
    cr_assert_eq(sent->constant_count, 4);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(sent->ids[i], ids[i]);
        cr_assert_eq(sent->values[i] & masks[i], expected[i]);
        // Copies of the plugin's own, not our variables.
        cr_assert(sent->places[i] < (void *)&from || sent->places[i] >= (void *)(&from + 1));
    }
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(null_plugin, sends_no_constants_if_none_is_set)
{
    zepi_module_t executable = test_executable(gear.context, "scaled_copy");
    cr_assert(!recorder->module.has_constants);
    TEST_OK(zepi.release(executable));
}

Test(null_plugin, sends_options_in_canonical_form_and_builds_the_same_once)
{
    const zepi_build_desc_t first = {.size = sizeof(first),
                                     .options = "  -cl-fast   -D X=\"a  b\"\t",
                                     .flags = ZEPI_BUILD_DEBUG};
    const zepi_build_desc_t same = {.size = sizeof(same), .options = "-cl-fast -D X=\"a  b\" -g"};
    const zepi_build_desc_t other = {.size = sizeof(other), .options = "-cl-fast -D X=\"a b\" -g"};
    zepi_module_t input = test_input(gear.context, "negate");
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, &first, &executable));
    TEST_OK(zepi.release(executable));
    cr_assert_str_eq(recorder->module.flags, "-cl-fast -D X=\"a  b\" -g");
    TEST_OK(zepi.module_build(input, &same, &executable));
    TEST_OK(zepi.release(executable));
    cr_assert_eq(recorder_count(recorder, "zeModuleCreate"), 1);
    TEST_OK(zepi.module_build(input, &other, &executable));
    TEST_OK(zepi.release(executable));
    cr_assert_eq(recorder_count(recorder, "zeModuleCreate"), 2);
    TEST_OK(zepi.release(input));
}

// Launches vector_add once.
static void launch_on(zepi_kernel_t kernel, void *a, void *b, size_t items, size_t group,
                      zepi_event_t *out_event)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(a), TEST_POINTER(a), TEST_POINTER(b)};
    zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, items);
    launch.group_size[0] = group;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, out_event));
}

struct ready {
    zepi_module_t module;
    zepi_kernel_t kernel;
    void *a;
    void *b;
};

static struct ready make_ready(void)
{
    struct ready ready;
    ready.module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(ready.module, "vector_add", &ready.kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, &ready.a));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4096, 0, &ready.b));
    return ready;
}

static void finish(struct ready *ready)
{
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(ready->kernel));
    TEST_OK(zepi.release(ready->module));
    TEST_OK(zepi.usm_free(gear.context, ready->a));
    TEST_OK(zepi.usm_free(gear.context, ready->b));
}

Test(null_plugin, makes_a_kernel_ready_before_the_first_launch)
{
    struct ready ready = make_ready();
    cr_assert(strstr(recorder->calls, "zeModuleCreate zeKernelCreate zeKernelSetIndirectAccess "
                                      "zeKernelGetProperties "),
              "%s", recorder->calls);
    finish(&ready);
}

Test(null_plugin, sets_the_group_size_when_it_differs_from_the_last_launch)
{
    struct ready ready = make_ready();
    recorder_forget(recorder);
    launch_on(ready.kernel, ready.a, ready.b, 64, 16, NULL);
    // The null driver's memory may be in one granule with other memory, so that addresses are set
    // each time; relaunch_test.c counts what else is not.
    cr_assert_str_eq(recorder->calls,
                     "zeCommandListAppendBarrier zeKernelSetArgumentValue "
                     "zeKernelSetArgumentValue zeKernelSetArgumentValue zeKernelSetGroupSize "
                     "zeCommandListAppendLaunchKernel ");
    recorder_forget(recorder);
    launch_on(ready.kernel, ready.a, ready.b, 128, 16, NULL);
    cr_assert_str_eq(recorder->calls, "zeCommandListAppendBarrier zeKernelSetArgumentValue "
                                      "zeKernelSetArgumentValue zeKernelSetArgumentValue "
                                      "zeCommandListAppendLaunchKernel ");
    recorder_forget(recorder);
    launch_on(ready.kernel, ready.a, ready.a, 128, 32, NULL);
    cr_assert_str_eq(recorder->calls,
                     "zeCommandListAppendBarrier zeKernelSetArgumentValue "
                     "zeKernelSetArgumentValue zeKernelSetArgumentValue zeKernelSetGroupSize "
                     "zeCommandListAppendLaunchKernel ");
    finish(&ready);
}

Test(null_out_of_order, orders_nothing_by_itself, .init = set_up_out_of_order, .fini = tear_down)
{
    struct ready ready = make_ready();
    recorder_forget(recorder);
    launch_on(ready.kernel, ready.a, ready.b, 64, 16, NULL);
    launch_on(ready.kernel, ready.a, ready.b, 64, 16, NULL);
    cr_assert_eq(recorder_count(recorder, "zeCommandListAppendBarrier"), 0);
    cr_assert_eq(recorder_count(recorder, "zeCommandListAppendLaunchKernel"), 2);
    finish(&ready);
}

Test(null_plugin, gives_back_every_handle)
{
    struct ready ready = make_ready();
    zepi_event_t event;
    zepi_event_t host_event;
    TEST_OK(zepi.event_create(gear.context, &host_event));
    for (int i = 0; i < 100; i++)
        launch_on(ready.kernel, ready.a, ready.b, 64, 16, NULL);
    launch_on(ready.kernel, ready.a, ready.b, 64, 16, &event);
    TEST_OK(zepi.queue_copy(gear.queue, ready.a, ready.b, 64, (zepi_wait_list_t){&event, 1}, NULL));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(host_event));
    cr_assert_gt(recorder->live, 0);
    finish(&ready);
}
