// SPDX-License-Identifier: MIT
#include "ur/queue/launch.h"

#include "core/alloc.h"
#include "launch/arguments.h"
#include "launch/launch.h"
#include "launch/work_size.h"
#include "queue/capture_command.h"
#include "ur/command.h"
#include "ur/memory/mem.h"

static ur_result_t read_properties(const ur_kernel_launch_ext_properties_t *properties,
                                   zepi_launch_flags_t *out_flags)
{
    for (; properties; properties = properties->pNext) {
        if (properties->stype != UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                  "launch property 0x%x is not supported by the device",
                                  (unsigned)properties->stype);
        const ur_result_t result =
            zepi_ur_check_flags(properties->flags, UR_KERNEL_LAUNCH_FLAGS_MASK);
        if (result != UR_RESULT_SUCCESS)
            return result;
        if (properties->flags & ~(ur_kernel_launch_flags_t)UR_KERNEL_LAUNCH_FLAG_COOPERATIVE)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                  "launch flags 0x%x are not supported by the device",
                                  properties->flags);
        if (properties->flags & UR_KERNEL_LAUNCH_FLAG_COOPERATIVE)
            *out_flags |= ZEPI_LAUNCH_COOPERATIVE;
    }
    return UR_RESULT_SUCCESS;
}

static ur_result_t read_mem(struct zepi_ur_arguments *out, const struct zepi_context *context,
                            const struct zepi_device *device, ur_mem_handle_t handle,
                            zepi_argument_t *to)
{
    const ur_result_t result = zepi_ur_mem_as_argument(handle, context, device, to);
    const struct zepi_ur_mem *mem = zepi_ur_mem(handle);
    if (result != UR_RESULT_SUCCESS || !mem)
        return result;
    out->has_images = out->has_images || mem->image;
    out->has_foreign_buffers = out->has_foreign_buffers || mem->context != context;
    out->has_moving = out->has_moving || (mem->buffer && !mem->buffer->fixed);
    return UR_RESULT_SUCCESS;
}

static ur_result_t read_argument(struct zepi_ur_arguments *out, const struct zepi_context *context,
                                 const struct zepi_device *device,
                                 const ur_exp_kernel_arg_properties_t *from)
{
    zepi_argument_t *to = &out->list[from->index];
    switch (from->type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE:
        *to = (zepi_argument_t){.size_bytes = from->size, .value = from->value.value};
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_POINTER:
        *to = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = from->value.pointer};
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
        *to = (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = from->size};
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
        out->has_objects = true;
        return read_mem(out, context, device, from->value.memObjTuple.hMem, to);
    case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
        out->has_objects = true;
        return zepi_ur_sampler_as_argument(from->value.sampler, context, to);
    default:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "argument %u has the unknown type %d", from->index, (int)from->type);
    }
}

static ur_result_t read_arguments(struct zepi_ur_arguments *out, const struct zepi_context *context,
                                  const struct zepi_device *device, uint32_t count,
                                  const ur_exp_kernel_arg_properties_t *arguments)
{
    uint64_t in_order = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = arguments[i].index;
        if (index >= count)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                  "argument index %u, of %u arguments", index, count);
        in_order += index == i;
        const ur_result_t result = read_argument(out, context, device, &arguments[i]);
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < count && in_order < count; i++) {
        for (uint32_t other = 0; other < i; other++) {
            if (arguments[i].index == arguments[other].index)
                return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                      "argument %u is given twice", arguments[i].index);
        }
    }
    return UR_RESULT_SUCCESS;
}

// Images stand as values, which may be pointers: where the kernel declares one, an image is
// refused. What else is wrong is found later.
static ur_result_t check_images(const struct zepi_kernel *kernel,
                                const struct zepi_context *context,
                                const struct zepi_device *device, uint32_t count,
                                const ur_exp_kernel_arg_properties_t *arguments)
{
    struct zepi_device_kernel *device_kernel;
    const zepi_argument_t image = {.kind = ZEPI_ARGUMENT_IMAGE};
    const uint32_t device_index = zepi_context_device_index(context, device);
    zepi_result_t result = ZEPI_SUCCESS;
    if (kernel->context != context ||
        zepi_kernel_get_device_kernel(kernel, device_index, &device_kernel) != ZEPI_SUCCESS)
        return UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_ur_mem *mem = arguments[i].type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ
                                            ? zepi_ur_mem(arguments[i].value.memObjTuple.hMem)
                                            : NULL;
        if (mem && mem->image && arguments[i].index < device_kernel->argument_count)
            result = zepi_argument_check_declared(device_kernel, arguments[i].index, &image);
    }
    return zepi_ur_result(result);
}

ur_result_t zepi_ur_arguments_init(struct zepi_ur_arguments *out, const struct zepi_kernel *kernel,
                                   const struct zepi_context *context,
                                   const struct zepi_device *device, uint32_t count,
                                   const ur_exp_kernel_arg_properties_t *arguments)
{
    out->has_objects = false;
    out->has_images = false;
    out->has_moving = false;
    out->has_foreign_buffers = false;
    out->owned = NULL;
    out->list = out->inline_list;
    if (count > 0 && !arguments)
        return zepi_ur_refuse_null("pArgs");
    if (count > ZEPI_UR_INLINE_ARGUMENTS) {
        out->list = out->owned = zepi_allocate(count, sizeof(out->list[0]));
        if (!out->list)
            return zepi_ur_result(zepi_fail_no_memory());
    }
    ur_result_t result = read_arguments(out, context, device, count, arguments);
    if (result == UR_RESULT_SUCCESS && out->has_images)
        result = check_images(kernel, context, device, count, arguments);
    if (result != UR_RESULT_SUCCESS)
        zepi_ur_arguments_finish(out);
    return result;
}

void zepi_ur_arguments_finish(struct zepi_ur_arguments *arguments)
{
    zepi_free(arguments->owned);
    arguments->owned = NULL;
}

ur_result_t zepi_ur_check_sizes(const struct zepi_launch *launch)
{
    if (zepi_ur_sizes_are_right(launch))
        return UR_RESULT_SUCCESS;
    if (!launch->global_size)
        return zepi_ur_refuse_null("pGlobalWorkSize");
    if (launch->work_dim == 0 || launch->work_dim > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", launch->work_dim);
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                          "a local size of 0 in one of %u dimensions", launch->work_dim);
}

// Whether the group size is wrong, or does not divide the global size: DPC++ tells its user one or
// the other where it gets INVALID_WORK_GROUP_SIZE for a launch with a group size.
static bool is_group_size_wrong(const struct zepi_device_kernel *device_kernel,
                                const struct zepi_device *device, const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    for (uint32_t i = 0; launch->group_size && i < launch->work_dim; i++) {
        if (launch->group_size[i] == 0 || launch->global_size[i] % launch->group_size[i] != 0)
            return true;
    }
    return !launch->group_size ||
           zepi_work_size_init(&size, device_kernel, device, NULL, launch->work_dim,
                               launch->group_size, launch->group_size) != ZEPI_SUCCESS;
}

// The code for a size that the launch was refused for. What the driver alone found wrong has a code
// of its own, or none that blames something else.
static ur_result_t wrong_size(ze_result_t ze, const struct zepi_device_kernel *device_kernel,
                              const struct zepi_device *device, const struct zepi_launch *launch)
{
    if (ze != ZE_RESULT_SUCCESS)
        return ze == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE
                   ? UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE
                   : UR_RESULT_ERROR_INVALID_SIZE;
    return is_group_size_wrong(device_kernel, device, launch)
               ? UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE
               : UR_RESULT_ERROR_INVALID_VALUE;
}

ur_result_t zepi_ur_fail_launch(zepi_result_t result, const struct zepi_kernel *kernel,
                                const struct zepi_context *context,
                                const struct zepi_device *device, const struct zepi_launch *launch)
{
    struct zepi_error error;
    struct zepi_device_kernel *device_kernel = NULL;
    ur_result_t ur = zepi_ur_fail(result);
    const uint32_t index = zepi_context_device_index(kernel->context, device);
    if (result == ZEPI_ERROR_INVALID_OBJECT)
        return kernel->context != context || index == ZEPI_NO_DEVICE
                   ? zepi_ur_wrong_context(context, kernel->context, UR_RESULT_ERROR_INVALID_KERNEL)
                   : UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
    if ((result != ZEPI_ERROR_INVALID_SIZE && result != ZEPI_ERROR_INVALID_VALUE) ||
        index == ZEPI_NO_DEVICE)
        return ur;
    zepi_error_save(&error);
    zepi_result_t arguments = zepi_kernel_get_device_kernel(kernel, index, &device_kernel);
    if (arguments == ZEPI_SUCCESS && device_kernel->argument_count != launch->arguments.count)
        return UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (arguments == ZEPI_SUCCESS)
        arguments = zepi_arguments_check(device_kernel, device, &launch->arguments, NULL);
    if (arguments == ZEPI_ERROR_INVALID_SIZE)
        ur = UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    else if (result == ZEPI_ERROR_INVALID_SIZE && device_kernel)
        ur = wrong_size(error.ze, device_kernel, device, launch);
    zepi_error_restore(&error);
    return ur;
}

// A graph keeps samplers and memory objects.
static __attribute__((cold, noinline)) zepi_result_t
keep_arguments(struct zepi_capture *capture, uint32_t count,
               const ur_exp_kernel_arg_properties_t *arguments)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        void *object = NULL;
        if (arguments[i].type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ)
            object = arguments[i].value.memObjTuple.hMem;
        else if (arguments[i].type == UR_EXP_KERNEL_ARG_TYPE_SAMPLER)
            object = arguments[i].value.sampler;
        if (object)
            result = capture->functions->keep(capture, object, NULL);
    }
    return result;
}

// Brings the buffers among the arguments to the device. The arguments have been read.
static zepi_result_t use_argument_buffers(struct zepi_buffer_uses *uses, uint32_t count,
                                          const ur_exp_kernel_arg_properties_t *arguments)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        if (arguments[i].type != UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ)
            continue;
        result = zepi_ur_use_mem(uses, zepi_ur_mem(arguments[i].value.memObjTuple.hMem),
                                 arguments[i].value.memObjTuple.flags & UR_MEM_FLAG_READ_ONLY
                                     ? ZEPI_BUFFER_READ
                                     : ZEPI_BUFFER_WRITE);
    }
    return result;
}

// Buffers of other contexts, which do not know that the queue uses them. The arguments have been
// read.
static __attribute__((cold, noinline)) void
hold_foreign_buffers(struct zepi_queue *queue, uint32_t count,
                     const ur_exp_kernel_arg_properties_t *arguments)
{
    for (uint32_t i = 0; i < count; i++) {
        struct zepi_ur_mem *mem = arguments[i].type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ
                                      ? zepi_ur_mem(arguments[i].value.memObjTuple.hMem)
                                      : NULL;
        if (mem)
            zepi_ur_hold_foreign(queue, mem);
    }
}

static __attribute__((cold, noinline)) ur_result_t fail_launch(zepi_result_t result,
                                                               const struct zepi_queue *queue,
                                                               const struct zepi_kernel *kernel,
                                                               const struct zepi_launch *launch)
{
    const ur_result_t ur =
        zepi_ur_fail_launch(result, kernel, queue->context, queue->device, launch);
    return ur == UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST
               ? zepi_ur_wrong_wait_list(queue, launch->wait)
               : ur;
}

static inline ur_result_t finish_launch(const struct zepi_launch *launch)
{
    if (launch->out_event)
        (*launch->out_event)->label = UR_COMMAND_KERNEL_LAUNCH;
    return UR_RESULT_SUCCESS;
}

// With arguments of any kind and in any order: memory objects are brought to the device.
static ur_result_t launch_with_objects(struct zepi_queue *queue, struct zepi_kernel *kernel,
                                       struct zepi_launch *launch)
{
    struct zepi_ur_arguments arguments;
    struct zepi_buffer_uses uses;
    const uint32_t count = launch->arguments.count;
    const ur_exp_kernel_arg_properties_t *records =
        (const void *)((uintptr_t)launch->arguments.first - ZEPI_UR_ARGUMENT_OFFSET);
    ur_result_t result =
        zepi_ur_arguments_init(&arguments, kernel, queue->context, queue->device, count, records);
    if (result != UR_RESULT_SUCCESS)
        return result;
    atomic_store_explicit(&kernel->has_object_arguments, arguments.has_objects,
                          memory_order_relaxed);
    launch->arguments = zepi_argument_list_of(count, arguments.list);
    zepi_buffer_uses_init(&uses, queue, launch->wait);
    zepi_result_t done =
        arguments.has_moving ? use_argument_buffers(&uses, count, records) : ZEPI_SUCCESS;
    launch->wait = uses.wait;
    if (done == ZEPI_SUCCESS && __builtin_expect(uses.capture != NULL, 0))
        done = keep_arguments(uses.capture, count, records);
    if (done == ZEPI_SUCCESS)
        done = uses.capture
                   ? zepi_launch_capture(queue, kernel, launch)
                   : zepi_capture_check_uncaptured(zepi_launch_kernel(queue, kernel, launch));
    launch->wait = uses.host;
    zepi_buffer_uses_finish(&uses);
    if (done == ZEPI_SUCCESS && arguments.has_foreign_buffers)
        hold_foreign_buffers(queue, count, records);
    result =
        done == ZEPI_SUCCESS ? finish_launch(launch) : fail_launch(done, queue, kernel, launch);
    zepi_ur_arguments_finish(&arguments);
    return result;
}

// The error for a launch.
static __attribute__((cold, noinline)) ur_result_t refuse_launch(const struct zepi_queue *queue,
                                                                 const struct zepi_kernel *kernel,
                                                                 const struct zepi_launch *launch)
{
    ur_result_t result = zepi_ur_check_queue((ur_queue_handle_t)queue);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_wait_list(launch->wait);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_kernel((ur_kernel_handle_t)kernel);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_sizes(launch);
    return result == UR_RESULT_SUCCESS ? zepi_ur_refuse_null("pArgs") : result;
}

// A launch that the core cannot read as it is, or refused.
static __attribute__((noinline)) ur_result_t launch_otherwise(zepi_result_t done,
                                                              struct zepi_queue *queue,
                                                              struct zepi_kernel *kernel,
                                                              struct zepi_launch *launch)
{
    if (done == ZEPI_CAPTURED)
        done = zepi_launch_capture(queue, kernel, launch);
    if (done == ZEPI_SUCCESS)
        return finish_launch(launch);
    return done == ZEPI_ARGUMENTS_UNREAD ? launch_with_objects(queue, kernel, launch)
                                         : fail_launch(done, queue, kernel, launch);
}

ur_result_t zepi_urEnqueueKernelLaunchWithArgsExp(
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs,
    const ur_kernel_launch_ext_properties_t *launchPropList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_event_handle_t *phEvent)
{
    struct zepi_launch launch;
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    struct zepi_kernel *kernel = zepi_ur_kernel(hKernel);
    zepi_ur_launch_init(&launch, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
                        numArgs, pArgs, numEventsInWaitList, phEventWaitList, phEvent);
    if (__builtin_expect(
            !zepi_object_is(queue, &zepi_queue_type) ||
                !zepi_object_is(kernel, &zepi_kernel_type) ||
                (numEventsInWaitList > 0 ? !phEventWaitList : phEventWaitList != NULL) ||
                !zepi_ur_sizes_are_right(&launch) || (!pArgs && numArgs > 0),
            0))
        return refuse_launch(queue, kernel, &launch);
    if (__builtin_expect(launchPropList != NULL, 0)) {
        const ur_result_t result = read_properties(launchPropList, &launch.flags);
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    zepi_result_t done = ZEPI_ARGUMENTS_UNREAD;
    if (!atomic_load_explicit(&kernel->has_object_arguments, memory_order_relaxed))
        done = zepi_launch_kernel(queue, kernel, &launch);
    return __builtin_expect(done == ZEPI_SUCCESS, 1)
               ? finish_launch(&launch)
               : launch_otherwise(done, queue, kernel, &launch);
}
