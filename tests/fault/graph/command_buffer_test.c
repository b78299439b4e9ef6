// SPDX-License-Identifier: MIT
//
// Records, updates and replays command buffers, with a command of the host's own among the others,
// while each Level Zero call and each allocation fails in turn.
#include "graph_walk.h"

#include "ur/graph/command_buffer.h"

static zepi_queue_t queue; // of the story at hand

struct native {
    ur_exp_command_buffer_handle_t buffer;
    zepi_result_t result;
};

static void record(void *user)
{
    ur_native_handle_t list = 0;
    struct native *native = user;
    const ur_result_t found = zepi_urCommandBufferGetNativeHandleExp(native->buffer, &list);
    native->result = record_natively(found, list);
}

// data[0..] = 3; data[1] = data[0] + data[0]; data[2] = data[1], by the host.
static zepi_result_t append(ur_exp_command_buffer_handle_t buffer, ur_kernel_handle_t kernel,
                            ur_exp_command_buffer_command_handle_t *out_command)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {pointer(0, data), pointer(1, data),
                                                        pointer(2, data + ITEMS)};
    const float three = 3;
    const size_t items = ITEMS;
    struct native native = {buffer, ZEPI_SUCCESS};
    ur_exp_command_buffer_sync_point_t filled, added;
    zepi_result_t result;
    STEP(told(zepi_urCommandBufferAppendUSMFillExp(buffer, data, &three, sizeof(three),
                                                   ITEMS * sizeof(float), 0, NULL, 0, NULL, &filled,
                                                   NULL, NULL)));
    STEP(told(zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
        buffer, kernel, 1, NULL, &items, NULL, 3, arguments, 0, NULL, 1, &filled, 0, NULL, &added,
        NULL, out_command)));
    STEP(told(zepi_urCommandBufferAppendNativeCommandExp(buffer, record, &native, NULL, 1, &added,
                                                         NULL)));
    STEP(native.result);
    STEP(told(zepi_urCommandBufferFinalizeExp(buffer)));
out:
    return result;
}

static zepi_result_t update(ur_exp_command_buffer_handle_t buffer,
                            ur_exp_command_buffer_command_handle_t command)
{
    const void *memory = data + 2 * ITEMS;
    const ur_exp_command_buffer_update_pointer_arg_desc_t argument = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
        .argIndex = 1,
        .pNewPointerArg = &memory};
    const ur_exp_command_buffer_update_kernel_launch_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = command,
        .newWorkDim = 1,
        .numNewPointerArgs = 1,
        .pNewPointerArgList = &argument};
    return told(zepi_urCommandBufferUpdateKernelLaunchExp(buffer, 1, &desc));
}

static zepi_result_t replay(zepi_queue_flags_t flags)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = true};
    ur_exp_command_buffer_handle_t buffer = NULL;
    ur_exp_command_buffer_command_handle_t command = NULL;
    ur_kernel_handle_t kernel = NULL;
    ur_event_handle_t event = NULL;
    zepi_result_t result;
    STEP(zepi.queue_create(gear.context, gear.device, flags, &queue));
    STEP(graph_walk_start(&kernel));
    STEP(told(zepi_urCommandBufferCreateExp((ur_context_handle_t)gear.context,
                                            (ur_device_handle_t)gear.device, &desc, &buffer)));
    STEP(append(buffer, kernel, &command));
    STEP(told(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)queue, buffer, 0, NULL, &event)));
    STEP(update(buffer, command));
    STEP(told(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)queue, buffer, 1, &event, NULL)));
    STEP(zepi.queue_finish(queue));
    // 3 + 3, then 3 + 6.
    WALK_EXPECT(data[0] == 3 && data[ITEMS] == 9 && data[3 * ITEMS - 1] == 9);
out:
    walk_settle(queue);
    walk_release(event);
    walk_release(buffer);
    walk_release(kernel);
    walk_release(queue);
    queue = NULL;
    return result;
}

static zepi_result_t replay_in_order(void)
{
    return replay(ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING);
}

static zepi_result_t replay_in_any_order(void)
{
    return replay(0);
}

int main(void)
{
    graph_walk_begin(3);
    walk_rehearsed("in order", replay_in_order, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearsed("any order", replay_in_any_order, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("any order, unknown failures", replay_in_any_order, "ZE_RESULT_ERROR_UNKNOWN");
    graph_walk_end();
    return 0;
}
