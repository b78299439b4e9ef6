// SPDX-License-Identifier: MIT
#include "launch/launch.h"

#include "copy/buffer_use.h"
#include "core/list.h"
#include "device/context.h"
#include "launch/dispatch.h"
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

static __attribute__((noinline)) zepi_result_t launch_target(struct zepi_queue *queue,
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
    return launch_target(queue, &target, launch);
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
    const struct zepi_captured_command command = {
        .kind = ZEPI_CAPTURED_LAUNCH, .kernel = kernel, .launch = launch};
    return zepi_capture_command(queue, &command, launch->wait, launch->out_event);
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

// ---- A launch description ----

// The description of a host that was compiled against another version of the interface, or that is
// wrong.
static __attribute__((cold, noinline)) zepi_result_t check_desc_size(const zepi_launch_desc_t *desc)
{
    zepi_launch_desc_t own;
    return zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "launch description");
}

zepi_result_t zepi_launch_check_desc(const zepi_launch_desc_t *desc)
{
    if (!desc || desc->size != sizeof(*desc)) {
        const zepi_result_t result = check_desc_size(desc);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (desc->work_dim < 1 || desc->work_dim > 3)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the work has %u dimensions, expected 1 to 3",
                         desc->work_dim);
    if (desc->argument_count > 0 && !desc->arguments)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the list of arguments is NULL");
    if (desc->flags & ~ZEPI_LAUNCH_COOPERATIVE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "launch flags 0x%x: only 0x%x is known",
                         desc->flags, ZEPI_LAUNCH_COOPERATIVE);
    return ZEPI_SUCCESS;
}

// A captured launch by name keeps the kernel that was found while it was captured.
static __attribute__((cold, noinline)) zepi_result_t
launch_capture_dispatched(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                          const struct zepi_target *target, const struct zepi_launch *launch)
{
    struct zepi_kernel *kernel;
    struct zepi_module *module = desc->kernel ? desc->kernel->module : desc->module;
    zepi_result_t result =
        zepi_kernel_create_for_launch(queue->context, module, queue->device_index, target, &kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_launch_capture(queue, kernel, launch);
    zepi_release(kernel);
    return result;
}

// A launch by name, or with values, a module or a selector.
static zepi_result_t launch_dispatched(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                       const struct zepi_launch *launch)
{
    struct zepi_dispatch dispatch;
    zepi_result_t result = zepi_dispatch_find(queue, desc, &dispatch);
    if (result != ZEPI_SUCCESS)
        return result;
    result = launch_target(queue, &dispatch.target, launch);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        result = launch_capture_dispatched(queue, desc, &dispatch.target, launch);
    zepi_held_target_release(dispatch.held);
    return result;
}

static zepi_result_t launch_desc(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const struct zepi_launch launch = zepi_launch_of(desc, wait, out_event);
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return launch_dispatched(queue, desc, &launch);
    zepi_result_t result = zepi_check_object(desc->kernel, &zepi_kernel_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_kernel(queue, desc->kernel, &launch);
    return __builtin_expect(result == ZEPI_CAPTURED, 0)
               ? zepi_launch_capture(queue, desc->kernel, &launch)
               : result;
}

// Whether the argument is a buffer of the context; any other is found wrong later.
static bool is_buffer_argument(const zepi_argument_t *argument, const struct zepi_context *context)
{
    const struct zepi_buffer *buffer = argument->value;
    return argument->kind == ZEPI_ARGUMENT_BUFFER && zepi_object_is(buffer, &zepi_buffer_type) &&
           buffer->context == context;
}

// Brings the buffers among the arguments to the device first.
static __attribute__((noinline)) zepi_result_t launch_with_buffers(zepi_queue_t queue,
                                                                   const zepi_launch_desc_t *desc,
                                                                   zepi_wait_list_t wait,
                                                                   zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_buffer_uses_init(&uses, queue, wait);
    for (uint32_t i = 0; i < desc->argument_count && result == ZEPI_SUCCESS; i++) {
        if (!is_buffer_argument(&desc->arguments[i], queue->context))
            continue;
        struct zepi_buffer *buffer = (struct zepi_buffer *)desc->arguments[i].value;
        const struct zepi_buffer_part all = {buffer, 0, buffer->size_bytes};
        result = zepi_buffer_use(&uses, &all, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE, &address);
    }
    if (result == ZEPI_SUCCESS)
        result = launch_desc(queue, desc, uses.wait, out_event);
    zepi_buffer_uses_finish(&uses);
    return result;
}

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_check_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    // With a single device the buffers of this interface stay where they are.
    return queue->context->device_count > 1 && desc->arguments
               ? launch_with_buffers(queue, desc, wait, out_event)
               : launch_desc(queue, desc, wait, out_event);
}
