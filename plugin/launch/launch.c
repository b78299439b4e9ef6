// SPDX-License-Identifier: MIT
#include "launch/launch.h"

#include "copy/buffer_use.h"
#include "core/list.h"
#include "device/context.h"
#include "launch/emulation.h"
#include "launch/kernel_instance.h"
#include "launch/work_size.h"
#include "queue/capture_command.h"
#include "ze/ze.h"

// ---- A kernel on the queue's device ----

static __attribute__((noinline)) zepi_result_t
launch_new_instance(struct zepi_queue *queue, struct zepi_device_kernel *device_kernel,
                    const struct zepi_launch *launch)
{
    struct zepi_kernel_instance *instance;
    zepi_result_t result = zepi_kernel_instance_take(device_kernel, &instance);
    if (result != ZEPI_SUCCESS)
        return result;
    if (queue->number != ZEPI_NO_QUEUE_NUMBER) {
        instance = zepi_kernel_instance_keep(device_kernel, queue->number, instance);
        return zepi_kernel_instance_launch(instance, device_kernel, queue, launch);
    }
    result = zepi_kernel_instance_launch(instance, device_kernel, queue, launch);
    zepi_kernel_instance_give(device_kernel, instance);
    return result;
}

static zepi_result_t launch_device_kernel(struct zepi_queue *queue,
                                          struct zepi_device_kernel *device_kernel,
                                          const struct zepi_launch *launch)
{
    // Acquire: another thread may have made it.
    struct zepi_kernel_instance *instance =
        atomic_load_explicit(&device_kernel->of_queue[queue->number], memory_order_acquire);
    return __builtin_expect(instance != NULL, 1)
               ? zepi_kernel_instance_launch(instance, device_kernel, queue, launch)
               : launch_new_instance(queue, device_kernel, launch);
}

static zepi_result_t launch_emulated(struct zepi_queue *queue, const struct zepi_target *target,
                                     const struct zepi_launch *launch)
{
    struct zepi_emulation emulation;
    struct zepi_launch emulated = *launch;
    zepi_result_t result =
        zepi_emulation_init(&emulation, queue->context, target, &launch->arguments);
    if (result != ZEPI_SUCCESS)
        return result;
    emulated.arguments = zepi_argument_list_of(emulation.argument_count, emulation.arguments);
    result = launch_device_kernel(queue, zepi_device_kernel_of(target->device_kernel), &emulated);
    zepi_emulation_finish(&emulation);
    return result;
}

__attribute__((noinline)) zepi_result_t zepi_launch_target(struct zepi_queue *queue,
                                                           const struct zepi_target *target,
                                                           const struct zepi_launch *launch)
{
    return target->image
               ? launch_emulated(queue, target, launch)
               : launch_device_kernel(queue, zepi_device_kernel_of(target->device_kernel), launch);
}

// ---- A kernel object ----

// The device kernel that a kernel object's launches use on a device of the context.
static zepi_result_t launch_get_device_kernel(const struct zepi_kernel *kernel,
                                              const struct zepi_context *context,
                                              uint32_t device_index,
                                              struct zepi_device_kernel **out_device_kernel)
{
    if (kernel->context != context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "kernel '%s' is of another context than the queue", kernel->name);
    return zepi_kernel_get_device_kernel(kernel, device_index, out_device_kernel);
}

// Launches a kernel object that has emulated constants, or refuses one that has no code for the
// queue's device or is of another context.
static __attribute__((noinline)) zepi_result_t launch_unusual(struct zepi_queue *queue,
                                                              const struct zepi_kernel *kernel,
                                                              const struct zepi_launch *launch)
{
    struct zepi_device_kernel *device_kernel;
    const zepi_result_t result =
        launch_get_device_kernel(kernel, queue->context, queue->device_index, &device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_target target = zepi_kernel_target(kernel, queue->device_index, NULL);
    return zepi_launch_target(queue, &target, launch);
}

zepi_result_t zepi_launch_kernel(struct zepi_queue *queue, const struct zepi_kernel *kernel,
                                 const struct zepi_launch *launch)
{
    const bool is_usual = kernel->context == queue->context &&
                          kernel->device_kernels[queue->device_index] && !kernel->is_emulated;
    if (__builtin_expect(!is_usual, 0))
        return launch_unusual(queue, kernel, launch);
    return launch_device_kernel(
        queue, zepi_device_kernel_of(kernel->device_kernels[queue->device_index]), launch);
}

zepi_result_t zepi_launch_capture(struct zepi_queue *queue, struct zepi_kernel *kernel,
                                  const struct zepi_launch *launch)
{
    const struct zepi_captured_launch command = {
        .head.kind = ZEPI_CAPTURED_LAUNCH, .kernel = kernel, .launch = launch};
    return zepi_capture_command(queue, &command.head, launch->wait, launch->out_event);
}

// ---- Checks ----

zepi_result_t zepi_launch_check_kernel(const struct zepi_context *context, uint32_t device_index,
                                       const struct zepi_kernel *kernel,
                                       const struct zepi_launch *launch,
                                       struct zepi_device_kernel **out_device_kernel)
{
    const zepi_result_t result =
        launch_get_device_kernel(kernel, context, device_index, out_device_kernel);
    // Emulated constants are an argument that comes with the launch.
    return result == ZEPI_SUCCESS && !kernel->is_emulated
               ? zepi_arguments_check_count(*out_device_kernel, &launch->arguments)
               : result;
}

zepi_result_t zepi_launch_check_contents(const struct zepi_device *device,
                                         const struct zepi_kernel *kernel,
                                         const struct zepi_device_kernel *device_kernel,
                                         const struct zepi_launch *launch,
                                         zepi_argument_t *out_arguments)
{
    struct zepi_work_size size;
    uint32_t offset[3];
    zepi_result_t result =
        kernel->is_emulated
            ? zepi_arguments_check_pixels(device_kernel, &launch->arguments, out_arguments)
            : zepi_arguments_check(device_kernel, device, &launch->arguments, out_arguments);
    if (result == ZEPI_SUCCESS)
        result = zepi_work_size_init(&size, device_kernel, device, NULL, launch->work_dim,
                                     launch->global_size, launch->group_size);
    return result == ZEPI_SUCCESS && !size.is_empty
               ? zepi_work_offset_init(offset, device, launch->work_dim, launch->global_offset)
               : result;
}

zepi_result_t zepi_launch_check(const struct zepi_context *context,
                                const struct zepi_device *device, const struct zepi_kernel *kernel,
                                const struct zepi_launch *launch)
{
    struct zepi_device_kernel *device_kernel;
    const uint32_t device_index = zepi_context_device_index(context, device);
    const zepi_result_t result =
        zepi_launch_check_kernel(context, device_index, kernel, launch, &device_kernel);
    return result == ZEPI_SUCCESS
               ? zepi_launch_check_contents(device, kernel, device_kernel, launch, NULL)
               : result;
}
