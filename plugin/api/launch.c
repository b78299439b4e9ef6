// SPDX-License-Identifier: MIT
#include "api/launch.h"

#include "api/api.h"
#include "api/check.h"
#include "copy/buffer_use.h"
#include "core/list.h"
#include "device/context.h"
#include "launch/by_name.h"
#include "launch/launch.h"

// The description of a host that was compiled against another version of the interface, or that is
// wrong.
static __attribute__((cold, noinline)) zepi_result_t check_desc_size(const zepi_launch_desc_t *desc)
{
    zepi_launch_desc_t own;
    return zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "launch description");
}

zepi_result_t zepi_api_check_launch_desc(const zepi_launch_desc_t *desc)
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
launch_capture_by_name(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
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
static zepi_result_t launch_by_name(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                    const struct zepi_launch *launch)
{
    struct zepi_build_result *found;
    zepi_result_t result = zepi_by_name_find(queue, desc, &found);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_target *target = zepi_found_target(found);
    result = zepi_launch_target(queue, target, launch);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        result = launch_capture_by_name(queue, desc, target, launch);
    zepi_build_result_release(found);
    return result;
}

static zepi_result_t launch_desc(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const struct zepi_launch launch = zepi_launch_of(desc, wait, out_event);
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return launch_by_name(queue, desc, &launch);
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

zepi_result_t zepi_api_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result = zepi_api_check_command(queue, wait);
    if (result == ZEPI_SUCCESS)
        result = zepi_api_check_launch_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    // With a single device the buffers of this interface stay where they are.
    return queue->context->device_count > 1 && desc->arguments
               ? launch_with_buffers(queue, desc, wait, out_event)
               : launch_desc(queue, desc, wait, out_event);
}
