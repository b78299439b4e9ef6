// SPDX-License-Identifier: MIT
//
// Sets arguments on a kernel and launches it, as hosts up to DPC++ 2026.1 do, while each Level Zero
// call and each allocation fails in turn.
#include "walk_ur.h"

#include "launch/kernel.h"
#include "ur/layout/set_arguments.h"

#include <string.h>

enum { ITEMS = 16 };

static struct test_gear gear;
static ur_program_handle_t program;
static int64_t *out;

static zepi_result_t set_and_launch(void)
{
    ur_kernel_handle_t kernel = NULL;
    const size_t one = 1;
    const int64_t values[4] = {1, 2, 3, 4};
    static const size_t sizes[] = {1, 2, 4, 8, 4, 16, 16};
    zepi_result_t result;
    memset(out, 0, 8 * sizeof(*out));
    STEP(told(zepi_urKernelCreate(program, "store_values", &kernel)));
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        STEP(told(zepi_urKernelSetArgValue(kernel, i, sizes[i], NULL, values)));
    STEP(told(zepi_urKernelSetArgPointer(kernel, 7, NULL, out)));
    STEP(told(zepi_urEnqueueKernelLaunch((ur_queue_handle_t)gear.queue, kernel, 1, NULL, &one, NULL,
                                         NULL, 0, NULL, NULL)));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(out[0] == 1 && out[3] == 1 && out[7] == 2);
out:
    walk_settle(gear.queue);
    walk_release(kernel);
    return result;
}

static ur_program_handle_t build(const char *name)
{
    const zepi_device_image_desc_t image = test_spirv_image(name);
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    ur_program_handle_t built;
    WALK_EXPECT(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL, &built) ==
                UR_RESULT_SUCCESS);
    WALK_EXPECT(zepi_urProgramBuild(context, built, NULL) == UR_RESULT_SUCCESS);
    return built;
}

// Launches of a kernel without arguments have no list, whose lock they would wait for.
static void launch_without_arguments(void)
{
    const ur_program_handle_t empty = build("empty");
    const size_t one = 1;
    ur_kernel_handle_t kernel;
    WALK_EXPECT(zepi_urKernelCreate(empty, "empty", &kernel) == UR_RESULT_SUCCESS);
    WALK_EXPECT(zepi_urKernelSetArgValue(kernel, 0, sizeof(one), NULL, &one) ==
                UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    WALK_EXPECT(zepi_urEnqueueKernelLaunch((ur_queue_handle_t)gear.queue, kernel, 1, NULL, &one,
                                           NULL, NULL, 0, NULL, NULL) == UR_RESULT_SUCCESS);
    WALK_EXPECT(((struct zepi_kernel *)kernel)->front_end_state == NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    walk_release(kernel);
    walk_release(empty);
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 8 * sizeof(*out), 0,
                              (void **)&out));
    launch_without_arguments();
    program = build("arguments");
    TEST_OK(set_and_launch());
    walk_keep();
    walk_calls("set arguments, calls", set_and_launch, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("set arguments, allocations", set_and_launch);
    walk_release(program);
    TEST_OK(zepi.usm_free(gear.context, out));
    test_gear_destroy(&gear);
    return 0;
}
