// SPDX-License-Identifier: MIT
// Appending launches to command buffers.
#include "core/alloc.h"
#include "ur/graph/command_buffer.h"
#include "ur/queue/launch.h"

static ur_result_t check_alternatives(const struct zepi_graph *graph, ur_kernel_handle_t kernel,
                                      uint32_t count, const ur_kernel_handle_t *kernels)
{
    if ((count == 0) != (kernels == NULL))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the list of alternative kernels %s",
                              count == 0 ? "is empty, and is not NULL" : "is NULL");
    for (uint32_t i = 0; i < count; i++) {
        ur_result_t result;
        if ((result = zepi_ur_check_kernel(kernels[i])) ||
            (result = zepi_ur_check_same_context(
                 graph->context, zepi_ur_kernel(kernels[i])->context,
                 UR_RESULT_ERROR_INVALID_KERNEL, "an alternative kernel")))
            return result;
        if (kernels[i] == kernel)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                  "the kernel itself is among its alternatives");
    }
    return UR_RESULT_SUCCESS;
}

static ur_result_t make_launch(struct zepi_graph *graph, const struct zepi_ur_launch *from,
                               struct zepi_launch_record **out_record)
{
    struct zepi_launch launch;
    struct zepi_launch_room room;
    const ur_result_t result = zepi_ur_launch_read(from, graph->context, graph->device,
                                                   graph->device_index, &launch, &room);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const zepi_result_t made = zepi_graph_make_launch(graph, &launch, out_record);
    zepi_launch_room_finish(&room, &launch);
    return made == ZEPI_SUCCESS ? UR_RESULT_SUCCESS : zepi_ur_fail_launch(made);
}

// `launch` is consumed. NULL without memory (noted).
static struct zepi_graph_command *make_command(const struct zepi_ur_append *append,
                                               struct zepi_kernel *kernel, uint32_t count,
                                               const ur_kernel_handle_t *alternatives,
                                               struct zepi_launch_record *launch)
{
    struct zepi_graph_command *command = zepi_ur_append_make(append, ZEPI_COMMAND_LAUNCH);
    if (!command) {
        zepi_launch_record_release(launch);
        return NULL;
    }
    command->launch = launch;
    // Without a handle no update chooses another kernel.
    if (!append->out_command)
        return command;
    command->kernels = zepi_allocate((size_t)count + 1, sizeof(struct zepi_kernel *));
    if (!command->kernels) {
        zepi_fail_no_memory();
        zepi_release(command);
        return NULL;
    }
    command->kernels[command->kernel_count++] = zepi_retain(kernel);
    for (uint32_t i = 0; i < count; i++)
        command->kernels[command->kernel_count++] = zepi_retain(zepi_ur_kernel(alternatives[i]));
    return command;
}

ur_result_t zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs, uint32_t numKernelAlternatives,
    ur_kernel_handle_t *phKernelAlternatives, ZEPI_UR_APPEND_PARAMETERS)
{
    const struct zepi_ur_launch from = {.kernel = zepi_ur_kernel(hKernel),
                                        .work_dim = workDim,
                                        .global_offset = pGlobalWorkOffset,
                                        .global_size = pGlobalWorkSize,
                                        .local_size = pLocalWorkSize,
                                        .argument_count = numArgs,
                                        .arguments = pArgs};
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_launch_record *launch = NULL;
    ur_result_t result;
    if ((result = zepi_ur_append_begin(&append)) || (result = zepi_ur_check_kernel(hKernel)) ||
        (result = check_alternatives(append.graph, hKernel, numKernelAlternatives,
                                     phKernelAlternatives)) ||
        (append.out_command && !append.graph->is_updatable &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                  "a command's handle is for updates, and the command buffer is "
                                  "not updatable"))) ||
        (result = make_launch(append.graph, &from, &launch)))
        return result;
    return zepi_ur_append_end(&append, make_command(&append, from.kernel, numKernelAlternatives,
                                                    phKernelAlternatives, launch));
}

// Kernels have no arguments of their own: this is for those that take none.
ur_result_t zepi_urCommandBufferAppendKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numKernelAlternatives, ur_kernel_handle_t *phKernelAlternatives,
    ZEPI_UR_APPEND_PARAMETERS)
{
    return zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
        hCommandBuffer, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize, 0,
        NULL, numKernelAlternatives, phKernelAlternatives, numSyncPointsInWaitList,
        pSyncPointWaitList, numEventsInWaitList, phEventWaitList, pSyncPoint, phEvent, phCommand);
}
