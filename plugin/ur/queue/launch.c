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

static ur_result_t read_value(struct zepi_launch *launch,
                              const ur_exp_kernel_arg_properties_t *from)
{
    const void *value = from->value.value;
    if (from->size == 0 || !value)
        return zepi_ur_refuse(
            value ? UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE : UR_RESULT_ERROR_INVALID_VALUE,
            "argument %u of kernel '%s' is a value of %zu bytes at %p", from->index,
            zepi_launch_device_kernel(launch)->name, from->size, value);
    zepi_launch_set_bytes(launch, from->index, value, from->size);
    return UR_RESULT_SUCCESS;
}

// A memory object or a sampler.
static ur_result_t read_object(struct zepi_launch *launch, const struct zepi_context *context,
                               const struct zepi_device *device,
                               const ur_exp_kernel_arg_properties_t *from)
{
    struct zepi_arg *arg = &launch->args[from->index];
    struct zepi_arg_use use = {.access = ZEPI_BUFFER_WRITE};
    ur_result_t result;
    if (from->type == UR_EXP_KERNEL_ARG_TYPE_SAMPLER) {
        use.object = from->value.sampler;
        result = zepi_ur_read_sampler_arg(from->value.sampler, context, arg);
    } else {
        if (from->value.memObjTuple.flags & UR_MEM_FLAG_READ_ONLY)
            use.access = ZEPI_BUFFER_READ;
        result = zepi_ur_read_mem_arg(from->value.memObjTuple.hMem, context, device, arg, &use);
    }
    if (result == UR_RESULT_SUCCESS && use.object)
        zepi_launch_add_use(launch, from->index, &use);
    return result;
}

ur_result_t zepi_ur_read_other_arg(struct zepi_launch *launch, const struct zepi_context *context,
                                   const struct zepi_device *device,
                                   const ur_exp_kernel_arg_properties_t *from)
{
    switch (from->type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE:
        return read_value(launch, from);
    case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
        zepi_arg_set_slm(&launch->args[from->index], from->size);
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
    case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
        return read_object(launch, context, device, from);
    default:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "argument %u has the unknown type %d", from->index, (int)from->type);
    }
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
            zepi_ur_read_arg(launch, &launch->args[index], context, device, &arguments[i]);
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
        const ur_result_t result = zepi_ur_read_arg(launch, arg, context, device, from);
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
    if (__builtin_expect(done == ZEPI_ERROR_INVALID_OBJECT, 0))
        return zepi_ur_refuse_context(context, from->kernel->context,
                                      UR_RESULT_ERROR_INVALID_KERNEL, "the kernel");
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
    const ur_kernel_launch_ext_properties_t *launchPropList, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_launch launch;
    struct zepi_launch_room room;
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    const zepi_wait_list_t wait = {(const zepi_event_t *)wait_list, wait_count};
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
        const zepi_result_t done = zepi_launch(queue, &launch, wait, (zepi_event_t *)out_event);
        if (__builtin_expect(done != ZEPI_SUCCESS, 0))
            result = zepi_ur_fail_launch(done);
        else if (out_event)
            ((zepi_event_t)*out_event)->label = UR_COMMAND_KERNEL_LAUNCH;
    }
    zepi_launch_room_finish(&room, &launch);
    return result;
}
