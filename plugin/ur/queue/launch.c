// SPDX-License-Identifier: MIT
#include "ur/queue/launch.h"

#include "device/context.h"
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

// ---- Errors ----

ur_result_t zepi_ur_fail_launch(zepi_result_t result)
{
    const enum zepi_subject subject = zepi_last_subject();
    const ze_result_t ze = zepi_last_ze_result();
    const ur_result_t ur = zepi_ur_fail(result);
    if (subject == ZEPI_SUBJECT_ARG_COUNT)
        return UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (subject == ZEPI_SUBJECT_GROUP_SIZE)
        return UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE;
    if (result != ZEPI_ERROR_INVALID_SIZE)
        return ur;
    if (subject == ZEPI_SUBJECT_ARG || ze == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE)
        return UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    // A size that the driver alone found wrong has a code that blames nothing else.
    return ze == ZE_RESULT_SUCCESS ? UR_RESULT_ERROR_INVALID_VALUE : UR_RESULT_ERROR_INVALID_SIZE;
}

// ---- Arguments ----

ur_result_t zepi_ur_set_value_arg(struct zepi_launch *launch, uint32_t index, const void *value,
                                  size_t size_bytes)
{
    if (__builtin_expect(size_bytes == 0 || !value, 0))
        return zepi_ur_refuse(value ? UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE
                                    : UR_RESULT_ERROR_INVALID_VALUE,
                              "argument %u of kernel '%s' is a value of %zu bytes at %p", index,
                              zepi_launch_device_kernel(launch)->name, size_bytes, value);
    zepi_launch_set_bytes(launch, index, value, size_bytes);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_set_mem_arg(struct zepi_launch *launch, uint32_t index, ur_mem_handle_t handle,
                                ur_mem_flags_t flags, const struct zepi_context *context,
                                const struct zepi_device *device)
{
    struct zepi_arg_use use = {.access = flags & UR_MEM_FLAG_READ_ONLY ? ZEPI_BUFFER_READ
                                                                       : ZEPI_BUFFER_WRITE};
    const ur_result_t result =
        zepi_ur_read_mem_arg(handle, context, device, &launch->args[index], &use);
    if (result == UR_RESULT_SUCCESS && use.object)
        zepi_launch_add_use(launch, index, &use);
    return result;
}

ur_result_t zepi_ur_set_sampler_arg(struct zepi_launch *launch, uint32_t index,
                                    ur_sampler_handle_t handle, const struct zepi_context *context)
{
    const struct zepi_arg_use use = {.object = handle};
    const ur_result_t result = zepi_ur_read_sampler_arg(handle, context, &launch->args[index]);
    if (result == UR_RESULT_SUCCESS)
        zepi_launch_add_use(launch, index, &use);
    return result;
}

// Any argument but values and pointers that are right.
static __attribute__((noinline)) ur_result_t
read_other_argument(struct zepi_launch *launch, const struct zepi_context *context,
                    const struct zepi_device *device, const ur_exp_kernel_arg_properties_t *from)
{
    const uint32_t index = from->index;
    switch (from->type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE:
        return zepi_ur_set_value_arg(launch, index, from->value.value, from->size);
    case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
        zepi_arg_set_slm(&launch->args[index], from->size);
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
        return zepi_ur_set_mem_arg(launch, index, from->value.memObjTuple.hMem,
                                   from->value.memObjTuple.flags, context, device);
    case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
        return zepi_ur_set_sampler_arg(launch, index, from->value.sampler, context);
    default:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "argument %u has the unknown type %d", index, (int)from->type);
    }
}

static inline ur_result_t read_argument(struct zepi_launch *launch,
                                        const struct zepi_context *context,
                                        const struct zepi_device *device, struct zepi_arg *arg,
                                        const ur_exp_kernel_arg_properties_t *from)
{
    if (from->type == UR_EXP_KERNEL_ARG_TYPE_VALUE && from->value.value &&
        zepi_arg_set_word(arg, from->value.value, from->size))
        return UR_RESULT_SUCCESS;
    if (from->type != UR_EXP_KERNEL_ARG_TYPE_POINTER)
        return read_other_argument(launch, context, device, from);
    zepi_arg_set_address(arg, from->value.pointer);
    return UR_RESULT_SUCCESS;
}

// Arguments from `first` on, which are not in the kernel's order. None may be given twice.
static __attribute__((noinline)) ur_result_t
read_unordered(struct zepi_launch *launch, const struct zepi_context *context,
               const struct zepi_device *device, uint32_t first, uint32_t count,
               const ur_exp_kernel_arg_properties_t *arguments)
{
    for (uint32_t i = first; i < count; i++) {
        const uint32_t index = arguments[i].index;
        if (index >= count)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                  "argument index %u, of %u arguments", index, count);
        for (uint32_t other = 0; other < i; other++) {
            if (index == arguments[other].index)
                return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                      "argument %u is given twice", index);
        }
        const ur_result_t result =
            read_argument(launch, context, device, &launch->args[index], &arguments[i]);
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    return UR_RESULT_SUCCESS;
}

static inline ur_result_t read_arguments(struct zepi_launch *launch,
                                         const struct zepi_context *context,
                                         const struct zepi_device *device, uint32_t count,
                                         const ur_exp_kernel_arg_properties_t *arguments)
{
    struct zepi_arg *arg = launch->args;
    const ur_exp_kernel_arg_properties_t *from = arguments;
    for (uint32_t i = 0; i < count; i++, from++, arg++) {
        if (__builtin_expect(from->index != i, 0))
            return read_unordered(launch, context, device, i, count, arguments);
        const ur_result_t result = read_argument(launch, context, device, arg, from);
        if (__builtin_expect(result != UR_RESULT_SUCCESS, 0))
            return result;
    }
    return UR_RESULT_SUCCESS;
}

// ---- The launch ----

// A global size of 0 launches nothing: the header calls it an error, but programs do it (dpnp's
// reductions of empty arrays), and OpenCL takes it.
static inline bool sizes_are_right(uint32_t work_dim, const size_t *global, const size_t *local)
{
    return global && work_dim - 1 < 3 &&
           (!local ||
            (local[0] > 0 && (work_dim < 2 || local[1] > 0) && (work_dim < 3 || local[2] > 0)));
}

// The reason why a launch is refused.
static __attribute__((cold, noinline)) ur_result_t
refuse_launch(uint32_t work_dim, const size_t *global, const size_t *local)
{
    if (!global)
        return zepi_ur_refuse_null("pGlobalWorkSize");
    if (work_dim == 0 || work_dim > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", work_dim);
    if (!sizes_are_right(work_dim, global, local))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                              "a local size of 0 in one of %u dimensions", work_dim);
    return zepi_ur_refuse_null("pArgs");
}

static inline ur_result_t launch_read(const struct zepi_ur_launch *from,
                                      const struct zepi_context *context,
                                      const struct zepi_device *device, uint32_t device_index,
                                      struct zepi_launch *launch, struct zepi_launch_room *room)
{
    if (__builtin_expect(!sizes_are_right(from->work_dim, from->global_size, from->local_size) ||
                             (!from->arguments && from->argument_count > 0),
                         0))
        return refuse_launch(from->work_dim, from->global_size, from->local_size);
    zepi_result_t done = zepi_launch_set_kernel(launch, from->kernel, context, device_index);
    if (__builtin_expect(done == ZEPI_ERROR_INVALID_OBJECT, 0)) {
        zepi_ur_fail(done);
        return zepi_ur_wrong_context(context, from->kernel->context,
                                     UR_RESULT_ERROR_INVALID_KERNEL);
    }
    if (done == ZEPI_SUCCESS)
        done = zepi_launch_check_count(launch, from->argument_count);
    if (done == ZEPI_SUCCESS)
        done = zepi_launch_room_init(room, launch, from->argument_count);
    if (__builtin_expect(done != ZEPI_SUCCESS, 0))
        return zepi_ur_fail_launch(done);
    launch->flags = 0;
    zepi_launch_set_sizes(launch, from->work_dim, from->global_size, from->local_size,
                          from->global_offset);
    const ur_result_t result =
        read_arguments(launch, context, device, from->argument_count, from->arguments);
    if (__builtin_expect(result != UR_RESULT_SUCCESS, 0))
        zepi_launch_room_finish(room, launch);
    return result;
}

ur_result_t zepi_ur_launch_read(const struct zepi_ur_launch *from,
                                const struct zepi_context *context,
                                const struct zepi_device *device, uint32_t device_index,
                                struct zepi_launch *launch, struct zepi_launch_room *room)
{
    return launch_read(from, context, device, device_index, launch, room);
}

ur_result_t zepi_urEnqueueKernelLaunchWithArgsExp(
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs,
    const ur_kernel_launch_ext_properties_t *launchPropList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_event_handle_t *phEvent)
{
    struct zepi_launch launch;
    struct zepi_launch_room room;
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    const zepi_wait_list_t wait = {(const zepi_event_t *)phEventWaitList, numEventsInWaitList};
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_wait_list(queue->context, wait)) ||
        (result = zepi_ur_check_kernel(hKernel)))
        return result;
    const struct zepi_ur_launch from = {.kernel = zepi_ur_kernel(hKernel),
                                        .work_dim = workDim,
                                        .global_offset = pGlobalWorkOffset,
                                        .global_size = pGlobalWorkSize,
                                        .local_size = pLocalWorkSize,
                                        .argument_count = numArgs,
                                        .arguments = pArgs};
    result = launch_read(&from, queue->context, queue->device, queue->device_index, &launch, &room);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (__builtin_expect(launchPropList != NULL, 0))
        result = read_properties(launchPropList, &launch.flags);
    if (result == UR_RESULT_SUCCESS) {
        const zepi_result_t done = zepi_launch(queue, &launch, wait, (zepi_event_t *)phEvent);
        if (__builtin_expect(done != ZEPI_SUCCESS, 0))
            result = zepi_ur_fail_launch(done);
        else if (phEvent)
            ((zepi_event_t)*phEvent)->label = UR_COMMAND_KERNEL_LAUNCH;
    }
    zepi_launch_room_finish(&room, &launch);
    return result;
}
