// SPDX-License-Identifier: MIT
#include "build_and_run.h"

#define ITEMS 64

struct build_and_run build_and_run_with;

static void check_numbers(const int32_t *in, const int32_t *out)
{
    for (int i = 0; i < ITEMS; i++)
        WALK_EXPECT(in[i] == 7 && out[i] == 7 * build_and_run_with.constant);
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
    if (build_and_run_with.queue_flags & ZEPI_QUEUE_PROFILING)
        STEP(zepi.event_get_times(launched, &times));
    STEP(zepi.queue_finish(queue));
    check_numbers(in, out);
    check_numbers(in, copy);
out:
    // All commands are complete before their memory is freed.
    walk_settle(queue);
    walk_release(launched);
    walk_release(copied);
    if (in)
        zepi.usm_free(context, in);
    if (out)
        zepi.usm_free(context, out);
    return result;
}

zepi_result_t build_and_run(void)
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
    if (!build_and_run_with.is_constant_kept)
        build_and_run_with.constant = walk_build_anew();
    STEP(zepi.platform_get(1, &platform, &count));
    STEP(zepi.device_get(platform, 1, &device, &count));
    STEP(zepi.context_create(1, &device, &context));
    STEP(zepi.queue_create(context, device, build_and_run_with.queue_flags, &queue));
    STEP(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &build_and_run_with.image, &input));
    const int32_t constant = build_and_run_with.constant;
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
