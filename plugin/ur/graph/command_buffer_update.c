// SPDX-License-Identifier: MIT
// Updates of launches in command buffers.
#include "core/alloc.h"
#include "launch/device_kernel.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"

#define INLINE_ARGUMENTS 16
#define INLINE_CHANGES 4

// A launch between the old and the new one.
struct draft {
    struct zepi_kernel *kernel;
    const struct zepi_device_kernel *device_kernel; // borrowed
    zepi_launch_desc_t desc;
    zepi_argument_t *arguments;       // owned, unless they are those below
    struct zepi_graph_memory *memory; // the same; borrowed objects
    zepi_argument_t inline_arguments[INLINE_ARGUMENTS];
    struct zepi_graph_memory inline_memory[INLINE_ARGUMENTS];
};

static void draft_finish(struct draft *draft)
{
    if (draft->arguments == draft->inline_arguments)
        return;
    zepi_free(draft->arguments);
    zepi_free(draft->memory);
}

static ur_result_t choose_kernel(struct draft *draft, const struct zepi_graph_command *command,
                                 ur_kernel_handle_t handle)
{
    if (!handle)
        return UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < command->kernel_count; i++) {
        if (command->kernels[i] == zepi_ur_kernel(handle)) {
            draft->kernel = command->kernels[i];
            draft->desc.kernel = draft->kernel;
            return UR_RESULT_SUCCESS;
        }
    }
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                          "the new kernel is none of those that the command was appended with");
}

// As many arguments as the kernel has; the old ones as far as they go.
static ur_result_t keep_arguments(struct draft *draft, const struct zepi_graph *buffer,
                                  const struct zepi_graph_launch *old)
{
    struct zepi_device_kernel *device_kernel;
    const uint32_t device_index = zepi_context_device_index(buffer->context, buffer->device);
    const ur_result_t result =
        zepi_ur_result(zepi_kernel_get_device_kernel(draft->kernel, device_index, &device_kernel));
    if (result != UR_RESULT_SUCCESS)
        return result;
    const uint32_t count = device_kernel->argument_count;
    draft->device_kernel = device_kernel;
    if (count > INLINE_ARGUMENTS) {
        draft->arguments = zepi_allocate(count, sizeof(zepi_argument_t));
        draft->memory = zepi_allocate(count, sizeof(draft->memory[0]));
    }
    if (!draft->arguments || !draft->memory)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < count; i++) {
        const bool is_old = i < old->desc.argument_count;
        draft->arguments[i] = is_old ? old->arguments[i] : (zepi_argument_t){0};
        draft->memory[i] = is_old ? old->memory[i] : (struct zepi_graph_memory){0};
    }
    draft->desc.arguments = draft->arguments;
    draft->desc.argument_count = count;
    return UR_RESULT_SUCCESS;
}

static ur_result_t set_argument(struct draft *draft, uint32_t index, zepi_argument_t argument,
                                struct zepi_ur_mem *mem)
{
    if (index >= draft->desc.argument_count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                              "argument index %u, of %u arguments", index,
                              draft->desc.argument_count);
    draft->arguments[index] = argument;
    draft->memory[index] = zepi_ur_graph_memory(mem);
    return UR_RESULT_SUCCESS;
}

static ur_result_t
set_mem_arguments(struct draft *draft, const struct zepi_graph *buffer,
                  const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = update->numNewMemObjArgs > 0 && !update->pNewMemObjArgList
                             ? zepi_ur_refuse_null("pNewMemObjArgList")
                             : UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < update->numNewMemObjArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_memobj_arg_desc_t *from = &update->pNewMemObjArgList[i];
        zepi_argument_t argument;
        result = zepi_ur_mem_as_argument(from->hNewMemObjArg, buffer->context, buffer->device,
                                         &argument);
        if (result == UR_RESULT_SUCCESS)
            result =
                set_argument(draft, from->argIndex, argument, zepi_ur_mem(from->hNewMemObjArg));
    }
    return result;
}

// The pointer is where the new argument lies, not the argument.
static ur_result_t
set_pointer_arguments(struct draft *draft,
                      const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = update->numNewPointerArgs > 0 && !update->pNewPointerArgList
                             ? zepi_ur_refuse_null("pNewPointerArgList")
                             : UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < update->numNewPointerArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_pointer_arg_desc_t *from =
            &update->pNewPointerArgList[i];
        zepi_argument_t argument = {.kind = ZEPI_ARGUMENT_POINTER};
        if (from->pNewPointerArg)
            memcpy(&argument.value, from->pNewPointerArg, sizeof(argument.value));
        result = set_argument(draft, from->argIndex, argument, NULL);
    }
    return result;
}

// A size without a value is local memory.
static ur_result_t
set_value_arguments(struct draft *draft,
                    const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = update->numNewValueArgs > 0 && !update->pNewValueArgList
                             ? zepi_ur_refuse_null("pNewValueArgList")
                             : UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < update->numNewValueArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_value_arg_desc_t *from = &update->pNewValueArgList[i];
        const zepi_argument_t argument = {.kind = from->pNewValueArg ? ZEPI_ARGUMENT_VALUE
                                                                     : ZEPI_ARGUMENT_LOCAL,
                                          .size_bytes = from->argSize,
                                          .value = from->pNewValueArg};
        result = set_argument(draft, from->argIndex, argument, NULL);
    }
    return result;
}

static ur_result_t set_sizes(struct draft *draft,
                             const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    zepi_launch_desc_t *desc = &draft->desc;
    const uint32_t dimensions = update->newWorkDim;
    if (dimensions == 0 || dimensions > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", dimensions);
    if (dimensions != desc->work_dim &&
        (!update->pNewGlobalWorkSize || !update->pNewGlobalWorkOffset))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%u dimensions instead of %u, without a new global size and offset",
                              dimensions, desc->work_dim);
    desc->work_dim = dimensions;
    for (uint32_t i = 0; i < dimensions; i++) {
        if (update->pNewGlobalWorkSize && update->pNewGlobalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                                  "the global size of dimension %u is 0", i);
        if (update->pNewLocalWorkSize && update->pNewLocalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                                  "the local size of dimension %u is 0", i);
        if (update->pNewGlobalWorkOffset)
            desc->global_offset[i] = update->pNewGlobalWorkOffset[i];
        if (update->pNewGlobalWorkSize)
            desc->global_size[i] = update->pNewGlobalWorkSize[i];
        // Suggested for a new global size, unless it is given.
        if (update->pNewLocalWorkSize)
            desc->group_size[i] = update->pNewLocalWorkSize[i];
        else if (update->pNewGlobalWorkSize)
            desc->group_size[i] = 0;
    }
    return UR_RESULT_SUCCESS;
}

// Whether only arguments differ: the sizes have been checked.
static bool has_old_sizes(const struct draft *draft, const struct zepi_graph_launch *old)
{
    const zepi_launch_desc_t *desc = &draft->desc;
    return draft->kernel == old->kernel && !old->kernel->is_emulated &&
           desc->work_dim == old->desc.work_dim &&
           memcmp(desc->global_size, old->desc.global_size, sizeof(desc->global_size)) == 0 &&
           memcmp(desc->group_size, old->desc.group_size, sizeof(desc->group_size)) == 0 &&
           memcmp(desc->global_offset, old->desc.global_offset, sizeof(desc->global_offset)) == 0;
}

static ur_result_t draft_make_launch(const struct draft *draft, const struct zepi_graph *buffer,
                                     const struct zepi_graph_launch *old,
                                     struct zepi_graph_launch **out_launch)
{
    const struct zepi_argument_list list =
        zepi_argument_list_of(draft->desc.argument_count, draft->arguments);
    if (!has_old_sizes(draft, old) ||
        zepi_arguments_check(draft->device_kernel, buffer->device, &list) != ZEPI_SUCCESS)
        return zepi_ur_make_graph_launch(buffer, draft->kernel, &draft->desc, draft->memory,
                                         out_launch);
    *out_launch = zepi_graph_launch_create(draft->kernel, &draft->desc, draft->memory);
    return *out_launch ? UR_RESULT_SUCCESS : zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
}

static ur_result_t make_launch(const struct zepi_graph_command *command,
                               const struct zepi_graph_launch *old,
                               const ur_exp_command_buffer_update_kernel_launch_desc_t *update,
                               struct zepi_graph_launch **out_launch)
{
    const struct zepi_graph *buffer = command->graph;
    struct draft draft; // as large as it is, it is not zeroed
    draft.kernel = old->kernel;
    draft.desc = old->desc;
    draft.arguments = draft.inline_arguments;
    draft.memory = draft.inline_memory;
    ur_result_t result = choose_kernel(&draft, command, update->hNewKernel);
    if (result == UR_RESULT_SUCCESS)
        result = keep_arguments(&draft, buffer, old);
    if (result == UR_RESULT_SUCCESS)
        result = set_mem_arguments(&draft, buffer, update);
    if (result == UR_RESULT_SUCCESS)
        result = set_pointer_arguments(&draft, update);
    if (result == UR_RESULT_SUCCESS)
        result = set_value_arguments(&draft, update);
    if (result == UR_RESULT_SUCCESS)
        result = set_sizes(&draft, update);
    if (result == UR_RESULT_SUCCESS)
        result = draft_make_launch(&draft, buffer, old, out_launch);
    draft_finish(&draft);
    return result;
}

static struct zepi_graph_command *command_of(ur_exp_command_buffer_command_handle_t handle)
{
    return (struct zepi_graph_command *)handle;
}

static ur_result_t check_updatable(struct zepi_graph *graph)
{
    if (!graph->is_updatable || !zepi_graph_is_finalized(graph))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION, "the command buffer %s",
                              graph->is_updatable ? "was not finalized yet"
                                                  : "was not made to be updatable");
    return UR_RESULT_SUCCESS;
}

static ur_result_t check_command(const struct zepi_graph *buffer,
                                 ur_exp_command_buffer_command_handle_t handle)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP;
    const ur_result_t result = zepi_ur_check(handle, &zepi_graph_command_type, wrong);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (command_of(handle)->graph != buffer)
        return zepi_ur_refuse(wrong, "a command of another command buffer");
    if (command_of(handle)->kind != ZEPI_GRAPH_LAUNCH)
        return zepi_ur_refuse(wrong, "a command that is no launch");
    return UR_RESULT_SUCCESS;
}

// The launch that update number `count` starts from: an earlier one's of this call, or the
// command's. New reference.
static struct zepi_graph_launch *find_old(uint32_t count, const struct zepi_graph_change *changes)
{
    for (uint32_t i = count; i-- > 0;) {
        if (changes[i].command == changes[count].command)
            return zepi_graph_launch_retain(changes[i].launch);
    }
    return zepi_graph_get_launch(changes[count].command);
}

static ur_result_t check_update(ur_exp_command_buffer_handle_t handle, uint32_t count,
                                const ur_exp_command_buffer_update_kernel_launch_desc_t *updates)
{
    ur_result_t result = zepi_ur_check_command_buffer(handle);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(updates, "pUpdateKernelLaunch");
    if (result == UR_RESULT_SUCCESS && count == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no updates");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_graph *buffer = zepi_ur_command_buffer(handle);
    result = check_updatable(buffer);
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++)
        result = check_command(buffer, updates[i].hCommand);
    return result;
}

// All updates or none. Executions under way are not concerned.
ur_result_t zepi_urCommandBufferUpdateKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, uint32_t numKernelUpdates,
    const ur_exp_command_buffer_update_kernel_launch_desc_t *pUpdateKernelLaunch)
{
    ur_result_t result = check_update(hCommandBuffer, numKernelUpdates, pUpdateKernelLaunch);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_graph_change inline_changes[INLINE_CHANGES] = {{0}};
    struct zepi_graph_change *changes = inline_changes;
    if (numKernelUpdates > INLINE_CHANGES)
        changes = zepi_allocate(numKernelUpdates, sizeof(*changes));
    if (!changes)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < numKernelUpdates && result == UR_RESULT_SUCCESS; i++) {
        changes[i].command = command_of(pUpdateKernelLaunch[i].hCommand);
        struct zepi_graph_launch *old = find_old(i, changes);
        result = make_launch(changes[i].command, old, &pUpdateKernelLaunch[i], &changes[i].launch);
        zepi_graph_launch_release(old);
    }
    if (result == UR_RESULT_SUCCESS)
        zepi_graph_update(zepi_ur_command_buffer(hCommandBuffer), numKernelUpdates, changes);
    for (uint32_t i = 0; i < numKernelUpdates; i++)
        zepi_graph_launch_release(changes[i].launch);
    if (changes != inline_changes)
        zepi_free(changes);
    return result;
}

// ---- Events of commands ----

ur_result_t
zepi_urCommandBufferUpdateSignalEventExp(ur_exp_command_buffer_command_handle_t hCommand,
                                         ur_event_handle_t *phSignalEvent)
{
    struct zepi_graph_command *command = command_of(hCommand);
    zepi_event_t event;
    ur_result_t result = zepi_ur_check(hCommand, &zepi_graph_command_type,
                                       UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    if (result == UR_RESULT_SUCCESS)
        result = check_updatable(command->graph);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(phSignalEvent, "phSignalEvent");
    if (result == UR_RESULT_SUCCESS && !command->signal)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                "the command was appended without an event");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_ur_make_command_event(command->graph, &event));
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_graph_update_signal(command, zepi_retain(event));
    *phSignalEvent = (ur_event_handle_t)event;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urCommandBufferUpdateWaitEventsExp(ur_exp_command_buffer_command_handle_t hCommand,
                                                    uint32_t numEventsInWaitList,
                                                    const ur_event_handle_t *phEventWaitList)
{
    struct zepi_graph_command *command = command_of(hCommand);
    ur_result_t result = zepi_ur_check(hCommand, &zepi_graph_command_type,
                                       UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    if (result == UR_RESULT_SUCCESS)
        result = check_updatable(command->graph);
    if (result == UR_RESULT_SUCCESS && (numEventsInWaitList == 0) != (phEventWaitList == NULL))
        result = zepi_ur_refuse_wait_list(numEventsInWaitList);
    if (result == UR_RESULT_SUCCESS && numEventsInWaitList != command->awaited_count)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
                                "%u events, and the command was appended with %u",
                                numEventsInWaitList, command->awaited_count);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_command_events(command->graph, numEventsInWaitList, phEventWaitList);
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_graph_update_awaited(command, numEventsInWaitList,
                                                          (const zepi_event_t *)phEventWaitList))
               : result;
}
