// SPDX-License-Identifier: MIT
//
// Brings up two devices with two sub-devices each, in a process of its own for each Level Zero call
// and each allocation that fails.
#include "test_env.h"
#include "walk.h"

#include <stdlib.h>

static zepi_result_t use_devices(zepi_platform_t platform)
{
    zepi_device_t devices[2] = {NULL, NULL};
    zepi_device_t sub_devices[2] = {NULL, NULL};
    zepi_device_info_t info = {.size = sizeof(info)};
    zepi_context_t context = NULL;
    zepi_queue_t queue = NULL;
    uint32_t count = 0;
    zepi_result_t result;
    STEP(zepi.device_get(platform, 2, devices, &count));
    WALK_EXPECT(count == 2);
    STEP(zepi.device_get_sub_devices(devices[1], 2, sub_devices, &count));
    WALK_EXPECT(count == 2);
    STEP(zepi.device_get_info(sub_devices[1], &info));
    // A query that fails does not make zepi forget the driver's functions.
    WALK_EXPECT(info.parent == devices[1] && info.has_images && info.has_module_program &&
                info.has_counter_based_events);
    STEP(zepi.context_create(2, devices, &context));
    STEP(zepi.queue_create(context, devices[1], ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.queue_barrier(queue, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(queue));
out:
    walk_settle(queue);
    walk_release(queue);
    walk_release(context);
    for (int i = 0; i < 2; i++) {
        walk_release(devices[i]);
        walk_release(sub_devices[i]);
    }
    return result;
}

static zepi_result_t bring_up(void)
{
    zepi_platform_t platform = NULL;
    uint32_t count = 0;
    zepi_result_t result;
    STEP(zepi.platform_get(1, &platform, &count));
    if (count == 0) {
        // No driver came up: that is no failure of the call, but it says why.
        zepi.last_error(&result);
        return walk_step(result, "platform_get");
    }
    result = use_devices(platform);
out:
    walk_release(platform);
    return result;
}

int main(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    walk_begin();
    walk_in_children(true);
    // The loader asks a driver once, and returns the same for ever.
    walk_let_last("zeInit returned");
    walk_calls("calls, device lost", bring_up, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("calls, out of memory", bring_up, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_allocations("allocations", bring_up);
    return 0;
}
