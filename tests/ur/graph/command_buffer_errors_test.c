// SPDX-License-Identifier: MIT
// What command buffers answer and refuse.
#include "command_buffer_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(command_buffer_errors, .init = cb_set_up, .fini = cb_tear_down);

Test(command_buffer_errors, knows_what_it_is)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = true,
                                               .isInOrder = true,
                                               .enableProfiling = true};
    ur_exp_command_buffer_desc_t answer;
    uint32_t references;
    buffer_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    UR_OK(urCommandBufferGetInfoExp(buffer, UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR, sizeof(answer),
                                    &answer, NULL));
    cr_assert(answer.isUpdatable && answer.isInOrder && answer.enableProfiling);
    UR_OK(urCommandBufferRetainExp(buffer));
    UR_OK(urCommandBufferGetInfoExp(buffer, UR_EXP_COMMAND_BUFFER_INFO_REFERENCE_COUNT,
                                    sizeof(references), &references, NULL));
    cr_assert_eq(references, 2);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_FAILS(urCommandBufferGetInfoExp(buffer, (ur_exp_command_buffer_info_t)9, sizeof(answer),
                                       &answer, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(
        urCommandBufferGetInfoExp(buffer, UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR, 1, &answer, NULL),
        UR_RESULT_ERROR_INVALID_SIZE);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_FAILS(urCommandBufferReleaseExp(buffer), UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_EXP);
}

Test(command_buffer_errors, is_as_the_device_says)
{
    static const ur_device_info_t no[] = {UR_DEVICE_INFO_COMMAND_BUFFER_EVENT_SUPPORT_EXP,
                                          UR_DEVICE_INFO_COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP};
    ur_bool_t answer;
    uint32_t updates;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_COMMAND_BUFFER_SUPPORT_EXP, sizeof(answer),
                          &answer, NULL));
    cr_assert(answer);
    for (int i = 0; i < 2; i++) {
        UR_OK(urDeviceGetInfo(gear.device, no[i], sizeof(answer), &answer, NULL));
        cr_assert_not(answer);
    }
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP,
                          sizeof(updates), &updates, NULL));
    cr_assert_eq(updates, 0x1f); // all but events
}

static void refuse_wait_lists(buffer_t buffer, float *a)
{
    const size_t bytes = ITEMS * sizeof(float);
    const sync_point_t unknown = 5;
    UR_FAILS(
        urCommandBufferAppendUSMMemcpyExp(NULL, a, a, bytes, 0, NULL, 0, NULL, NULL, NULL, NULL),
        UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urCommandBufferAppendUSMMemcpyExp((buffer_t)cb_add, a, a, bytes, 0, NULL, 0, NULL,
                                               NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_EXP);
    UR_FAILS(urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 1, &unknown, 0, NULL, NULL,
                                               NULL, NULL),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP);
    UR_FAILS(
        urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 1, NULL, 0, NULL, NULL, NULL, NULL),
        UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP);
    UR_FAILS(urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 0, &unknown, 0, NULL, NULL,
                                               NULL, NULL),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP);
    UR_FAILS(
        urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 0, NULL, 1, NULL, NULL, NULL, NULL),
        UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
}

static void refuse_memory(buffer_t buffer, float *a)
{
    const size_t bytes = ITEMS * sizeof(float);
    UR_FAILS(urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes + 4096, 0, NULL, 0, NULL, NULL,
                                               NULL, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(
        urCommandBufferAppendUSMFillExp(buffer, a, a, 3, 8, 0, NULL, 0, NULL, NULL, NULL, NULL),
        UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urCommandBufferAppendUSMPrefetchExp(buffer, a, bytes, 0x100, 0, NULL, 0, NULL, NULL,
                                                 NULL, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urCommandBufferAppendMemBufferReadExp(buffer, NULL, 0, 4, a, 0, NULL, 0, NULL, NULL,
                                                   NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void refuse_launches(buffer_t buffer, float *a)
{
    const size_t items = ITEMS, seven = 7;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, a)};
    command_t command;
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, NULL, 1, NULL, &items, NULL, 3,
                                                          arguments, 0, NULL, 0, NULL, 0, NULL,
                                                          NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 2,
                                                          arguments, 0, NULL, 0, NULL, 0, NULL,
                                                          NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 4, NULL, &items, NULL, 3,
                                                          arguments, 0, NULL, 0, NULL, 0, NULL,
                                                          NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_WORK_DIMENSION);
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, &seven,
                                                          3, arguments, 0, NULL, 0, NULL, 0, NULL,
                                                          NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE);
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 3,
                                                          arguments, 1, &cb_add, 0, NULL, 0, NULL,
                                                          NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 3,
                                                          arguments, 0, NULL, 0, NULL, 0, NULL,
                                                          NULL, NULL, &command),
             UR_RESULT_ERROR_INVALID_OPERATION);
}

// Before and after it is finalized.
static void refuse_out_of_turn(buffer_t buffer, float *a)
{
    const size_t bytes = ITEMS * sizeof(float);
    sync_point_t point;
    ur_native_handle_t native;
    UR_FAILS(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS(urCommandBufferFinalizeExp(buffer), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 0, NULL, 0, NULL, &point, NULL,
                                               NULL),
             UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urEnqueueCommandBufferExp(gear.queue, NULL, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urEnqueueCommandBufferExp(gear.queue, buffer, 1, NULL, NULL),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS_SAYING(urCommandBufferGetNativeHandleExp(buffer, &native),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "several command lists");
}

Test(command_buffer_errors, refuses_what_it_cannot_record)
{
    float *a = cb_floats(ITEMS);
    buffer_t buffer = cb_make(FREE), other;
    UR_FAILS(urCommandBufferCreateExp(gear.context, gear.device, NULL, &other),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    refuse_wait_lists(buffer, a);
    refuse_memory(buffer, a);
    refuse_launches(buffer, a);
    refuse_out_of_turn(buffer, a);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
}

// `waits`: a list of one event; `out`: an output for one.
#define REFUSES_EVENTS(function, ...)                                                              \
    do {                                                                                           \
        UR_FAILS_SAYING(function(buffer, __VA_ARGS__, 0, NULL, 1, waits, NULL, NULL, NULL),        \
                        UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "a single command");                  \
        UR_FAILS_SAYING(function(buffer, __VA_ARGS__, 0, NULL, 0, NULL, NULL, out, NULL),          \
                        UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "a single command");                  \
    } while (0)

static void refuse_events_of_usm(buffer_t buffer, float *a, const ur_event_handle_t *waits,
                                 ur_event_handle_t *out)
{
    const size_t items = ITEMS, bytes = ITEMS * sizeof(float);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, a)};
    REFUSES_EVENTS(urCommandBufferAppendUSMMemcpyExp, a, a, bytes);
    REFUSES_EVENTS(urCommandBufferAppendUSMFillExp, a, a, sizeof(float), bytes);
    REFUSES_EVENTS(urCommandBufferAppendUSMPrefetchExp, a, bytes, 0);
    REFUSES_EVENTS(urCommandBufferAppendUSMAdviseExp, a, bytes, UR_USM_ADVICE_FLAG_DEFAULT);
    REFUSES_EVENTS(urCommandBufferAppendKernelLaunchExp, cb_add, 1, NULL, &items, NULL, 0, NULL);
    REFUSES_EVENTS(urCommandBufferAppendKernelLaunchWithArgsExp, cb_add, 1, NULL, &items, NULL, 3,
                   arguments, 0, NULL);
}

static void refuse_events_of_buffers(buffer_t buffer, float *a, const ur_event_handle_t *waits,
                                     ur_event_handle_t *out)
{
    const size_t bytes = ITEMS * sizeof(float);
    const ur_rect_offset_t origin = {0, 0, 0};
    const ur_rect_region_t region = {bytes, 1, 1};
    ur_mem_handle_t mem = cb_make_mem(bytes);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferCopyExp, mem, mem, 0, 0, bytes);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferWriteExp, mem, 0, bytes, a);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferReadExp, mem, 0, bytes, a);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferCopyRectExp, mem, mem, origin, origin, region, 0,
                   0, 0, 0);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferWriteRectExp, mem, origin, origin, region, 0, 0, 0,
                   0, a);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferReadRectExp, mem, origin, origin, region, 0, 0, 0,
                   0, a);
    REFUSES_EVENTS(urCommandBufferAppendMemBufferFillExp, mem, a, sizeof(float), 0, bytes);
    UR_OK(urMemRelease(mem));
}

Test(command_buffer_errors, refuses_events_of_single_commands_and_goes_on)
{
    const struct host_event host = host_event_make();
    const ur_event_handle_t untouched = (ur_event_handle_t)&host;
    ur_event_handle_t out = untouched;
    ur_event_handle_t over;
    float *a = cb_floats(ITEMS);
    buffer_t buffer = cb_make(UPDATABLE);
    const float one = 1;
    command_t fill;
    refuse_events_of_usm(buffer, a, &host.event, &out);
    refuse_events_of_buffers(buffer, a, &host.event, &out);
    cr_assert_eq(out, untouched);
    UR_OK(urCommandBufferAppendUSMFillExp(buffer, a, &one, sizeof(one), ITEMS * sizeof(float), 0,
                                          NULL, 0, NULL, NULL, NULL, &fill));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS_SAYING(urCommandBufferUpdateSignalEventExp(fill, &out),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "a single command");
    UR_FAILS_SAYING(urCommandBufferUpdateWaitEventsExp(fill, 1, &host.event),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "a single command");
    cr_assert_eq(out, untouched);
    // An execution has both.
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 1, &host.event, &over));
    cb_expect_unwritten(a);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &over));
    cb_expect(a, 1);
    UR_OK(urEventRelease(over));
    UR_OK(urCommandBufferReleaseExp(buffer));
    host_event_release(&host);
    ur_free(a);
}

// As from queues: a driver may never end such a copy.
Test(command_buffer_errors, refuses_copies_of_nothing_between_buffers)
{
    buffer_t buffer = cb_make(FREE);
    ur_mem_handle_t mem = cb_make_mem(8);
    UR_FAILS(urCommandBufferAppendMemBufferCopyExp(buffer, mem, mem, 0, 4, 0, 0, NULL, 0, NULL,
                                                   NULL, NULL, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_OK(urMemRelease(mem));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

static void refuse_changes(buffer_t buffer, command_t launch)
{
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(launch);
    update.hNewKernel = spin;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    update = cb_update(launch);
    update.newWorkDim = 0;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_WORK_DIMENSION);
    update.newWorkDim = 2;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    update = cb_update(launch);
    const ur_exp_command_buffer_update_value_arg_desc_t value = cb_new_value(0, 3, "abc");
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urKernelRelease(spin));
}

Test(command_buffer_errors, refuses_updates_that_make_no_sense)
{
    float *a = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, a)};
    command_t launch, copy, foreign;
    buffer_t buffer = cb_make(UPDATABLE), second = cb_make(UPDATABLE), fixed = cb_make(FREE);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &launch);
    cb_append_launch(second, cb_add, ITEMS, 3, arguments, AT_ONCE, &foreign);
    UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, a, a + 1, 4, 0, NULL, 0, NULL, NULL, NULL,
                                            &copy));
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(launch);
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urCommandBufferFinalizeExp(fixed));
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(fixed, 1, &update),
             UR_RESULT_ERROR_INVALID_OPERATION);
    update.hCommand = NULL;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(fixed, 1, &update),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    update.hCommand = launch;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 0, &update),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    update = cb_update(NULL);
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    update = cb_update(copy);
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    update = cb_update(foreign);
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    refuse_changes(buffer, launch);
    a[2] = 3;
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(a[2], 6);
    UR_OK(urCommandBufferReleaseExp(buffer));
    // The command went with its command buffer.
    update = cb_update(launch);
    UR_OK(urCommandBufferFinalizeExp(second));
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(second, 1, &update),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    cb_run(gear.queue, second);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(a[2], 12);
    UR_OK(urCommandBufferReleaseExp(second));
    UR_OK(urCommandBufferReleaseExp(fixed));
    ur_free(a);
}

Test(command_buffer_devices, belongs_to_one_device, .fini = ur_tear_down)
{
    ur_set_up_devices(2);
    ur_queue_handle_t queue = ur_queue(gear.devices[1], 0);
    buffer_t buffer = cb_make(FREE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_QUEUE);
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL));
    UR_OK(urQueueRelease(queue));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

// A kernel knows the devices of its own context alone: the graph's may have more.
Test(command_buffer_devices, chooses_among_kernels_of_its_context, .fini = ur_tear_down)
{
    const size_t items = ITEMS;
    ur_context_handle_t context;
    ur_set_up_devices(2);
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add"), foreign;
    UR_OK(urContextCreate(1, &gear.device, NULL, &context));
    struct test_bytes spirv = test_env_read_spirv("negate");
    ur_program_handle_t program;
    UR_OK(urProgramCreateWithIL(context, spirv.data, spirv.size_bytes, NULL, &program));
    UR_OK(urProgramBuild(context, program, NULL));
    UR_OK(urKernelCreate(program, "negate", &foreign));
    UR_OK(urProgramRelease(program));
    free(spirv.data);
    float *a = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, a)};
    buffer_t buffer = cb_make(UPDATABLE);
    UR_FAILS_SAYING(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, add, 1, NULL, &items, NULL,
                                                                 3, arguments, 1, &foreign, 0, NULL,
                                                                 0, NULL, NULL, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_KERNEL, "of another context");
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(foreign));
    UR_OK(urKernelRelease(add));
    UR_OK(urContextRelease(context));
    ur_free(a);
}
