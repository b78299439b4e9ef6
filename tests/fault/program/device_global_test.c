// SPDX-License-Identifier: MIT
//
// Builds and links programs with variables, which have code of their own, while each Level Zero
// call and each allocation fails in turn.
#include "walk_ur.h"

static struct test_gear gear;
static zepi_device_image_desc_t image;
static int *out;

// One step of 10 from the initial value.
static zepi_result_t run(ur_program_handle_t program)
{
    const int which = 1;
    const size_t items = 1;
    const ur_exp_kernel_arg_properties_t arguments[] = {
        {.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
         .type = UR_EXP_KERNEL_ARG_TYPE_VALUE,
         .index = 0,
         .size = sizeof(which),
         .value.value = &which},
        {.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
         .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
         .index = 1,
         .value.pointer = out}};
    ur_kernel_handle_t kernel = NULL;
    zepi_result_t result;
    STEP(told(zepi_urKernelCreate(program, "add_step", &kernel)));
    STEP(told(zepi_urEnqueueKernelLaunchWithArgsExp((ur_queue_handle_t)gear.queue, kernel, 1, NULL,
                                                    &items, NULL, 2, arguments, NULL, 0, NULL,
                                                    NULL)));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(out[0] == 110 && out[1] == 1);
out:
    walk_settle(gear.queue);
    walk_release(kernel);
    return result;
}

static zepi_result_t build(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    ur_program_handle_t program = NULL;
    zepi_result_t result;
    STEP(told(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL, &program)));
    STEP(told(zepi_urProgramBuild(context, program, NULL)));
    STEP(run(program));
out:
    walk_release(program);
    walk_settle(gear.queue);
    TEST_OK(zepi.cache_clear(gear.context));
    return result;
}

static zepi_result_t link_one(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    ur_program_handle_t object = NULL;
    ur_program_handle_t program = NULL;
    zepi_result_t result;
    STEP(told(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL, &object)));
    STEP(told(zepi_urProgramCompile(context, object, NULL)));
    STEP(told(zepi_urProgramLink(context, 1, &object, NULL, &program)));
    STEP(run(program));
out:
    walk_release(object);
    walk_release(program);
    walk_settle(gear.queue);
    TEST_OK(zepi.cache_clear(gear.context));
    return result;
}

int main(void)
{
    walk_begin();
    image = test_spirv_image("device_global");
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 2 * sizeof(int), 0,
                              (void **)&out));
    TEST_OK(build());
    TEST_OK(link_one());
    walk_keep();
    walk_calls("build, calls", build, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("build, allocations", build);
    walk_calls("link, calls", link_one, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("link, allocations", link_one);
    TEST_OK(zepi.usm_free(gear.context, out));
    test_gear_destroy(&gear);
    return 0;
}
