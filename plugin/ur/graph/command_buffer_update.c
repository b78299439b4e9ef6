// SPDX-License-Identifier: MIT
// Updates of launches in command buffers.
#include "core/alloc.h"
#include "launch/device_kernel.h"
#include "ur/graph/command_buffer.h"
#include "ur/graph/recorded_launch.h"

// A launch between the old and the new one.
struct draft {
    struct zepi_kernel *kernel;
    zepi_launch_desc_t desc;
    zepi_argument_t *arguments; // owned
    void **held;                // owned list, borrowed objects
};

static void draft_finish(struct draft *draft)
{
    zepi_free(draft->arguments);
    zepi_free(draft->held);
}

static ur_result_t choose_kernel(struct draft *draft, const struct zepi_ur_recorded *recorded,
                                 ur_kernel_handle_t handle)
{
    if (!handle)
        return UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < recorded->kernel_count; i++) {
        if (recorded->kernels[i] == zepi_ur_kernel(handle)) {
            draft->kernel = recorded->kernels[i];
            draft->desc.kernel = draft->kernel;
            return UR_RESULT_SUCCESS;
        }
    }
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                          "the new kernel is none of those that the command was appended with");
}

// As many arguments as the kernel has; the old ones as far as they go.
static ur_result_t keep_arguments(struct draft *draft, const struct zepi_ur_command_buffer *buffer,
                                  const struct zepi_ur_recorded_launch *old)
{
    struct zepi_device_kernel *device_kernel;
    const uint32_t device_index = zepi_context_device_index(buffer->context, buffer->device);
    const ur_result_t result =
        zepi_ur_result(zepi_kernel_get_pool(draft->kernel, device_index, &device_kernel));
    if (result != UR_RESULT_SUCCESS)
        return result;
    const uint32_t count = device_kernel->argument_count;
    draft->arguments = zepi_allocate(count, sizeof(zepi_argument_t));
    draft->held = zepi_allocate(count, sizeof(void *));
    if (!draft->arguments || !draft->held)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < count && i < old->desc.argument_count; i++) {
        draft->arguments[i] = old->arguments[i];
        draft->held[i] = old->held[i];
    }
    draft->desc.arguments = draft->arguments;
    draft->desc.argument_count = count;
    return UR_RESULT_SUCCESS;
}

static ur_result_t set_argument(struct draft *draft, uint32_t index, zepi_argument_t argument,
                                void *held)
{
    if (index >= draft->desc.argument_count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                              "argument index %u, of %u arguments", index,
                              draft->desc.argument_count);
    draft->arguments[index] = argument;
    draft->held[index] = held;
    return UR_RESULT_SUCCESS;
}

static ur_result_t
set_mem_arguments(struct draft *draft, const struct zepi_ur_command_buffer *buffer,
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
            result = set_argument(draft, from->argIndex, argument, from->hNewMemObjArg);
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

static ur_result_t make_launch(const struct zepi_ur_recorded *recorded,
                               const struct zepi_ur_recorded_launch *old,
                               const ur_exp_command_buffer_update_kernel_launch_desc_t *update,
                               struct zepi_ur_recorded_launch **out_launch)
{
    const struct zepi_ur_command_buffer *buffer = recorded->buffer;
    struct draft draft = {.kernel = old->kernel, .desc = old->desc};
    ur_result_t result = choose_kernel(&draft, recorded, update->hNewKernel);
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
        result = zepi_ur_recorded_launch_create(draft.kernel, buffer->context, buffer->device,
                                                &draft.desc, draft.held, out_launch);
    draft_finish(&draft);
    return result;
}

static struct zepi_ur_recorded *command_of(ur_exp_command_buffer_command_handle_t handle)
{
    return (struct zepi_ur_recorded *)handle;
}

static ur_result_t check_command(const struct zepi_ur_command_buffer *buffer,
                                 ur_exp_command_buffer_command_handle_t handle)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP;
    const ur_result_t result = zepi_ur_check(handle, &zepi_ur_recorded_type, wrong);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (command_of(handle)->buffer != buffer)
        return zepi_ur_refuse(wrong, "a command of another command buffer");
    if (command_of(handle)->kind != ZEPI_UR_RECORDED_LAUNCH)
        return zepi_ur_refuse(wrong, "a command that is no launch");
    return UR_RESULT_SUCCESS;
}

// The launch that update number `count` starts from: an earlier one's of this call, or the
// command's. New reference.
static struct zepi_ur_recorded_launch *
find_old(struct zepi_ur_command_buffer *buffer, uint32_t count,
         const ur_exp_command_buffer_update_kernel_launch_desc_t *updates,
         struct zepi_ur_recorded_launch *const *launches)
{
    for (uint32_t i = count; i-- > 0;) {
        if (updates[i].hCommand == updates[count].hCommand)
            return zepi_ur_recorded_launch_retain(launches[i]);
    }
    zepi_mutex_lock(&buffer->mutex);
    struct zepi_ur_recorded_launch *old =
        zepi_ur_recorded_launch_retain(command_of(updates[count].hCommand)->launch);
    zepi_mutex_unlock(&buffer->mutex);
    return old;
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
    struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(handle);
    zepi_mutex_lock(&buffer->mutex);
    const bool is_finalized = buffer->is_finalized;
    zepi_mutex_unlock(&buffer->mutex);
    if (!buffer->is_updatable || !is_finalized)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION, "the command buffer %s",
                              buffer->is_updatable ? "was not finalized yet"
                                                   : "was not made to be updatable");
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
    struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(hCommandBuffer);
    struct zepi_ur_recorded_launch **launches =
        zepi_allocate(numKernelUpdates, sizeof(struct zepi_ur_recorded_launch *));
    if (!launches)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < numKernelUpdates && result == UR_RESULT_SUCCESS; i++) {
        struct zepi_ur_recorded_launch *old = find_old(buffer, i, pUpdateKernelLaunch, launches);
        result = make_launch(command_of(pUpdateKernelLaunch[i].hCommand), old,
                             &pUpdateKernelLaunch[i], &launches[i]);
        zepi_ur_recorded_launch_release(old);
    }
    // The new ones go in, the old ones come out.
    zepi_mutex_lock(&buffer->mutex);
    for (uint32_t i = 0; i < numKernelUpdates && result == UR_RESULT_SUCCESS; i++) {
        struct zepi_ur_recorded *recorded = command_of(pUpdateKernelLaunch[i].hCommand);
        struct zepi_ur_recorded_launch *old = recorded->launch;
        recorded->launch = launches[i];
        launches[i] = old;
    }
    zepi_mutex_unlock(&buffer->mutex);
    for (uint32_t i = 0; i < numKernelUpdates; i++)
        zepi_ur_recorded_launch_release(launches[i]);
    zepi_free(launches);
    return result;
}
