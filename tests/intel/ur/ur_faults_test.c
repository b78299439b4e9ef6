// SPDX-License-Identifier: MIT
// A GPU that hangs, through Unified Runtime's tables.
#include "intel.h"

#include "ur_fixture.h"

static void a_hang_is_a_lost_device(void)
{
    const size_t one = 1, offset = 0;
    ur_event_handle_t event = NULL;
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    const ur_kernel_handle_t kernel = ur_kernel("empty", "empty");
    const ur_queue_handle_t queue = ur_queue(gear.device, 0);
    intel_set_faults("kernel:1:hang");
    UR_OK(urEnqueueKernelLaunchWithArgsExp(queue, kernel, 1, &offset, &one, &one, 0, NULL, NULL, 0,
                                           NULL, &event));
    UR_FAILS(urEventWait(1, &event), UR_RESULT_ERROR_DEVICE_LOST);
    UR_FAILS(urQueueFinish(queue), UR_RESULT_ERROR_DEVICE_LOST);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static const struct intel_story stories[] = {
    {"a_kernel_that_hangs_is_a_lost_device", a_hang_is_a_lost_device, {NULL}}, {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
