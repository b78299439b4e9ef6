// SPDX-License-Identifier: MIT
// Updates of launches in command buffers.
#include "graph/launch_update.h"
#include "memory/image.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"

// One update of a call.
struct draft {
    struct zepi_graph *graph;
    struct zepi_graph_command *command;
    const struct zepi_device_kernel *device_kernel; // of its launch's kernel
    bool has_local;                                 // memory among the new arguments
    bool is_reshaped;                               // there are another kernel, or other sizes
};

static __attribute__((noinline)) ur_result_t choose_kernel(struct draft *draft,
                                                           ur_kernel_handle_t handle)
{
    const struct zepi_graph_command *command = draft->command;
    struct zepi_device_kernel *device_kernel;
    struct zepi_kernel *kernel = zepi_ur_kernel(handle);
    uint32_t i = 0;
    while (i < command->kernel_count && command->kernels[i] != kernel)
        i++;
    if (i == command->kernel_count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "the new kernel is none of those that the command was appended with");
    zepi_result_t result =
        zepi_kernel_get_device_kernel(kernel, draft->graph->device_index, &device_kernel);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_update_set_kernel(draft->command, kernel, device_kernel);
    if (result == ZEPI_SUCCESS)
        draft->device_kernel = device_kernel;
    draft->is_reshaped = true;
    return zepi_ur_result(result);
}

// As the kernel declares it. Native code declares nothing.
static bool argument_is(const struct draft *draft, uint32_t index,
                        enum zepi_spirv_argument_kind kind)
{
    const struct zepi_device_kernel *device_kernel = draft->device_kernel;
    return device_kernel->is_described && index < draft->command->launch->desc.argument_count &&
           device_kernel->arguments[index].kind == kind;
}

static ur_result_t check_index(const struct draft *draft, uint32_t index)
{
    const uint32_t count = draft->command->launch->desc.argument_count;
    return index < count ? UR_RESULT_SUCCESS
                         : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                          "argument index %u, of %u arguments", index, count);
}

static ur_result_t set_argument(struct draft *draft, uint32_t index,
                                const zepi_argument_t *argument,
                                const struct zepi_graph_memory *memory)
{
    const ur_result_t is_wrong = check_index(draft, index);
    if (is_wrong != UR_RESULT_SUCCESS)
        return is_wrong;
    const zepi_result_t result = zepi_launch_update_set_argument(
        draft->command, draft->device_kernel, index, argument, memory);
    return result == ZEPI_ERROR_INVALID_SIZE ? UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE
                                             : zepi_ur_result(result);
}

// `kind`: that of the object behind the argument.
static ur_result_t set_object(struct draft *draft, uint32_t index, zepi_argument_kind_t kind,
                              const zepi_argument_t *argument,
                              const struct zepi_graph_memory *memory)
{
    ur_result_t result = check_index(draft, index);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_argument_check_declared(
            draft->device_kernel, index, &(const zepi_argument_t){.kind = kind}));
    return result == UR_RESULT_SUCCESS ? set_argument(draft, index, argument, memory) : result;
}

static __attribute__((noinline)) ur_result_t
set_mem_arguments(struct draft *draft,
                  const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = zepi_ur_check_pointer(update->pNewMemObjArgList, "pNewMemObjArgList");
    for (uint32_t i = 0; i < update->numNewMemObjArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_memobj_arg_desc_t *from = &update->pNewMemObjArgList[i];
        zepi_argument_t argument;
        result = zepi_ur_mem_as_argument(from->hNewMemObjArg, draft->graph->context,
                                         draft->graph->device, &argument);
        if (result == UR_RESULT_SUCCESS) {
            struct zepi_ur_mem *mem = zepi_ur_mem(from->hNewMemObjArg);
            const struct zepi_graph_memory memory = zepi_ur_graph_memory(mem);
            result = mem && mem->image ? set_object(draft, from->argIndex, ZEPI_ARGUMENT_IMAGE,
                                                    &argument, &memory)
                                       : set_argument(draft, from->argIndex, &argument, &memory);
        }
    }
    return result;
}

// The pointer is where the new argument lies, not the argument.
static ur_result_t
set_pointer_arguments(struct draft *draft,
                      const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = zepi_ur_check_pointer(update->pNewPointerArgList, "pNewPointerArgList");
    if (result != UR_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < update->numNewPointerArgs; i++) {
        const ur_exp_command_buffer_update_pointer_arg_desc_t *from =
            &update->pNewPointerArgList[i];
        zepi_argument_t argument = {.kind = ZEPI_ARGUMENT_POINTER};
        if (from->pNewPointerArg)
            memcpy(&argument.value, from->pNewPointerArg, sizeof(argument.value));
        result = set_argument(draft, from->argIndex, &argument, NULL);
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    return UR_RESULT_SUCCESS;
}

// A value for a sampler is the handle.
static ur_result_t set_sampler(struct draft *draft,
                               const ur_exp_command_buffer_update_value_arg_desc_t *from)
{
    ur_sampler_handle_t sampler;
    zepi_argument_t argument;
    memcpy(&sampler, from->pNewValueArg, sizeof(sampler));
    const ur_result_t result =
        zepi_ur_sampler_as_argument(sampler, draft->graph->context, &argument);
    const struct zepi_graph_memory memory = {.object = sampler};
    return result == UR_RESULT_SUCCESS
               ? set_object(draft, from->argIndex, ZEPI_ARGUMENT_SAMPLER, &argument, &memory)
               : result;
}

// A size without a value is local memory.
static ur_result_t set_value(struct draft *draft,
                             const ur_exp_command_buffer_update_value_arg_desc_t *from)
{
    const uint32_t index = from->argIndex;
    const zepi_argument_t argument = {.kind = from->pNewValueArg ? ZEPI_ARGUMENT_VALUE
                                                                 : ZEPI_ARGUMENT_LOCAL,
                                      .size_bytes = from->argSize,
                                      .value = from->pNewValueArg};
    const bool is_handle = from->pNewValueArg && from->argSize == sizeof(ur_sampler_handle_t);
    draft->has_local = draft->has_local || !from->pNewValueArg;
    if (is_handle && argument_is(draft, index, ZEPI_SPIRV_ARGUMENT_SAMPLER))
        return set_sampler(draft, from);
    if (is_handle && argument_is(draft, index, ZEPI_SPIRV_ARGUMENT_IMAGE))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "argument %u of kernel '%s' is an image, and no value", index,
                              draft->device_kernel->name);
    return set_argument(draft, index, &argument, NULL);
}

static __attribute__((noinline)) ur_result_t
set_value_arguments(struct draft *draft,
                    const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = zepi_ur_check_pointer(update->pNewValueArgList, "pNewValueArgList");
    for (uint32_t i = 0; i < update->numNewValueArgs && result == UR_RESULT_SUCCESS; i++)
        result = set_value(draft, &update->pNewValueArgList[i]);
    return result;
}

// They have been checked.
static __attribute__((noinline)) ur_result_t
replace_sizes(struct draft *draft, const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    zepi_launch_desc_t desc = draft->command->launch->desc;
    desc.work_dim = update->newWorkDim;
    for (uint32_t i = 0; i < desc.work_dim; i++) {
        if (update->pNewGlobalWorkOffset)
            desc.global_offset[i] = update->pNewGlobalWorkOffset[i];
        if (update->pNewGlobalWorkSize)
            desc.global_size[i] = update->pNewGlobalWorkSize[i];
        // Suggested for a new global size, unless it is given.
        if (update->pNewLocalWorkSize)
            desc.group_size[i] = update->pNewLocalWorkSize[i];
        else if (update->pNewGlobalWorkSize)
            desc.group_size[i] = 0;
    }
    draft->is_reshaped = true;
    return zepi_ur_result(zepi_launch_update_set_sizes(draft->command, &desc));
}

static ur_result_t set_sizes(struct draft *draft,
                             const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    const struct zepi_graph_launch *launch = draft->command->launch;
    const uint32_t dimensions = update->newWorkDim;
    if (dimensions == 0 || dimensions > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", dimensions);
    if (dimensions != launch->desc.work_dim &&
        (!update->pNewGlobalWorkSize || !update->pNewGlobalWorkOffset))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%u dimensions instead of %u, without a new global size and offset",
                              dimensions, launch->desc.work_dim);
    if (!update->pNewGlobalWorkSize && !update->pNewLocalWorkSize && !update->pNewGlobalWorkOffset)
        return UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < dimensions && update->pNewGlobalWorkSize; i++) {
        if (update->pNewGlobalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                                  "the global size of dimension %u is 0", i);
    }
    for (uint32_t i = 0; i < dimensions && update->pNewLocalWorkSize; i++) {
        if (update->pNewLocalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                                  "the local size of dimension %u is 0", i);
    }
    return replace_sizes(draft, update);
}

// Images and samplers stand as values, and may have stayed from a kernel before.
static ur_result_t check_kept_objects(const struct draft *draft)
{
    const struct zepi_graph_launch *launch = draft->command->launch;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < launch->desc.argument_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_graph_memory *memory = &launch->memory[i];
        const bool is_sampler = zepi_object_is(memory->object, &zepi_sampler_type);
        const zepi_argument_t object = {.kind = is_sampler ? ZEPI_ARGUMENT_SAMPLER
                                                           : ZEPI_ARGUMENT_IMAGE};
        if (memory->object && !memory->part.buffer)
            result = zepi_argument_check_declared(draft->device_kernel, i, &object);
    }
    return zepi_ur_result(result);
}

// What depends on more than one argument.
static __attribute__((noinline)) ur_result_t check_whole(const struct draft *draft)
{
    const struct zepi_graph_launch *launch = draft->command->launch;
    if (launch->kernel->is_emulated || draft->is_reshaped) {
        const ur_result_t result =
            zepi_ur_check_graph_launch(draft->graph, launch->kernel, &launch->desc);
        return result == UR_RESULT_SUCCESS ? check_kept_objects(draft) : result;
    }
    const struct zepi_argument_list list =
        zepi_argument_list_of(launch->desc.argument_count, launch->arguments);
    return zepi_arguments_check_local_memory(draft->device_kernel, draft->graph->device, &list) ==
                   ZEPI_SUCCESS
               ? UR_RESULT_SUCCESS
               : UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
}

static ur_result_t draft_launch(struct draft *draft,
                                const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    ur_result_t result = UR_RESULT_SUCCESS;
    draft->device_kernel = zepi_graph_device_kernel(draft->graph, draft->command->launch->kernel);
    if (update->hNewKernel)
        result = choose_kernel(draft, update->hNewKernel);
    if (result == UR_RESULT_SUCCESS && update->numNewMemObjArgs > 0)
        result = set_mem_arguments(draft, update);
    if (result == UR_RESULT_SUCCESS && update->numNewPointerArgs > 0)
        result = set_pointer_arguments(draft, update);
    if (result == UR_RESULT_SUCCESS && update->numNewValueArgs > 0)
        result = set_value_arguments(draft, update);
    if (result == UR_RESULT_SUCCESS)
        result = set_sizes(draft, update);
    const bool needs_check =
        draft->is_reshaped || draft->has_local || draft->command->launch->kernel->is_emulated;
    return result == UR_RESULT_SUCCESS && needs_check ? check_whole(draft) : result;
}

static struct zepi_graph_command *command_of(ur_exp_command_buffer_command_handle_t handle)
{
    return (struct zepi_graph_command *)handle;
}

// With the turn: whether it is finalized is written with it.
static ur_result_t check_updatable(const struct zepi_graph *graph)
{
    if (!graph->is_updatable || !graph->is_finalized)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION, "the command buffer %s",
                              graph->is_updatable ? "was not finalized yet"
                                                  : "was not made to be updatable");
    return UR_RESULT_SUCCESS;
}

static ur_result_t check_command(const struct zepi_graph *buffer,
                                 ur_exp_command_buffer_command_handle_t handle)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP;
    ur_result_t result = zepi_ur_check(handle, &zepi_graph_command_type, wrong);
    if (result == UR_RESULT_SUCCESS)
        result = check_updatable(buffer);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (command_of(handle)->graph != buffer)
        return zepi_ur_refuse(wrong, "a command of another command buffer");
    if (command_of(handle)->kind != ZEPI_GRAPH_LAUNCH)
        return zepi_ur_refuse(wrong, "a command that is no launch");
    return UR_RESULT_SUCCESS;
}

// One update of a call, with the graph's turn.
static ur_result_t add_update(struct zepi_graph *graph,
                              const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    const ur_result_t result = check_command(graph, update->hCommand);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct draft draft = {.graph = graph, .command = command_of(update->hCommand)};
    return draft_launch(&draft, update);
}

static ur_result_t add_updates(struct zepi_graph *graph, uint32_t count,
                               const ur_exp_command_buffer_update_kernel_launch_desc_t *updates)
{
    for (uint32_t i = 0; i < count; i++) {
        const ur_result_t result = add_update(graph, &updates[i]);
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    return UR_RESULT_SUCCESS;
}

// All updates or none. Executions under way are not concerned.
ur_result_t zepi_urCommandBufferUpdateKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, uint32_t numKernelUpdates,
    const ur_exp_command_buffer_update_kernel_launch_desc_t *pUpdateKernelLaunch)
{
    struct zepi_graph *graph = zepi_ur_command_buffer(hCommandBuffer);
    ur_result_t result = zepi_ur_check_command_buffer(hCommandBuffer);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pUpdateKernelLaunch, "pUpdateKernelLaunch");
    if (result == UR_RESULT_SUCCESS && numKernelUpdates == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no updates");
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_launch_update_begin(graph);
    result = add_updates(graph, numKernelUpdates, pUpdateKernelLaunch);
    zepi_launch_update_end(graph, result == UR_RESULT_SUCCESS);
    return result;
}
