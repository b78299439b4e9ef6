// SPDX-License-Identifier: MIT
// One command buffer, replayed by several threads on queues of all kinds while another one updates
// it, and another of which several executions are under way; each thread also records, replays and
// releases a command buffer of its own.
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include "ur/ur.h"
#include "ze/ze.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLAYERS 4
#define ROUNDS 100
#define ITEMS 64

static struct test_gear gear;
static ur_kernel_handle_t kernel; // sum[i] = a[i] + b[i]
static ur_exp_command_buffer_handle_t shared;
static ur_exp_command_buffer_command_handle_t command;
static float *inputs[2]; // ones, tens
static float *sum;
static float *copy; // of the sum, by the host's command
// Without a command of the host's own: several executions are under way.
static ur_exp_command_buffer_handle_t plain;
static ur_exp_command_buffer_command_handle_t plain_commands[2];
static float *plain_sums;

// Draws the plugin out of the archive: test_plugin_load takes it as soon as it is there.
extern zepi_plugin_init_fn *const plugin_init;
zepi_plugin_init_fn *const plugin_init = zepiPluginInit;

static void expect(bool is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "command buffer stress: %s (last error: %s)\n", what, zepi.last_error(NULL));
    exit(1);
}
#define OK(call) expect((call) == UR_RESULT_SUCCESS, #call)

static ur_exp_kernel_arg_properties_t pointer(uint32_t index, void *memory)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
                                            .index = index,
                                            .value.pointer = memory};
}

static ur_exp_command_buffer_handle_t make(bool is_updatable)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = is_updatable};
    ur_exp_command_buffer_handle_t buffer;
    OK(zepi_urCommandBufferCreateExp((ur_context_handle_t)gear.context,
                                     (ur_device_handle_t)gear.device, &desc, &buffer));
    return buffer;
}

static ur_exp_command_buffer_sync_point_t
append(ur_exp_command_buffer_handle_t buffer, float *a, float *to,
       ur_exp_command_buffer_command_handle_t *out_command)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {pointer(0, a), pointer(1, a),
                                                        pointer(2, to)};
    const size_t items = ITEMS;
    ur_exp_command_buffer_sync_point_t point;
    OK(zepi_urCommandBufferAppendKernelLaunchWithArgsExp(buffer, kernel, 1, NULL, &items, NULL, 3,
                                                         arguments, 0, NULL, 0, NULL, 0, NULL,
                                                         &point, NULL, out_command));
    return point;
}

static void record(void *user)
{
    ur_native_handle_t list;
    OK(zepi_urCommandBufferGetNativeHandleExp(user, &list));
    expect(zepi_ze.zeCommandListAppendMemoryCopy((ze_command_list_handle_t)list, copy, sum,
                                                 ITEMS * sizeof(float), NULL, 0,
                                                 NULL) == ZE_RESULT_SUCCESS,
           "a native copy");
}

static bool is_sum(float value)
{
    return value == 0 || value == 2 || value == 20;
}

static void *replay(void *user)
{
    const intptr_t number = (intptr_t)user;
    zepi_queue_t queue;
    float *own;
    TEST_OK(zepi.queue_create(
        gear.context, gear.device,
        (number % 2 ? ZEPI_QUEUE_IN_ORDER : 0) | (number < 3 ? 0 : ZEPI_QUEUE_PROFILING), &queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * sizeof(float), 0,
                              (void **)&own));
    for (int i = 0; i < ROUNDS; i++) {
        ur_event_handle_t event;
        OK(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)queue, shared, 0, NULL, &event));
        ur_exp_command_buffer_handle_t buffer = make(false);
        append(buffer, inputs[0], own, NULL);
        OK(zepi_urCommandBufferFinalizeExp(buffer));
        OK(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)queue, buffer, 1, &event, NULL));
        OK(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)queue, plain, 0, NULL, NULL));
        OK(zepi_urCommandBufferReleaseExp(buffer)); // waits
        OK(zepi_urEventRelease(event));
        expect(own[0] == 2 && own[ITEMS - 1] == 2, "a wrong number");
    }
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.usm_free(gear.context, own));
    return NULL;
}

// Both inputs at once: no execution adds one to the other.
static void *update(void *user)
{
    (void)user;
    for (int i = 0; i <= ROUNDS; i++) {
        ur_exp_command_buffer_update_pointer_arg_desc_t arguments[2];
        for (uint32_t at = 0; at < 2; at++)
            arguments[at] = (ur_exp_command_buffer_update_pointer_arg_desc_t){
                .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
                .argIndex = at,
                .pNewPointerArg = &inputs[i % 2]};
        const ur_exp_command_buffer_update_kernel_launch_desc_t desc = {
            .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
            .hCommand = command,
            .newWorkDim = 1,
            .numNewPointerArgs = 2,
            .pNewPointerArgList = arguments};
        OK(zepi_urCommandBufferUpdateKernelLaunchExp(shared, 1, &desc));
        expect(is_sum(*(volatile float *)sum), "a sum of different inputs");
        ur_exp_command_buffer_update_kernel_launch_desc_t both[] = {desc, desc};
        for (int at = 0; at < 2; at++)
            both[at].hCommand = plain_commands[at];
        OK(zepi_urCommandBufferUpdateKernelLaunchExp(plain, 2, both));
        expect(is_sum(*(volatile float *)plain_sums) &&
                   is_sum(*(volatile float *)&plain_sums[ITEMS]),
               "a sum of different inputs, of several executions");
    }
    return NULL;
}

static void set_up(void)
{
    const zepi_device_image_desc_t image = test_spirv_image("vector_add");
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    ur_program_handle_t program;
    float **memory[] = {&inputs[0], &inputs[1], &sum, &copy, &plain_sums};
    for (int i = 0; i < 5; i++)
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED,
                                  2 * ITEMS * sizeof(float), 0, (void **)memory[i]));
    for (int i = 0; i < ITEMS; i++) {
        inputs[0][i] = 1;
        inputs[1][i] = 10;
        sum[i] = copy[i] = plain_sums[i] = plain_sums[ITEMS + i] = 0;
    }
    OK(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL, &program));
    OK(zepi_urProgramBuild(context, program, NULL));
    OK(zepi_urKernelCreate(program, "vector_add", &kernel));
    OK(zepi_urProgramRelease(program));
    shared = make(true);
    const ur_exp_command_buffer_sync_point_t added = append(shared, inputs[0], sum, &command);
    OK(zepi_urCommandBufferAppendNativeCommandExp(shared, record, shared, NULL, 1, &added, NULL));
    OK(zepi_urCommandBufferFinalizeExp(shared));
    plain = make(true);
    for (int i = 0; i < 2; i++)
        append(plain, inputs[0], plain_sums + (size_t)i * ITEMS, &plain_commands[i]);
    OK(zepi_urCommandBufferFinalizeExp(plain));
}

static void tear_down(void)
{
    OK(zepi_urCommandBufferReleaseExp(shared));
    OK(zepi_urCommandBufferReleaseExp(plain));
    OK(zepi_urKernelRelease(kernel));
    TEST_OK(zepi.usm_free(gear.context, inputs[0]));
    TEST_OK(zepi.usm_free(gear.context, inputs[1]));
    TEST_OK(zepi.usm_free(gear.context, sum));
    TEST_OK(zepi.usm_free(gear.context, copy));
    TEST_OK(zepi.usm_free(gear.context, plain_sums));
    test_gear_destroy(&gear);
}

int main(void)
{
    pthread_t threads[REPLAYERS + 1];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    set_up();
    for (intptr_t i = 0; i <= REPLAYERS; i++)
        expect(pthread_create(&threads[i], NULL, i == 0 ? update : replay, (void *)i) == 0,
               "no thread");
    for (int i = 0; i <= REPLAYERS; i++)
        pthread_join(threads[i], NULL);
    OK(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)gear.queue, shared, 0, NULL, NULL));
    OK(zepi_urEnqueueCommandBufferExp((ur_queue_handle_t)gear.queue, plain, 0, NULL, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    expect(plain_sums[0] == 2 && plain_sums[2 * ITEMS - 1] == 2, "a wrong last sum of two");
    expect(sum[0] == 2 && copy[0] == 2 && copy[ITEMS - 1] == 2, "a wrong last sum");
    tear_down();
    expect(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
