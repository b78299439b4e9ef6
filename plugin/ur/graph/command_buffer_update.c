// SPDX-License-Identifier: MIT
// Updates of launches in command buffers: a copy of a command's launch, with other arguments and
// sizes, takes its place.
#include "graph/update.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"
#include "ur/queue/launch.h"

// The launch is to be of a kernel of the command's. *out_count: how many arguments that takes.
static ur_result_t set_kernel(const struct zepi_graph_command *command, ur_kernel_handle_t handle,
                              struct zepi_launch *launch, uint32_t *out_count)
{
    const struct zepi_graph *graph = command->graph;
    struct zepi_kernel *kernel = zepi_ur_kernel(handle);
    uint32_t i = 0;
    while (i < command->kernel_count && command->kernels[i] != kernel)
        i++;
    if (i == command->kernel_count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "the new kernel is none of those that the command was appended with");
    const zepi_result_t set =
        zepi_launch_set_kernel(launch, kernel, graph->context, graph->device_index);
    if (set != ZEPI_SUCCESS)
        return zepi_ur_fail(set);
    // Emulated constants are one more argument.
    *out_count =
        zepi_launch_device_kernel(launch)->argument_count - zepi_launch_is_emulated(launch);
    return UR_RESULT_SUCCESS;
}

// Further arguments are gone, and new ones are nothing yet.
static void set_arg_count(struct zepi_launch *launch, uint32_t old_count, uint32_t count)
{
    launch->arg_count = old_count;
    for (uint32_t i = count; i < old_count; i++)
        zepi_launch_clear_arg(launch, i);
    for (uint32_t i = old_count; i < count; i++)
        launch->args[i] = (struct zepi_arg){0};
    launch->arg_count = count;
}

// The launch of before, to be changed, with its new kernel if there is one. On success the room is
// to be finished.
static ur_result_t begin_launch(const struct zepi_graph_command *command, ur_kernel_handle_t kernel,
                                struct zepi_launch *launch, struct zepi_launch_room *room)
{
    const struct zepi_launch *old = zepi_graph_update_launch(command);
    const uint32_t old_count = old->arg_count;
    uint32_t count = old_count;
    ur_result_t result;
    *launch = *old;
    if (kernel && (result = set_kernel(command, kernel, launch, &count)))
        return result;
    const zepi_result_t done =
        zepi_launch_room_init(room, launch, count > old_count ? count : old_count);
    if (done != ZEPI_SUCCESS)
        return zepi_ur_fail(done);
    zepi_launch_copy_args(launch, old);
    launch->large_bytes = old->large_bytes;
    if (kernel)
        set_arg_count(launch, old_count, count);
    return UR_RESULT_SUCCESS;
}

// ---- Arguments ----

static ur_result_t launch_result(zepi_result_t checked)
{
    return checked == ZEPI_SUCCESS ? UR_RESULT_SUCCESS : zepi_ur_fail_launch(checked);
}

// The launch was right before, so that arguments of another kind or size alone are checked. After
// a change of kernel the whole launch is.
static ur_result_t check_argument(const struct zepi_launch *launch, uint32_t index, uint64_t before)
{
    return launch->args[index].head == before
               ? UR_RESULT_SUCCESS
               : launch_result(zepi_arg_check(zepi_launch_device_kernel(launch), index,
                                              &launch->args[index]));
}

// Drops the argument of before, whose kind and size *out_head is.
static ur_result_t clear_argument(struct zepi_launch *launch, uint32_t index, uint64_t *out_head)
{
    if (index >= launch->arg_count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                              "argument index %u, of %u arguments", index, launch->arg_count);
    *out_head = launch->args[index].head;
    zepi_launch_clear_arg(launch, index);
    return UR_RESULT_SUCCESS;
}

// Gives the launch an argument in place of the one before.
static ur_result_t change_argument(const struct zepi_graph *graph, struct zepi_launch *launch,
                                   const ur_exp_kernel_arg_properties_t *from)
{
    uint64_t before = 0;
    ur_result_t result;
    if ((result = clear_argument(launch, from->index, &before)) ||
        (result = zepi_ur_read_arg(launch, &launch->args[from->index], graph->context,
                                   graph->device, from)))
        return result;
    return check_argument(launch, from->index, before);
}

static ur_result_t
change_mem_arguments(const struct zepi_graph *graph, struct zepi_launch *launch,
                     const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    ur_result_t result = zepi_ur_check_pointer(desc->pNewMemObjArgList, "pNewMemObjArgList");
    for (uint32_t i = 0; i < desc->numNewMemObjArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_memobj_arg_desc_t *from = &desc->pNewMemObjArgList[i];
        const ur_exp_kernel_arg_properties_t argument = {
            .type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,
            .index = from->argIndex,
            .value.memObjTuple = {from->hNewMemObjArg, UR_MEM_FLAG_READ_WRITE}};
        result = change_argument(graph, launch, &argument);
    }
    return result;
}

// The pointer is where the new argument lies, not the argument.
static ur_result_t
change_pointer_arguments(struct zepi_launch *launch,
                         const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    ur_result_t result = zepi_ur_check_pointer(desc->pNewPointerArgList, "pNewPointerArgList");
    for (uint32_t i = 0; i < desc->numNewPointerArgs && result == UR_RESULT_SUCCESS; i++) {
        const ur_exp_command_buffer_update_pointer_arg_desc_t *from = &desc->pNewPointerArgList[i];
        void *address = NULL;
        uint64_t before = 0;
        if (from->pNewPointerArg)
            memcpy(&address, from->pNewPointerArg, sizeof(address));
        result = clear_argument(launch, from->argIndex, &before);
        if (result != UR_RESULT_SUCCESS)
            return result;
        zepi_arg_set_address(&launch->args[from->argIndex], address);
        result = check_argument(launch, from->argIndex, before);
    }
    return result;
}

// Whether the kernel declares the argument so. Native code declares nothing.
static bool argument_is(const struct zepi_launch *launch, uint32_t index,
                        enum zepi_spirv_argument_kind kind)
{
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    return device_kernel->is_described && index < launch->arg_count &&
           device_kernel->arguments[index].kind == kind;
}

// A size without a value is local memory, a value for a sampler is the handle.
static ur_result_t change_value_argument(const struct zepi_graph *graph, struct zepi_launch *launch,
                                         const ur_exp_command_buffer_update_value_arg_desc_t *from)
{
    const uint32_t index = from->argIndex;
    const bool is_handle = from->pNewValueArg && from->argSize == sizeof(ur_sampler_handle_t);
    ur_exp_kernel_arg_properties_t argument = {.type = UR_EXP_KERNEL_ARG_TYPE_VALUE,
                                               .index = index,
                                               .size = from->argSize,
                                               .value.value = from->pNewValueArg};
    if (!from->pNewValueArg)
        argument.type = UR_EXP_KERNEL_ARG_TYPE_LOCAL;
    if (is_handle && argument_is(launch, index, ZEPI_SPIRV_ARGUMENT_IMAGE))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "argument %u of kernel '%s' is an image, and no value", index,
                              zepi_launch_device_kernel(launch)->name);
    if (is_handle && argument_is(launch, index, ZEPI_SPIRV_ARGUMENT_SAMPLER)) {
        argument.type = UR_EXP_KERNEL_ARG_TYPE_SAMPLER;
        memcpy(&argument.value.sampler, from->pNewValueArg, sizeof(ur_sampler_handle_t));
    }
    return change_argument(graph, launch, &argument);
}

static ur_result_t
change_value_arguments(const struct zepi_graph *graph, struct zepi_launch *launch,
                       const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    bool has_slm = false;
    ur_result_t result = zepi_ur_check_pointer(desc->pNewValueArgList, "pNewValueArgList");
    for (uint32_t i = 0; i < desc->numNewValueArgs && result == UR_RESULT_SUCCESS; i++) {
        result = change_value_argument(graph, launch, &desc->pNewValueArgList[i]);
        has_slm = has_slm || !desc->pNewValueArgList[i].pNewValueArg;
    }
    return result == UR_RESULT_SUCCESS && has_slm
               ? launch_result(zepi_launch_check_slm(launch, graph->device))
               : result;
}

// ---- Sizes ----

static ur_result_t check_sizes(const struct zepi_launch *launch,
                               const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    const uint32_t dimensions = desc->newWorkDim;
    if (dimensions == 0 || dimensions > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", dimensions);
    if (dimensions != launch->work_dim &&
        (!desc->pNewGlobalWorkSize || !desc->pNewGlobalWorkOffset))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%u dimensions instead of %u, without a new global size and offset",
                              dimensions, launch->work_dim);
    for (uint32_t i = 0; i < dimensions && desc->pNewGlobalWorkSize; i++) {
        if (desc->pNewGlobalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                                  "the global size of dimension %u is 0", i);
    }
    for (uint32_t i = 0; i < dimensions && desc->pNewLocalWorkSize; i++) {
        if (desc->pNewLocalWorkSize[i] == 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                                  "the local size of dimension %u is 0", i);
    }
    return UR_RESULT_SUCCESS;
}

static bool has_new_sizes(const struct zepi_launch *launch,
                          const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    return desc->pNewGlobalWorkSize || desc->pNewLocalWorkSize || desc->pNewGlobalWorkOffset ||
           desc->newWorkDim != launch->work_dim;
}

static ur_result_t set_sizes(struct zepi_launch *launch,
                             const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    const size_t *global = desc->pNewGlobalWorkSize;
    const size_t *offset = desc->pNewGlobalWorkOffset;
    const ur_result_t result = check_sizes(launch, desc);
    if (result != UR_RESULT_SUCCESS)
        return result;
    // Suggested for a new global size, unless it is given.
    const size_t *local = global ? NULL : launch->group_size;
    zepi_launch_set_sizes(launch, desc->newWorkDim, global ? global : launch->global_size,
                          desc->pNewLocalWorkSize ? desc->pNewLocalWorkSize : local,
                          offset ? offset : launch->global_offset);
    return UR_RESULT_SUCCESS;
}

// ---- The update ----

static ur_result_t change_launch(const struct zepi_graph *graph, struct zepi_launch *launch,
                                 const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    ur_result_t result = UR_RESULT_SUCCESS;
    if (desc->numNewMemObjArgs > 0)
        result = change_mem_arguments(graph, launch, desc);
    if (result == UR_RESULT_SUCCESS && desc->numNewPointerArgs > 0)
        result = change_pointer_arguments(launch, desc);
    if (result == UR_RESULT_SUCCESS && desc->numNewValueArgs > 0)
        result = change_value_arguments(graph, launch, desc);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const bool has_sizes = has_new_sizes(launch, desc);
    if (has_sizes && (result = set_sizes(launch, desc)))
        return result;
    return desc->hNewKernel || has_sizes ? launch_result(zepi_launch_check(graph->device, launch))
                                         : UR_RESULT_SUCCESS;
}

ZEPI_UR_DEFINE_HANDLE(command, ur_exp_command_buffer_command_handle_t, zepi_graph_command,
                      UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP)

static ur_result_t check_command(const struct zepi_graph *buffer,
                                 ur_exp_command_buffer_command_handle_t handle)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP;
    const ur_result_t result = zepi_ur_check_command(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (zepi_graph_check_update(buffer) != ZEPI_SUCCESS)
        return UR_RESULT_ERROR_INVALID_OPERATION;
    if (zepi_ur_command(handle)->graph != buffer)
        return zepi_ur_refuse(wrong, "a command of another command buffer");
    if (zepi_ur_command(handle)->kind != ZEPI_COMMAND_LAUNCH)
        return zepi_ur_refuse(wrong, "command %u is %s, expected a launch",
                              zepi_ur_command(handle)->number,
                              zepi_graph_command_name(zepi_ur_command(handle)));
    return UR_RESULT_SUCCESS;
}

// One update of a call, with the graph's mutex.
static ur_result_t add_update(struct zepi_graph *graph,
                              const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    ur_result_t result = check_command(graph, desc->hCommand);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_graph_command *command = zepi_ur_command(desc->hCommand);
    struct zepi_launch launch;
    struct zepi_launch_room room;
    result = begin_launch(command, desc->hNewKernel, &launch, &room);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = change_launch(graph, &launch, desc);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_graph_update_set(command, &launch));
    zepi_launch_room_finish(&room, &launch);
    return result;
}

// The memory of buffers on the graph's device is made before the graph's mutex is taken, under
// which nothing waits.
static __attribute__((noinline)) ur_result_t
make_locations(const struct zepi_graph *graph,
               const ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    struct zepi_arg arg;
    struct zepi_arg_use use;
    ur_result_t result = UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < desc->numNewMemObjArgs && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_read_mem_arg(desc->pNewMemObjArgList[i].hNewMemObjArg, graph->context,
                                      graph->device, &arg, &use);
    return result;
}

// All updates or none. Executions under way are not concerned.
ur_result_t zepi_urCommandBufferUpdateKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, uint32_t numKernelUpdates,
    const ur_exp_command_buffer_update_kernel_launch_desc_t *pUpdateKernelLaunch)
{
    struct zepi_graph *graph = zepi_ur_command_buffer(hCommandBuffer);
    const ur_exp_command_buffer_update_kernel_launch_desc_t *desc = pUpdateKernelLaunch;
    ur_result_t result;
    if ((result = zepi_ur_check_command_buffer(hCommandBuffer)) ||
        (result = zepi_ur_check_pointer(pUpdateKernelLaunch, "pUpdateKernelLaunch")) ||
        (numKernelUpdates == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no updates"))))
        return result;
    const ur_exp_command_buffer_update_kernel_launch_desc_t *end = desc + numKernelUpdates;
    for (; desc < end && result == UR_RESULT_SUCCESS; desc++) {
        if (desc->pNewMemObjArgList)
            result = make_locations(graph, desc);
    }
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_graph_update_begin(graph);
    for (desc = pUpdateKernelLaunch; desc < end && result == UR_RESULT_SUCCESS; desc++)
        result = add_update(graph, desc);
    zepi_graph_update_end(graph, result == UR_RESULT_SUCCESS);
    return result;
}
