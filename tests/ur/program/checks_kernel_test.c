// SPDX-License-Identifier: MIT
// Refusals of kernels and launches.
#include "checks.h"

#include <criterion/criterion.h>

TestSuite(checks_kernel, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG UR_RESULT_ERROR_INVALID_KERNEL
#define WRONG_DEVICE UR_RESULT_ERROR_INVALID_DEVICE
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER

static const size_t size_1[3] = {1, 1, 1};
static const size_t no_offset[3];

Test(checks_kernel, of_its_creation)
{
    ur_kernel_handle_t *const out = OUT(ur_kernel_handle_t);
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, UR_RESULT_ERROR_INVALID_PROGRAM,
                   urKernelCreate(handle, "vector_add", out));
    REFUSES(NULL_POINTER, urKernelCreate(own.program, NULL, out));
    REFUSES(NULL_POINTER, urKernelCreate(own.program, "vector_add", NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_NAME, urKernelCreate(own.program, "vector_sub", out));
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_NAME, urKernelCreate(own.program, "", out));
    REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
            urKernelCreate(own.input, "vector_add", out));
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG, urKernelRetain(handle));
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG, urKernelRelease(handle));
}

Test(checks_kernel, of_queries)
{
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetInfo(handle, UR_KERNEL_INFO_NUM_ARGS, 4, OUT(void), NULL));
    REFUSES_INFO(ur_kernel_info_t, UR_KERNEL_INFO_NUM_ARGS, UR_KERNEL_INFO_SPILL_MEM_SIZE,
                 urKernelGetInfo(own.kernel, query, size, value, out_size));
    const ur_kernel_group_info_t group = UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE;
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetGroupInfo(handle, gear.device, group, 8, OUT(void), NULL));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urKernelGetGroupInfo(own.kernel, handle, group, 8, OUT(void), NULL));
    REFUSES(WRONG_DEVICE,
            urKernelGetGroupInfo(other.kernel, gear.device, group, 8, OUT(void), NULL));
    REFUSES_INFO(ur_kernel_group_info_t, group,
                 UR_KERNEL_GROUP_INFO_COMPILE_MAX_LINEAR_WORK_GROUP_SIZE,
                 urKernelGetGroupInfo(own.kernel, gear.device, query, size, value, out_size));
    const ur_kernel_sub_group_info_t sub_group = UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE;
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetSubGroupInfo(handle, gear.device, sub_group, 4, OUT(void), NULL));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urKernelGetSubGroupInfo(own.kernel, handle, sub_group, 4, OUT(void), NULL));
    REFUSES_INFO(ur_kernel_sub_group_info_t, sub_group,
                 UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL,
                 urKernelGetSubGroupInfo(own.kernel, gear.device, query, size, value, out_size));
}

Test(checks_kernel, of_attributes_of_execution)
{
    const ur_bool_t yes = true;
    const ur_kernel_cache_config_t unknown =
        (ur_kernel_cache_config_t)(UR_KERNEL_CACHE_CONFIG_LARGE_DATA + 1);
    const ur_kernel_exec_info_t indirect = UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS;
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelSetExecInfo(handle, indirect, sizeof(yes), NULL, &yes));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urKernelSetExecInfo(own.kernel,
                                (ur_kernel_exec_info_t)(UR_KERNEL_EXEC_INFO_CACHE_CONFIG + 1),
                                sizeof(yes), NULL, &yes));
    REFUSES(NULL_POINTER, urKernelSetExecInfo(own.kernel, indirect, sizeof(yes), NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urKernelSetExecInfo(own.kernel, UR_KERNEL_EXEC_INFO_CACHE_CONFIG, sizeof(unknown), NULL,
                                &unknown));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urKernelSetExecInfo(own.kernel, UR_KERNEL_EXEC_INFO_CACHE_CONFIG, 1, NULL, &unknown));
}

Test(checks_kernel, of_native_handles)
{
    ur_native_handle_t native;
    ur_kernel_handle_t *const out = OUT(ur_kernel_handle_t);
    UR_OK(urKernelGetNativeHandle(own.kernel, &native));
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urKernelGetNativeHandle(own.kernel, NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, UR_RESULT_ERROR_INVALID_CONTEXT,
                   urKernelCreateWithNativeHandle(native, handle, own.program, NULL, out));
    // A handle alone does not tell its arguments.
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, UR_RESULT_ERROR_INVALID_PROGRAM,
                   urKernelCreateWithNativeHandle(native, gear.context, handle, NULL, out));
    REFUSES(NULL_POINTER,
            urKernelCreateWithNativeHandle(native, gear.context, own.program, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_CONTEXT,
            urKernelCreateWithNativeHandle(native, gear.context, other.program, NULL, out));
}

Test(checks_kernel, of_suggested_sizes)
{
    size_t *const out = OUT(size_t);
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetSuggestedLocalWorkSize(handle, own.queue, 1, no_offset, size_1, out));
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
        urKernelGetSuggestedLocalWorkSize(own.kernel, handle, 1, no_offset, size_1, out));
    REFUSES(NULL_POINTER,
            urKernelGetSuggestedLocalWorkSize(own.kernel, own.queue, 1, NULL, size_1, out));
    REFUSES(NULL_POINTER,
            urKernelGetSuggestedLocalWorkSize(own.kernel, own.queue, 1, no_offset, NULL, out));
    REFUSES(NULL_POINTER,
            urKernelGetSuggestedLocalWorkSize(own.kernel, own.queue, 1, no_offset, size_1, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            urKernelGetSuggestedLocalWorkSize(own.kernel, own.queue, 0, no_offset, size_1, out));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            urKernelGetSuggestedLocalWorkSize(own.kernel, own.queue, 4, no_offset, size_1, out));
    REFUSES(WRONG,
            urKernelGetSuggestedLocalWorkSize(other.kernel, own.queue, 1, no_offset, size_1, out));
    ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, own.usm);
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelGetSuggestedLocalWorkSizeWithArgs(handle, own.queue, 1, no_offset,
                                                             size_1, 1, &argument, out));
    REFUSES(NULL_POINTER, urKernelGetSuggestedLocalWorkSizeWithArgs(
                              own.kernel, own.queue, 1, no_offset, size_1, 1, NULL, out));
    argument.type = (ur_exp_kernel_arg_type_t)(UR_EXP_KERNEL_ARG_TYPE_SAMPLER + 1);
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urKernelGetSuggestedLocalWorkSizeWithArgs(own.kernel, own.queue, 1, no_offset, size_1,
                                                      1, &argument, out));
}

Test(checks_kernel, of_cooperative_groups)
{
    uint32_t *const out = OUT(uint32_t);
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   urKernelSuggestMaxCooperativeGroupCount(handle, gear.device, 1, size_1, 0, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urKernelSuggestMaxCooperativeGroupCount(own.kernel, handle, 1, size_1, 0, out));
    REFUSES(NULL_POINTER,
            urKernelSuggestMaxCooperativeGroupCount(own.kernel, gear.device, 1, NULL, 0, out));
    REFUSES(NULL_POINTER,
            urKernelSuggestMaxCooperativeGroupCount(own.kernel, gear.device, 1, size_1, 0, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            urKernelSuggestMaxCooperativeGroupCount(own.kernel, gear.device, 0, size_1, 0, out));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            urKernelSuggestMaxCooperativeGroupCount(own.kernel, gear.device, 4, size_1, 0, out));
    REFUSES(WRONG_DEVICE,
            urKernelSuggestMaxCooperativeGroupCount(other.kernel, gear.device, 1, size_1, 0, out));
}

// vector_add's three arguments, of which one test changes one.
static ur_exp_kernel_arg_properties_t arguments[3];

static void set_arguments(void)
{
    for (uint32_t i = 0; i < 3; i++)
        arguments[i] = UR_POINTER(i, own.usm);
}

static ur_result_t launch(ur_queue_handle_t queue, ur_kernel_handle_t kernel, uint32_t work_dim,
                          const size_t *global_size, const size_t *local_size,
                          const ur_kernel_launch_ext_properties_t *properties)
{
    return urEnqueueKernelLaunchWithArgsExp(queue, kernel, work_dim, NULL, global_size, local_size,
                                            3, arguments, properties, 0, NULL,
                                            OUT(ur_event_handle_t));
}

Test(checks_kernel, of_launches)
{
    set_arguments();
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
                   launch(handle, own.kernel, 1, size_1, NULL, NULL));
    REFUSES_HANDLE(KERNEL, ur_kernel_handle_t, WRONG,
                   launch(own.queue, handle, 1, size_1, NULL, NULL));
    REFUSES(WRONG, launch(own.queue, other.kernel, 1, size_1, NULL, NULL));
    REFUSES(NULL_POINTER, launch(own.queue, own.kernel, 1, NULL, NULL, NULL));
    REFUSES_WAIT_LISTS(urEnqueueKernelLaunchWithArgsExp(own.queue, own.kernel, 1, NULL, size_1,
                                                        NULL, 3, arguments, NULL, wait_count,
                                                        wait_list, OUT(ur_event_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            launch(own.queue, own.kernel, 0, size_1, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
            launch(own.queue, own.kernel, 4, size_1, NULL, NULL));
    for (uint32_t i = 0; i < 3; i++) {
        size_t size[3] = {8, 8, 8};
        size[i] = 0;
        REFUSES(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                launch(own.queue, own.kernel, 3, (const size_t[]){8, 8, 8}, size, NULL));
    }
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
            launch(own.queue, own.kernel, 1, (const size_t[]){8}, (const size_t[]){3}, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
            launch(own.queue, own.kernel, 1, (const size_t[]){1 << 20}, (const size_t[]){1 << 20},
                   NULL));
    // The number of groups is too high, and the group size is right: DPC++ would blame it.
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            launch(own.queue, own.kernel, 1, (const size_t[]){(size_t)1 << 33}, (const size_t[]){1},
                   NULL));
    // A kernel that says its group size itself.
    ur_kernel_handle_t fixed = ur_kernel("launches", "needs_8_by_4");
    const size_t global[] = {16, 16};
    REFUSES(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
            urEnqueueKernelLaunchWithArgsExp(own.queue, fixed, 2, NULL, global,
                                             (const size_t[]){4, 4}, 1, arguments, NULL, 0, NULL,
                                             OUT(ur_event_handle_t)));
    UR_OK(urKernelRelease(fixed));
}

Test(checks_kernel, of_properties_of_launches)
{
    ur_kernel_launch_ext_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES};
    set_arguments();
    REFUSES_FLAGS(
        UR_KERNEL_LAUNCH_FLAGS_MASK,
        (properties.flags = flags, launch(own.queue, own.kernel, 1, size_1, NULL, &properties)));
    for (uint32_t bit = 0; bit < 32; bit++) {
        properties.flags = UINT32_C(1) << bit;
        if (properties.flags &
            (UR_KERNEL_LAUNCH_FLAGS_MASK | (uint32_t)UR_KERNEL_LAUNCH_FLAG_COOPERATIVE))
            continue;
        REFUSES(UR_RESULT_ERROR_INVALID_OPERATION,
                launch(own.queue, own.kernel, 1, size_1, NULL, &properties));
    }
    properties.flags = 0;
    properties.stype = UR_STRUCTURE_TYPE_KERNEL_LAUNCH_WORKGROUP_PROPERTY;
    REFUSES(UR_RESULT_ERROR_INVALID_OPERATION,
            launch(own.queue, own.kernel, 1, size_1, NULL, &properties));
}

static ur_result_t launch_with(uint32_t count)
{
    return urEnqueueKernelLaunchWithArgsExp(own.queue, own.kernel, 1, NULL, size_1, NULL, count,
                                            arguments, NULL, 0, NULL, OUT(ur_event_handle_t));
}

Test(checks_kernel, of_arguments)
{
    const int32_t number = 1;
    set_arguments();
    REFUSES(NULL_POINTER,
            urEnqueueKernelLaunchWithArgsExp(own.queue, own.kernel, 1, NULL, size_1, NULL, 3, NULL,
                                             NULL, 0, NULL, OUT(ur_event_handle_t)));
    // UR_RESULT_ERROR_INVALID_KERNEL_ARGS is deprecated.
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch_with(2));
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch_with(0));
    arguments[1] = UR_POINTER(3, own.usm);
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch_with(3));
    arguments[1] = UR_POINTER(2, own.usm);
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, launch_with(3));
    set_arguments();
    arguments[2].type = (ur_exp_kernel_arg_type_t)(UR_EXP_KERNEL_ARG_TYPE_SAMPLER + 1);
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION, launch_with(3));
    REFUSES_OTHER_HANDLE(MEM, ur_mem_handle_t, UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                         (arguments[2] = UR_MEM(2, handle), launch_with(3)));
    arguments[2] = UR_MEM(2, other.image);
    REFUSES(UR_RESULT_ERROR_INVALID_MEM_OBJECT, launch_with(3));
    REFUSES_OTHER_HANDLE(SAMPLER, ur_sampler_handle_t, UR_RESULT_ERROR_INVALID_SAMPLER,
                         (arguments[2] = UR_SAMPLER(2, handle), launch_with(3)));
    arguments[2] = UR_SAMPLER(2, other.sampler);
    REFUSES(UR_RESULT_ERROR_INVALID_SAMPLER, launch_with(3));
    // A number, where the kernel has a pointer.
    arguments[2] = UR_VALUE(2, number);
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE, launch_with(3));
    // Four, where the kernel has three.
    ur_exp_kernel_arg_properties_t four[4];
    for (uint32_t i = 0; i < 4; i++)
        four[i] = UR_POINTER(i, own.usm);
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
            urEnqueueKernelLaunchWithArgsExp(own.queue, own.kernel, 1, NULL, size_1, NULL, 4, four,
                                             NULL, 0, NULL, OUT(ur_event_handle_t)));
}
