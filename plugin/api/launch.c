// SPDX-License-Identifier: MIT
#include "api/launch.h"

#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/by_name.h"
#include "launch/launch.h"
#include "memory/buffer.h"
#include "memory/image.h"
#include "program/module.h"
#include "queue/capture.h"

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
        return zepi_api_check_work_dim(desc->work_dim);
    if (desc->argument_count > 0 && !desc->arguments)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the list of arguments is NULL");
    if (desc->flags & ~ZEPI_LAUNCH_COOPERATIVE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "launch flags 0x%x: only 0x%x is known",
                         desc->flags, ZEPI_LAUNCH_COOPERATIVE);
    return ZEPI_SUCCESS;
}

static __attribute__((cold, noinline)) zepi_result_t
fail_argument(const struct zepi_launch *launch, uint32_t index, const zepi_argument_t *argument)
{
    static const char *const kinds[] = {[ZEPI_ARGUMENT_VALUE] = "a value",
                                        [ZEPI_ARGUMENT_POINTER] = "a pointer",
                                        [ZEPI_ARGUMENT_LOCAL] = "local memory"};
    const char *name = zepi_launch_device_kernel(launch)->name;
    if (argument->reserved != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "argument %u of kernel '%s' has %u in its reserved member, expected 0",
                         index, name, argument->reserved);
    // Local memory comes without a pointer, a value with one. If that is so, the size is wrong.
    const bool is_local = argument->kind == ZEPI_ARGUMENT_LOCAL;
    const bool has_right_value = (argument->value == NULL) == is_local;
    const bool is_size =
        argument->kind == ZEPI_ARGUMENT_POINTER || (argument->size_bytes == 0 && has_right_value);
    return zepi_fail(is_size ? ZEPI_ERROR_INVALID_SIZE : ZEPI_ERROR_INVALID_VALUE,
                     "argument %u of kernel '%s' is %s of %zu bytes at %p%s", index, name,
                     kinds[argument->kind], argument->size_bytes, argument->value,
                     is_local && argument->value ? ", expected NULL" : "");
}

// An image or a sampler of the context and the root device. Code of a root device runs on its
// sub-devices, too, so that these are not told apart here.
static zepi_result_t check_owner(const struct zepi_launch *launch, uint32_t index, const char *kind,
                                 const struct zepi_context *own, const struct zepi_context *context,
                                 const struct zepi_device *own_device,
                                 const struct zepi_device *device)
{
    const char *what = own != context ? "context" : "device";
    return own == context && zepi_device_root(own_device) == zepi_device_root(device)
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                           "argument %u of kernel '%s' is %s of another %s", index,
                           zepi_launch_device_kernel(launch)->name, kind, what);
}

static __attribute__((noinline)) zepi_result_t
read_buffer(struct zepi_launch *launch, uint32_t index, const struct zepi_context *context,
            const struct zepi_device *device, const void *handle)
{
    struct zepi_buffer *buffer = (struct zepi_buffer *)handle;
    void *address;
    zepi_result_t result = zepi_check_object(buffer, &zepi_buffer_type);
    if (result == ZEPI_SUCCESS && buffer->context != context)
        result = zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                           "argument %u of kernel '%s' is a buffer of another context", index,
                           zepi_launch_device_kernel(launch)->name);
    if (result == ZEPI_SUCCESS)
        result = zepi_buffer_get_location(buffer, device, &address);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_arg_set_address(&launch->args[index], address);
    zepi_launch_add_use(
        launch, index,
        &(const struct zepi_arg_use){buffer, {buffer, 0, buffer->size_bytes}, ZEPI_BUFFER_WRITE});
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
read_handle(struct zepi_launch *launch, uint32_t index, const struct zepi_context *context,
            const struct zepi_device *device, const zepi_argument_t *argument)
{
    const bool is_image = argument->kind == ZEPI_ARGUMENT_IMAGE;
    const struct zepi_image *image = argument->value;
    const struct zepi_sampler *sampler = argument->value;
    zepi_result_t result =
        zepi_check_object(argument->value, is_image ? &zepi_image_type : &zepi_sampler_type);
    if (result == ZEPI_SUCCESS)
        result = is_image ? check_owner(launch, index, "an image", image->context, context,
                                        image->device, device)
                          : check_owner(launch, index, "a sampler", sampler->context, context,
                                        sampler->device, device);
    if (result != ZEPI_SUCCESS)
        return result;
    if (is_image)
        zepi_arg_set_handle(&launch->args[index], ZEPI_ARG_IMAGE, image->ze);
    else
        zepi_arg_set_handle(&launch->args[index], ZEPI_ARG_SAMPLER, sampler->ze);
    zepi_launch_add_use(launch, index,
                        &(const struct zepi_arg_use){.object = (void *)argument->value});
    return ZEPI_SUCCESS;
}

// Any argument but values and pointers that are right.
static __attribute__((noinline)) zepi_result_t
read_other_argument(struct zepi_launch *launch, uint32_t index, const struct zepi_context *context,
                    const struct zepi_device *device, const zepi_argument_t *argument)
{
    if (argument->reserved != 0)
        return fail_argument(launch, index, argument);
    switch (argument->kind) {
    case ZEPI_ARGUMENT_VALUE:
        if (argument->size_bytes == 0 || !argument->value)
            return fail_argument(launch, index, argument);
        zepi_launch_set_bytes(launch, index, argument->value, argument->size_bytes);
        return ZEPI_SUCCESS;
    case ZEPI_ARGUMENT_LOCAL:
        if (argument->size_bytes == 0 || argument->value)
            return fail_argument(launch, index, argument);
        zepi_arg_set_slm(&launch->args[index], argument->size_bytes);
        return ZEPI_SUCCESS;
    case ZEPI_ARGUMENT_BUFFER:
        return read_buffer(launch, index, context, device, argument->value);
    case ZEPI_ARGUMENT_IMAGE:
    case ZEPI_ARGUMENT_SAMPLER:
        return read_handle(launch, index, context, device, argument);
    case ZEPI_ARGUMENT_POINTER:
        return fail_argument(launch, index, argument);
    default:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "argument %u of kernel '%s' has unknown kind %d",
                         index, zepi_launch_device_kernel(launch)->name, (int)argument->kind);
    }
}

static inline zepi_result_t read_arguments(struct zepi_launch *launch,
                                           const struct zepi_context *context,
                                           const struct zepi_device *device,
                                           const zepi_argument_t *argument)
{
    struct zepi_arg *arg = launch->args;
    const uint32_t count = launch->arg_count;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count; i++, argument++, arg++) {
        const size_t size_bytes = argument->size_bytes;
        const void *value = argument->value;
        if (argument->kind == ZEPI_ARGUMENT_VALUE && argument->reserved == 0 && value &&
            zepi_arg_set_word(arg, value, size_bytes))
            continue;
        if (argument->kind == ZEPI_ARGUMENT_POINTER && argument->reserved == 0 &&
            (size_bytes & ~sizeof(value)) == 0)
            zepi_arg_set_address(arg, value);
        else if ((result = read_other_argument(launch, i, context, device, argument)) !=
                 ZEPI_SUCCESS)
            break;
    }
    return result;
}

zepi_result_t zepi_api_read_launch(struct zepi_launch *launch, struct zepi_launch_room *room,
                                   const struct zepi_context *context,
                                   const struct zepi_device *device, const zepi_launch_desc_t *desc)
{
    zepi_result_t result = zepi_launch_check_count(launch, desc->argument_count);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_room_init(room, launch, desc->argument_count);
    if (__builtin_expect(result != ZEPI_SUCCESS, 0))
        return result;
    launch->flags = desc->flags;
    zepi_launch_set_sizes(launch, desc->work_dim, desc->global_size, desc->group_size,
                          desc->global_offset);
    result = read_arguments(launch, context, device, desc->arguments);
    if (__builtin_expect(result != ZEPI_SUCCESS, 0))
        zepi_launch_room_finish(room, launch);
    return result;
}

zepi_result_t zepi_api_check_named(const struct zepi_queue *queue, const zepi_launch_desc_t *desc)
{
    zepi_result_t result;
    if ((desc->kernel && (result = zepi_check_object(desc->kernel, &zepi_kernel_type))) ||
        (desc->module && (result = zepi_check_object(desc->module, &zepi_module_type))))
        return result;
    const struct zepi_module *module = desc->kernel ? desc->kernel->module : desc->module;
    if (module && module->context != queue->context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the %s is of another context than the queue",
                         desc->kernel ? "kernel" : "module");
    if (desc->kernel && desc->module && module != desc->module)
        return zepi_fail(ZEPI_ERROR_INVALID_KERNEL,
                         "kernel '%s' is of another module than the one that the launch names",
                         desc->kernel->name);
    return ZEPI_SUCCESS;
}

// A launch that has a target.
static inline __attribute__((always_inline)) zepi_result_t
launch_target(struct zepi_queue *queue, struct zepi_launch *launch, const zepi_launch_desc_t *desc,
              zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_launch_room room;
    zepi_result_t result = zepi_api_read_launch(launch, &room, queue->context, queue->device, desc);
    if (result == ZEPI_SUCCESS) {
        result = zepi_launch(queue, launch, wait, out_event);
        zepi_launch_room_finish(&room, launch);
    }
    return result;
}

// A launch by name, or with values, a module or a selector.
static __attribute__((noinline)) zepi_result_t launch_by_name(struct zepi_queue *queue,
                                                              const zepi_launch_desc_t *desc,
                                                              zepi_wait_list_t wait,
                                                              zepi_event_t *out_event)
{
    struct zepi_build_result *found;
    zepi_result_t result = zepi_api_check_named(queue, desc);
    if (result == ZEPI_SUCCESS && !desc->kernel && !desc->kernel_name)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch has neither a kernel nor a name");
    if (result == ZEPI_SUCCESS)
        result = zepi_by_name_find(queue, desc, &found);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_launch launch;
    launch.module = desc->kernel ? desc->kernel->module : desc->module;
    launch.target = *zepi_found_target(found);
    result = launch_target(queue, &launch, desc, wait, out_event);
    zepi_build_result_release(found);
    return result;
}

zepi_result_t zepi_api_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_launch launch;
    zepi_result_t result = zepi_api_check_command(queue, wait);
    if (result == ZEPI_SUCCESS)
        result = zepi_api_check_launch_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return launch_by_name(queue, desc, wait, out_event);
    result = zepi_check_object(desc->kernel, &zepi_kernel_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_launch_set_kernel(&launch, desc->kernel, queue->context, queue->device_index);
    return result ? result : launch_target(queue, &launch, desc, wait, out_event);
}
