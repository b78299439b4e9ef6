// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_LAUNCH_H
#define ZEPI_LAUNCH_LAUNCH_H

#include "launch/kernel.h"
#include "launch/kernel_instance.h"
#include "launch/launch_record.h"
#include "queue/capture.h"
#include "queue/queue.h"

// The queue's instance of the launch's kernel; NULL: there is none yet.
static inline struct zepi_kernel_instance *zepi_launch_instance(const struct zepi_queue *queue,
                                                                const struct zepi_launch *launch)
{
    // Acquire: another thread may have made it.
    return atomic_load_explicit(&zepi_launch_device_kernel(launch)->of_queue[queue->number],
                                memory_order_acquire);
}

zepi_result_t zepi_launch_slowly(struct zepi_queue *queue, const struct zepi_launch *launch,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
    __attribute__((noinline));
// Ends a launch without a kernel in the list, as `result` says: captures it (ZEPI_CAPTURED), or
// appends a marker in its place, as it has no work-items (ZEPI_NOTHING_TO_LAUNCH). Other results
// are failures, and returned.
zepi_result_t zepi_launch_capture_or_mark(zepi_result_t result, struct zepi_queue *queue,
                                          const struct zepi_launch *launch, uint32_t wait_count,
                                          const zepi_event_t *events, zepi_event_t *out_event)
    __attribute__((cold, noinline));
// The one way to launch a kernel: buffers that move are brought to the device; under the queue's
// mutex its instance of the kernel is compared with the launch, what differs is set, and the
// command is appended. Or the launch is captured (queue/capture.h). The queue and the handles in
// the launch have been checked.
static inline zepi_result_t zepi_launch(struct zepi_queue *queue, const struct zepi_launch *launch,
                                        zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_kernel_instance *instance = zepi_launch_instance(queue, launch);
    if (__builtin_expect(!instance || launch->use_count > 0 || zepi_launch_is_emulated(launch), 0))
        return zepi_launch_slowly(queue, launch, wait, out_event);
    const zepi_result_t result =
        zepi_kernel_instance_launch(instance, queue, launch, wait, out_event);
    return __builtin_expect(result != ZEPI_SUCCESS, 0)
               ? zepi_launch_capture_or_mark(result, queue, launch, wait.count, wait.events,
                                             out_event)
               : ZEPI_SUCCESS;
}

// A launch as a graph captures it.
struct zepi_captured_launch {
    struct zepi_captured_command head;
    const struct zepi_launch *launch; // not checked
};

// The number of arguments that the host gives, before they are read.
zepi_result_t zepi_launch_fail_count(const struct zepi_launch *launch, uint32_t count)
    __attribute__((cold, noinline));
static inline zepi_result_t zepi_launch_check_count(const struct zepi_launch *launch,
                                                    uint32_t count)
{
    // Emulated constants are one more.
    const uint32_t emulated = zepi_launch_is_emulated(launch);
    return __builtin_expect(zepi_launch_device_kernel(launch)->argument_count == count + emulated,
                            1)
               ? ZEPI_SUCCESS
               : zepi_launch_fail_count(launch, count);
}

zepi_result_t zepi_launch_fail_kernel(const struct zepi_kernel *kernel,
                                      const struct zepi_context *context, uint32_t device_index)
    __attribute__((cold, noinline));
// A launch begins with its kernel object, which has code for this device of its context.
static inline zepi_result_t zepi_launch_set_kernel(struct zepi_launch *launch,
                                                   struct zepi_kernel *kernel,
                                                   const struct zepi_context *context,
                                                   uint32_t device_index)
{
    if (__builtin_expect(
            kernel->context != context || !kernel->devices[device_index].target.device_kernel, 0))
        return zepi_launch_fail_kernel(kernel, context, device_index);
    launch->module = kernel->module;
    launch->target = kernel->devices[device_index].target;
    return ZEPI_SUCCESS;
}

// Checks the arguments, sizes and offset of a launch that comes later.
zepi_result_t zepi_launch_check(const struct zepi_device *device, const struct zepi_launch *launch);

#endif
