// SPDX-License-Identifier: MIT
//
// Builds one module and runs one kernel, while each Level Zero call and each allocation fails in
// turn.
#include "test_env.h"
#include "walk.h"

#define ITEMS 64

// Each round has a constant of its own, so that every round builds.
static int32_t constant = 1;
static zepi_image_desc_t image;
static zepi_queue_flags_t queue_flags;

static void check_numbers(const int32_t *in, const int32_t *out)
{
    for (int i = 0; i < ITEMS; i++)
        WALK_EXPECT(in[i] == 7 && out[i] == 7 * constant);
}

static zepi_result_t run(zepi_context_t context, zepi_device_t device, zepi_queue_t queue,
                         zepi_kernel_t kernel)
{
    int32_t *in = NULL;
    int32_t *out = NULL;
    int32_t copy[ITEMS];
    zepi_event_t launched = NULL;
    zepi_event_t copied = NULL;
    const int32_t seven = 7;
    zepi_event_times_t times = {.size = sizeof(times)};
    zepi_result_t result;
    STEP(zepi.usm_allocate(context, device, ZEPI_USM_SHARED, sizeof(copy), 0, (void **)&in));
    STEP(zepi.usm_allocate(context, device, ZEPI_USM_SHARED, sizeof(copy), 0, (void **)&out));
    STEP(zepi.queue_fill(queue, in, &seven, sizeof(seven), sizeof(copy), TEST_NO_WAIT, NULL));
    STEP(zepi.queue_barrier(queue, TEST_NO_WAIT, NULL));
    const zepi_argument_t arguments[] = {TEST_POINTER(in), TEST_POINTER(out)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, ITEMS);
    STEP(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, &launched));
    STEP(
        zepi.queue_copy(queue, copy, out, sizeof(copy), (zepi_wait_list_t){&launched, 1}, &copied));
    STEP(zepi.event_wait(1, &copied, UINT64_MAX));
    if (queue_flags & ZEPI_QUEUE_PROFILING)
        STEP(zepi.event_get_times(launched, &times));
    STEP(zepi.queue_finish(queue));
    check_numbers(in, out);
    check_numbers(in, copy);
out:
    // Whatever was enqueued is over before its memory goes.
    walk_settle(queue);
    walk_release(launched);
    walk_release(copied);
    if (in)
        zepi.usm_free(context, in);
    if (out)
        zepi.usm_free(context, out);
    return result;
}

static zepi_result_t build_and_run(void)
{
    zepi_platform_t platform = NULL;
    zepi_device_t device = NULL;
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    zepi_kernel_t kernel = NULL;
    uint32_t count;
    zepi_result_t result;
    constant++;
    STEP(zepi.platform_get(1, &platform, &count));
    STEP(zepi.device_get(platform, 1, &device, &count));
    STEP(zepi.context_create(1, &device, &context));
    STEP(zepi.queue_create(context, device, queue_flags, &queue));
    STEP(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input));
    STEP(zepi.spec_constant_set(input, 7, sizeof(constant), &constant));
    STEP(zepi.module_build(input, NULL, &executable));
    STEP(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    STEP(run(context, device, queue, kernel));
out:
    walk_release(kernel);
    walk_release(executable);
    walk_release(input);
    walk_release(queue);
    walk_release(context);
    walk_release(device);
    walk_release(platform);
    return result;
}

int main(void)
{
    walk_begin();
    image = test_spirv_image("scaled_copy");
    queue_flags = ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING;
    TEST_OK(build_and_run());
    walk_calls("in order, calls", build_and_run, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_allocations("in order, allocations", build_and_run);
    queue_flags = ZEPI_QUEUE_PROFILING;
    walk_calls("out of order, calls", build_and_run, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("out of order, allocations", build_and_run);
    return 0;
}
