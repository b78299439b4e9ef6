// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "device/device.h"
#include "entry.h"
#include "kernel/kernel.h"
#include "kernel/mutable_command.h"

#include <string.h>

static ze_result_t check_launch(const struct cpu_list *list, const struct cpu_kernel *kernel,
                                const char *function)
{
    if (list->ordinal != CPU_GROUP_COMPUTE) {
        cpu_report(function, "the list's queue group only copies");
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    }
    if (!cpu_device_is_part_of(list->device, kernel->device)) {
        cpu_report(function, "kernel %s was made for another device than list %p",
                   kernel->code->name, (const void *)list);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (kernel->unset_count == 0)
        return ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < kernel->code->argument_count; i++)
        if (!kernel->is_set[i])
            cpu_report(function, "argument %u of kernel %s is not set", i, kernel->code->name);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// A command with the kernel's present state, and the groups of `groups`. No other thread is in the
// kernel.
static ze_result_t append_locked(struct cpu_list *list, struct cpu_kernel *kernel,
                                 const struct cpu_launch *groups, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits,
                                 const char *function)
{
    ze_result_t result = check_launch(list, kernel, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_command *command;
    const size_t room = cpu_mutable_argument_bytes(list, kernel->code->argument_bytes);
    result = cpu_list_command(list, CPU_COMMAND_LAUNCH, room, signal, wait_count, waits, function,
                              &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_launch *launch = &command->u.launch;
    *launch = *groups;
    launch->kernel = kernel->code;
    cpu_program_kernel_retain(launch->kernel);
    memcpy(launch->group_size, kernel->group_size, sizeof(launch->group_size));
    memcpy(launch->offset, kernel->offset, sizeof(launch->offset));
    launch->argument_bytes = kernel->code->argument_bytes;
    launch->arguments = cpu_command_take(command, launch->argument_bytes);
    memcpy(launch->arguments, kernel->arguments, launch->argument_bytes);
    return cpu_list_add(list, command, function);
}

static ze_result_t append(ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
                          const struct cpu_launch *groups, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits, const char *function)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    ze_result_t result = cpu_kernel_enter(kernel, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = append_locked((struct cpu_list *)hCommandList, kernel, groups, signal, wait_count,
                           waits, function);
    cpu_kernel_leave(kernel);
    return result;
}

static struct cpu_launch groups_of(const ze_group_count_t *counts)
{
    return (struct cpu_launch){
        .group_count = {counts->groupCountX, counts->groupCountY, counts->groupCountZ}};
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                                           ze_kernel_handle_t hKernel,
                                                           const ze_group_count_t *pLaunchFuncArgs,
                                                           ze_event_handle_t hSignalEvent,
                                                           uint32_t numWaitEvents,
                                                           ze_event_handle_t *phWaitEvents)
{
    const struct cpu_launch groups = groups_of(pLaunchFuncArgs);
    return append(hCommandList, hKernel, &groups, hSignalEvent, numWaitEvents, phWaitEvents,
                  __func__);
}

static ze_result_t check_cooperation(const ze_group_count_t *counts, ze_kernel_handle_t hKernel)
{
    uint32_t limit = 0;
    cpu_zeKernelSuggestMaxCooperativeGroupCount(hKernel, &limit);
    uint64_t groups = (uint64_t)counts->groupCountX * counts->groupCountY;
    return groups > limit || groups * counts->groupCountZ > limit
               ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
               : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ze_result_t result = check_cooperation(pLaunchFuncArgs, hKernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return cpu_zeCommandListAppendLaunchKernel(hCommandList, hKernel, pLaunchFuncArgs, hSignalEvent,
                                               numWaitEvents, phWaitEvents);
}

// The chain of a launch by newer functions: it may say that the launch is cooperative. Any other
// structure would be ignored, so it is refused.
static ze_result_t check_parameters(const void *next, const ze_group_count_t *counts,
                                    ze_kernel_handle_t hKernel)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (const ze_base_desc_t *desc = next; desc != NULL && result == ZE_RESULT_SUCCESS;
         desc = desc->pNext) {
        const ze_command_list_append_launch_kernel_param_cooperative_desc_t *cooperation =
            (const void *)desc;
        if ((uint32_t)desc->stype != CPU_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC)
            result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        else if (cooperation->isCooperative)
            result = check_cooperation(counts, hKernel);
    }
    return result;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchArgumentsBuffer, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    const struct cpu_launch groups = {.counts = pLaunchArgumentsBuffer};
    return append(hCommandList, hKernel, &groups, hSignalEvent, numWaitEvents, phWaitEvents,
                  __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, ze_kernel_handle_t *phKernels,
    const uint32_t *pCountBuffer, const ze_group_count_t *pLaunchArgumentsBuffer,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ze_result_t result = cpu_objects_check(numKernels, phKernels, CPU_KERNEL, __func__);
    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++) {
        const bool is_first = i == 0, is_last = i + 1 == numKernels;
        const struct cpu_launch groups = {
            .counts = &pLaunchArgumentsBuffer[i], .limit = pCountBuffer, .position = i};
        result = append(hCommandList, phKernels[i], &groups, is_last ? hSignalEvent : NULL,
                        is_first ? numWaitEvents : 0, is_first ? phWaitEvents : NULL, __func__);
    }
    return result;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pGroupCounts, const void *pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ze_result_t result = check_parameters(pNext, pGroupCounts, hKernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return cpu_zeCommandListAppendLaunchKernel(hCommandList, hKernel, pGroupCounts, hSignalEvent,
                                               numWaitEvents, phWaitEvents);
}

// Each element of the array points to the argument's value. For local memory, the value is its
// size.
static ze_result_t set_arguments(struct cpu_kernel *kernel, void **values)
{
    const struct cpu_program_kernel *code = kernel->code;
    if (code->argument_count > 0 && values == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < code->argument_count; i++) {
        const struct cpu_argument *argument = &code->arguments[i];
        size_t size_bytes = argument->size_bytes;
        const void *value = values[i];
        if (argument->kind == ZEPI_SPIRV_ARGUMENT_LOCAL) {
            if (value == NULL)
                return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
            memcpy(&size_bytes, value, sizeof(size_bytes));
            value = NULL;
        } else if (size_bytes == 0) {
            return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        }
        ze_result_t result = cpu_kernel_set_argument(kernel, i, size_bytes, value);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void **pArguments,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)hKernel;
    const struct cpu_launch groups = groups_of(&groupCounts);
    ze_result_t result = check_parameters(pNext, &groupCounts, hKernel);
    if (result == ZE_RESULT_SUCCESS)
        result = cpu_kernel_enter(kernel, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = cpu_kernel_set_group_size(kernel, groupSizes.groupSizeX, groupSizes.groupSizeY,
                                       groupSizes.groupSizeZ);
    if (result == ZE_RESULT_SUCCESS)
        result = set_arguments(kernel, pArguments);
    if (result == ZE_RESULT_SUCCESS)
        result = append_locked((struct cpu_list *)hCommandList, kernel, &groups, hSignalEvent,
                               numWaitEvents, phWaitEvents, __func__);
    cpu_kernel_leave(kernel);
    return result;
}
