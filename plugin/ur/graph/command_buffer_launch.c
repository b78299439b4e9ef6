// SPDX-License-Identifier: MIT
// Appending launches to command buffers.
#include "core/alloc.h"
#include "ur/graph/command_buffer.h"
#include "ur/queue/launch.h"

#define INLINE_ARGUMENTS 16

static ur_result_t check_alternatives(const struct zepi_graph *graph, ur_kernel_handle_t kernel,
                                      uint32_t count, const ur_kernel_handle_t *kernels)
{
    if ((count == 0) != (kernels == NULL))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the list of alternative kernels %s",
                              count == 0 ? "is empty, and is not NULL" : "is NULL");
    for (uint32_t i = 0; i < count; i++) {
        const ur_result_t result = zepi_ur_check_kernel(kernels[i]);
        if (result != UR_RESULT_SUCCESS)
            return result;
        if (zepi_ur_kernel(kernels[i])->context != graph->context)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL,
                                  "alternative kernel '%s' is of another context",
                                  zepi_ur_kernel(kernels[i])->name);
        if (kernels[i] == kernel)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                  "the kernel itself is among its alternatives");
    }
    return UR_RESULT_SUCCESS;
}

// The memory object or sampler of each argument, by its index; without references.
static void list_memory(uint32_t count, const ur_exp_kernel_arg_properties_t *arguments,
                        struct zepi_graph_memory *memory)
{
    memset(memory, 0, count * sizeof(*memory));
    for (uint32_t i = 0; i < count; i++) {
        const ur_exp_kernel_arg_properties_t *argument = &arguments[i];
        struct zepi_graph_memory *entry = &memory[argument->index];
        if (argument->type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ)
            *entry = zepi_ur_graph_memory(zepi_ur_mem(argument->value.memObjTuple.hMem));
        else if (argument->type == UR_EXP_KERNEL_ARG_TYPE_SAMPLER)
            entry->object = argument->value.sampler;
    }
}

static ur_result_t fail_graph_launch(zepi_result_t result, const struct zepi_graph *graph,
                                     const struct zepi_kernel *kernel,
                                     const struct zepi_launch *asked)
{
    const ur_result_t ur =
        zepi_ur_fail_launch(result, kernel, graph->context, graph->device, asked);
    // There is no wait list here.
    return result == ZEPI_ERROR_INVALID_OBJECT ? UR_RESULT_ERROR_INVALID_KERNEL : ur;
}

ur_result_t zepi_ur_check_graph_launch(const struct zepi_graph *graph, struct zepi_kernel *kernel,
                                       const zepi_launch_desc_t *desc)
{
    const struct zepi_launch asked = zepi_launch_of(desc, (zepi_wait_list_t){NULL, 0}, NULL);
    const zepi_result_t checked = zepi_launch_check(graph->context, graph->device, kernel, &asked);
    return checked == ZEPI_SUCCESS ? UR_RESULT_SUCCESS
                                   : fail_graph_launch(checked, graph, kernel, &asked);
}

// With arguments of any kind and in any order.
static ur_result_t make_launch_with_objects(struct zepi_graph *graph, struct zepi_kernel *kernel,
                                            struct zepi_launch *asked,
                                            const ur_exp_kernel_arg_properties_t *records,
                                            struct zepi_graph_launch **out_launch)
{
    struct zepi_ur_arguments arguments;
    struct zepi_graph_memory inline_memory[INLINE_ARGUMENTS];
    struct zepi_graph_memory *memory = inline_memory;
    const uint32_t count = asked->arguments.count;
    ur_result_t result =
        zepi_ur_arguments_init(&arguments, kernel, graph->context, graph->device, count, records);
    if (result != UR_RESULT_SUCCESS)
        return result;
    asked->arguments = zepi_argument_list_of(count, arguments.list);
    if (count > INLINE_ARGUMENTS)
        memory = zepi_allocate(count, sizeof(*memory));
    if (memory) {
        list_memory(count, records, memory);
        const zepi_result_t made = zepi_graph_make_launch(graph, kernel, asked, memory, out_launch);
        if (made != ZEPI_SUCCESS)
            result = fail_graph_launch(made, graph, kernel, asked);
    } else {
        result = zepi_ur_result(zepi_fail_no_memory());
    }
    if (memory != inline_memory)
        zepi_free(memory);
    zepi_ur_arguments_finish(&arguments);
    return result;
}

static ur_result_t make_launch(struct zepi_graph *graph, struct zepi_kernel *kernel,
                               struct zepi_launch *asked,
                               const ur_exp_kernel_arg_properties_t *records,
                               struct zepi_graph_launch **out_launch)
{
    if (!zepi_ur_sizes_are_right(asked))
        return zepi_ur_check_sizes(asked);
    if (asked->arguments.count > 0 && !records)
        return zepi_ur_refuse_null("pArgs");
    const zepi_result_t made = zepi_graph_make_launch(graph, kernel, asked, NULL, out_launch);
    if (made == ZEPI_SUCCESS)
        return UR_RESULT_SUCCESS;
    return made == ZEPI_ARGUMENTS_UNREAD
               ? make_launch_with_objects(graph, kernel, asked, records, out_launch)
               : fail_graph_launch(made, graph, kernel, asked);
}

// `launch` is consumed. NULL without memory (noted).
static struct zepi_graph_command *make_command(const struct zepi_ur_append *append,
                                               struct zepi_kernel *kernel, uint32_t count,
                                               const ur_kernel_handle_t *alternatives,
                                               struct zepi_graph_launch *launch)
{
    struct zepi_graph_command *command = zepi_ur_append_make(append, ZEPI_GRAPH_LAUNCH);
    if (!command) {
        zepi_graph_launch_release(launch);
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

static ur_result_t append_launch(struct zepi_ur_append *append, ur_kernel_handle_t kernel,
                                 struct zepi_launch *asked,
                                 const ur_exp_kernel_arg_properties_t *records,
                                 uint32_t alternative_count, const ur_kernel_handle_t *alternatives)
{
    struct zepi_graph_launch *launch = NULL;
    ur_result_t result = zepi_ur_append_begin(append);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_kernel(kernel);
    if (result == UR_RESULT_SUCCESS)
        result = check_alternatives(append->graph, kernel, alternative_count, alternatives);
    if (result == UR_RESULT_SUCCESS && append->out_command && !append->graph->is_updatable)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                "a command's handle is for updates, and the command buffer is not "
                                "updatable");
    if (result == UR_RESULT_SUCCESS)
        result = make_launch(append->graph, zepi_ur_kernel(kernel), asked, records, &launch);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_append_end(append, make_command(append, zepi_ur_kernel(kernel),
                                                   alternative_count, alternatives, launch));
}

ur_result_t zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs, uint32_t numKernelAlternatives,
    ur_kernel_handle_t *phKernelAlternatives, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_launch asked;
    zepi_ur_launch_init(&asked, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
                        numArgs, pArgs, 0, NULL, NULL);
    struct zepi_ur_append append = {.handle = hCommandBuffer,
                                    .wait_count = numSyncPointsInWaitList,
                                    .waits = pSyncPointWaitList,
                                    .event_count = numEventsInWaitList,
                                    .events = phEventWaitList,
                                    .out_event = phEvent,
                                    .out_sync_point = pSyncPoint,
                                    .out_command = phCommand};
    return append_launch(&append, hKernel, &asked, pArgs, numKernelAlternatives,
                         phKernelAlternatives);
}
