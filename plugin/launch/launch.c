// SPDX-License-Identifier: MIT
#include "launch/launch.h"

#include "copy/buffer_use.h"
#include "device/context.h"
#include "launch/device_kernel_create.h"
#include "launch/emulation.h"
#include "launch/work_size.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/progress.h"

// ---- The kernel of a launch ----

zepi_result_t zepi_launch_fail_kernel(const struct zepi_kernel *kernel,
                                      const struct zepi_context *context, uint32_t device_index)
{
    struct zepi_device_kernel *none;
    if (kernel->context != context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "kernel '%s' is of another context than the queue", kernel->name);
    return zepi_kernel_get_device_kernel(kernel, device_index, &none);
}

zepi_result_t zepi_launch_fail_count(const struct zepi_launch *launch, uint32_t count)
{
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    return zepi_fail_about(
        ZEPI_SUBJECT_ARG_COUNT, ZEPI_ERROR_INVALID_SIZE, "kernel '%s' has %u arguments%s, got %u",
        device_kernel->name, device_kernel->argument_count,
        zepi_launch_is_emulated(launch) ? ", the last of them for emulated specialization constants"
                                        : "",
        count);
}

// ---- A launch ----

static __attribute__((noinline)) zepi_result_t launch_new_instance(struct zepi_queue *queue,
                                                                   const struct zepi_launch *launch,
                                                                   zepi_wait_list_t wait,
                                                                   zepi_event_t *out_event)
{
    struct zepi_kernel_instance *instance;
    struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    zepi_result_t result = zepi_kernel_instance_take(device_kernel, &instance);
    if (result != ZEPI_SUCCESS)
        return result;
    if (queue->number != ZEPI_NO_QUEUE_NUMBER) {
        instance = zepi_kernel_instance_keep(device_kernel, queue->number, instance);
        return zepi_kernel_instance_launch(instance, queue, launch, wait, out_event);
    }
    result = zepi_kernel_instance_launch(instance, queue, launch, wait, out_event);
    zepi_kernel_instance_give(device_kernel, instance);
    return result;
}

static zepi_result_t launch_with_instance(struct zepi_queue *queue,
                                          const struct zepi_launch *launch, zepi_wait_list_t wait,
                                          zepi_event_t *out_event)
{
    struct zepi_kernel_instance *instance = zepi_launch_instance(queue, launch);
    return instance ? zepi_kernel_instance_launch(instance, queue, launch, wait, out_event)
                    : launch_new_instance(queue, launch, wait, out_event);
}

static zepi_result_t launch_emulated(struct zepi_queue *queue, const struct zepi_launch *launch,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_emulation emulation;
    zepi_result_t result = zepi_emulation_init(&emulation, queue->context, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    result = launch_with_instance(queue, &emulation.launch, wait, out_event);
    zepi_emulation_finish(&emulation);
    return result;
}

zepi_result_t zepi_launch_capture_or_mark(zepi_result_t result, struct zepi_queue *queue,
                                          const struct zepi_launch *launch, uint32_t wait_count,
                                          const zepi_event_t *events, zepi_event_t *out_event)
{
    const zepi_wait_list_t wait = {events, wait_count};
    const struct zepi_captured_launch command = {.head.kind = ZEPI_COMMAND_LAUNCH,
                                                 .launch = launch};
    if (result == ZEPI_NOTHING_TO_LAUNCH)
        return zepi_queue_marker(queue, wait, out_event);
    return result == ZEPI_CAPTURED ? zepi_capture_command(queue, &command.head, wait, out_event)
                                   : result;
}

// ---- Objects among the arguments ----

// Brings buffers that move to the device.
static zepi_result_t use_buffers(struct zepi_buffer_uses *uses, const struct zepi_launch *launch)
{
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < launch->use_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_arg_use *use = &launch->uses[i];
        if (use->part.buffer && !use->part.buffer->fixed)
            result =
                zepi_buffer_use(uses, &use->part, use->access, ZEPI_BUFFER_ON_DEVICE, &address);
    }
    return result;
}

// Buffers of other contexts, which do not know that the queue uses them.
static void hold_foreign_buffers(struct zepi_queue *queue, const struct zepi_launch *launch)
{
    for (uint32_t i = 0; i < launch->use_count; i++) {
        const struct zepi_arg_use *use = &launch->uses[i];
        if (__builtin_expect(use->part.buffer && use->part.buffer->context != queue->context, 0))
            zepi_queue_release_later(queue, use->object);
    }
}

zepi_result_t zepi_launch_slowly(struct zepi_queue *queue, const struct zepi_launch *launch,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    const bool has_moving_buffers = zepi_launch_has_moving_buffers(launch);
    zepi_result_t result = ZEPI_SUCCESS;
    if (has_moving_buffers) {
        zepi_buffer_uses_init(&uses, queue, wait);
        // A graph that captures the launch brings them to the device itself.
        result = uses.capture ? ZEPI_CAPTURED : use_buffers(&uses, launch);
        wait = uses.wait;
    }
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_is_emulated(launch)
                     ? launch_emulated(queue, launch, wait, out_event)
                     : launch_with_instance(queue, launch, wait, out_event);
    if (result != ZEPI_SUCCESS)
        result =
            zepi_launch_capture_or_mark(result, queue, launch, wait.count, wait.events, out_event);
    if (has_moving_buffers)
        zepi_buffer_uses_finish(&uses);
    if (result == ZEPI_SUCCESS && launch->use_count > 0)
        hold_foreign_buffers(queue, launch);
    return result;
}

// ---- Checks ----

zepi_result_t zepi_launch_check(const struct zepi_device *device, const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < launch->arg_count && result == ZEPI_SUCCESS; i++)
        result = zepi_arg_check(device_kernel, i, &launch->args[i]);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_check_slm(launch, device);
    return result == ZEPI_SUCCESS ? zepi_work_size_init(&size, device_kernel, device, NULL, launch)
                                  : result;
}
