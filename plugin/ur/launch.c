// SPDX-License-Identifier: MIT
#include "ur/launch.h"

#include "base/alloc.h"
#include "kernel/arguments.h"
#include "kernel/launch.h"
#include "ur/command.h"
#include "ur/mem.h"

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

static ur_result_t read_argument(const ur_exp_kernel_arg_properties_t *from,
                                 const struct zepi_context *context,
                                 const struct zepi_device *device, zepi_argument_t *to)
{
    *to = (zepi_argument_t){.size_bytes = from->size};
    switch (from->type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE:
        to->value = from->value.value;
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_POINTER:
        to->kind = ZEPI_ARGUMENT_POINTER;
        to->size_bytes = 0;
        to->value = from->value.pointer;
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
        to->kind = ZEPI_ARGUMENT_LOCAL;
        return UR_RESULT_SUCCESS;
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
        return zepi_ur_mem_as_argument(from->value.memObjTuple.hMem, context, device, to);
    case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
        return zepi_ur_sampler_as_argument(from->value.sampler, context, to);
    default:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "argument %u has the unknown type %d", from->index, (int)from->type);
    }
}

static_assert((int)UR_EXP_KERNEL_ARG_TYPE_VALUE == ZEPI_ARGUMENT_VALUE &&
                  (int)UR_EXP_KERNEL_ARG_TYPE_POINTER == ZEPI_ARGUMENT_POINTER,
              "the kinds are not translated");

// Values, pointers and local memory in the order of the kernel, as hosts give them: false if there
// is anything else, which is for read_arguments.
static inline bool read_plain_arguments(uint32_t count, const ur_exp_kernel_arg_properties_t *from,
                                        zepi_argument_t *to)
{
    for (uint32_t i = 0; i < count; i++) {
        if (from[i].index != i)
            return false;
        to[i].reserved = 0;
        // Values and pointers have the same place, and the same numbers in both interfaces.
        if (from[i].type <= UR_EXP_KERNEL_ARG_TYPE_POINTER) {
            to[i].kind = (zepi_argument_kind_t)from[i].type;
            to[i].size_bytes = from[i].type == UR_EXP_KERNEL_ARG_TYPE_VALUE ? from[i].size : 0;
            to[i].value = from[i].value.value;
        } else if (from[i].type == UR_EXP_KERNEL_ARG_TYPE_LOCAL) {
            to[i].kind = ZEPI_ARGUMENT_LOCAL;
            to[i].size_bytes = from[i].size;
            to[i].value = NULL;
        } else {
            return false;
        }
    }
    return true;
}

// Whether a checked argument is a buffer of another context.
static bool is_stranger(const ur_exp_kernel_arg_properties_t *argument,
                        const struct zepi_context *context)
{
    const struct zepi_ur_mem *mem = argument->type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ
                                        ? zepi_ur_mem(argument->value.memObjTuple.hMem)
                                        : NULL;
    return mem && mem->context != context;
}

static __attribute__((noinline)) ur_result_t read_arguments(struct zepi_ur_launch_desc *out,
                                                            const struct zepi_context *context,
                                                            const struct zepi_device *device,
                                                            const struct zepi_ur_launch *launch)
{
    zepi_argument_t *arguments = out->inline_arguments;
    out->has_objects = true;
    const uint32_t count = launch->argument_count;
    if (count > 0 && !launch->arguments)
        return zepi_ur_refuse_null("pArgs");
    if (count > ZEPI_UR_INLINE_ARGUMENTS) {
        arguments = out->owned_arguments = zepi_allocate(count, sizeof(*arguments));
        if (!arguments)
            return zepi_ur_result(zepi_fail_no_memory());
    }
    uint64_t in_order = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = launch->arguments[i].index;
        if (index >= count)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                  "argument index %u, of %u arguments", index, count);
        in_order += index == i;
        const ur_result_t result =
            read_argument(&launch->arguments[i], context, device, &arguments[index]);
        if (result != UR_RESULT_SUCCESS)
            return result;
        out->has_strangers = out->has_strangers || is_stranger(&launch->arguments[i], context);
    }
    for (uint32_t i = 0; i < count && in_order < count; i++) {
        for (uint32_t other = 0; other < i; other++) {
            if (launch->arguments[i].index == launch->arguments[other].index)
                return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                                      "argument %u is given twice", launch->arguments[i].index);
        }
    }
    out->desc.arguments = arguments;
    out->desc.argument_count = count;
    return UR_RESULT_SUCCESS;
}

// Of one dimension, checked on the way. A global size of 0 launches nothing: the header calls it an
// error, but programs do it (dpnp's reductions of empty arrays), and OpenCL takes it.
static inline bool set_sizes(zepi_launch_desc_t *desc, const struct zepi_ur_launch *launch,
                             uint32_t i)
{
    const size_t local = launch->local_size ? launch->local_size[i] : 0;
    desc->global_size[i] = launch->global_size[i];
    desc->group_size[i] = local;
    desc->global_offset[i] = launch->global_offset ? launch->global_offset[i] : 0;
    return local > 0 || !launch->local_size;
}

// Without loops, which the compiler would turn into calls that cost more.
static inline ur_result_t set_all_sizes(zepi_launch_desc_t *desc,
                                        const struct zepi_ur_launch *launch)
{
    if (!launch->global_size)
        return zepi_ur_refuse_null("pGlobalWorkSize");
    if (launch->work_dim == 0 || launch->work_dim > 3)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                              "%u dimensions, expected 1 to 3", launch->work_dim);
    desc->work_dim = launch->work_dim;
    if (!set_sizes(desc, launch, 0) || (launch->work_dim > 1 && !set_sizes(desc, launch, 1)) ||
        (launch->work_dim > 2 && !set_sizes(desc, launch, 2)))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                              "a local size of 0 in one of %u dimensions", launch->work_dim);
    return UR_RESULT_SUCCESS;
}

static inline ur_result_t launch_desc_init(struct zepi_ur_launch_desc *out,
                                           const struct zepi_kernel *kernel,
                                           const struct zepi_context *context,
                                           const struct zepi_device *device,
                                           const struct zepi_ur_launch *launch)
{
    zepi_launch_desc_t *desc = &out->desc;
    ur_result_t result = set_all_sizes(desc, launch);
    if (result != UR_RESULT_SUCCESS)
        return result;
    out->has_objects = false;
    out->owned_arguments = NULL;
    out->has_strangers = false;
    desc->size = sizeof(*desc);
    desc->kernel = (struct zepi_kernel *)kernel;
    desc->kernel_name = NULL;
    desc->arguments = out->inline_arguments;
    desc->argument_count = launch->argument_count;
    desc->flags = 0;
    desc->spec_value_count = 0;
    desc->spec_values = NULL;
    desc->module = NULL;
    desc->unit = NULL;
    desc->selector = NULL;
    desc->selector_data = NULL;
    if (launch->properties)
        result = read_properties(launch->properties, &desc->flags);
    if (result == UR_RESULT_SUCCESS &&
        (launch->argument_count > ZEPI_UR_INLINE_ARGUMENTS || !launch->arguments ||
         !read_plain_arguments(launch->argument_count, launch->arguments, out->inline_arguments)))
        result = read_arguments(out, context, device, launch);
    if (result != UR_RESULT_SUCCESS)
        zepi_ur_launch_desc_finish(out);
    return result;
}

ur_result_t zepi_ur_launch_desc_init(struct zepi_ur_launch_desc *out,
                                     const struct zepi_kernel *kernel,
                                     const struct zepi_context *context,
                                     const struct zepi_device *device,
                                     const struct zepi_ur_launch *launch)
{
    return launch_desc_init(out, kernel, context, device, launch);
}

void zepi_ur_launch_desc_finish(struct zepi_ur_launch_desc *desc)
{
    if (desc->owned_arguments)
        zepi_free(desc->owned_arguments);
    desc->owned_arguments = NULL;
}

ur_result_t zepi_ur_fail_launch(zepi_result_t result, const struct zepi_kernel *kernel,
                                const struct zepi_context *context,
                                const struct zepi_device *device, const zepi_launch_desc_t *desc)
{
    struct zepi_error error;
    struct zepi_kernel_pool *pool;
    const ur_result_t ur = zepi_ur_fail(result);
    const uint32_t index = zepi_context_device_index(kernel->context, device);
    if (result == ZEPI_ERROR_INVALID_OBJECT)
        return kernel->context != context || index == ZEPI_NO_DEVICE
                   ? zepi_ur_wrong_context(context, kernel->context, UR_RESULT_ERROR_INVALID_KERNEL)
                   : UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
    if ((result != ZEPI_ERROR_INVALID_SIZE && result != ZEPI_ERROR_INVALID_VALUE) ||
        index == ZEPI_NO_DEVICE)
        return ur;
    zepi_error_save(&error);
    zepi_result_t arguments = zepi_kernel_get_pool(kernel, index, &pool);
    if (arguments == ZEPI_SUCCESS && pool->argument_count != desc->argument_count)
        return UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    if (arguments == ZEPI_SUCCESS)
        arguments = zepi_arguments_check(pool, device, desc->argument_count, desc->arguments);
    zepi_error_restore(&error);
    if (arguments == ZEPI_ERROR_INVALID_SIZE)
        return UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    return result == ZEPI_ERROR_INVALID_SIZE ? UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE : ur;
}

// Brings the buffers among the arguments to the device. The arguments have been read.
static zepi_result_t use_buffers(struct zepi_buffer_uses *uses, const struct zepi_ur_launch *launch)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < launch->argument_count && result == ZEPI_SUCCESS; i++) {
        const ur_exp_kernel_arg_properties_t *argument = &launch->arguments[i];
        if (argument->type != UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ)
            continue;
        result = zepi_ur_use_mem(uses, zepi_ur_mem(argument->value.memObjTuple.hMem),
                                 argument->value.memObjTuple.flags & UR_MEM_FLAG_READ_ONLY
                                     ? ZEPI_BUFFER_READ
                                     : ZEPI_BUFFER_WRITE);
    }
    return result;
}

// Buffers of other contexts, which do not know that the queue uses them.
static __attribute__((cold, noinline)) void
hold_strangers(struct zepi_queue *queue, uint32_t count,
               const ur_exp_kernel_arg_properties_t *arguments)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_stranger(&arguments[i], queue->context))
            zepi_queue_hold(queue, arguments[i].value.memObjTuple.hMem);
    }
}

ur_result_t zepi_ur_launch_any(ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel,
                               uint32_t workDim, const size_t *pGlobalWorkOffset,
                               const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
                               uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs,
                               const ur_kernel_launch_ext_properties_t *launchPropList,
                               uint32_t numEventsInWaitList,
                               const ur_event_handle_t *phEventWaitList, ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_ur_launch_desc launch;
    ur_result_t result = zepi_ur_command_begin(&command, hQueue, false, numEventsInWaitList,
                                               phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_kernel(hKernel);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const struct zepi_ur_launch asked = {workDim,        pGlobalWorkOffset, pGlobalWorkSize,
                                         pLocalWorkSize, numArgs,           pArgs,
                                         launchPropList};
    struct zepi_kernel *kernel = zepi_ur_kernel(hKernel);
    struct zepi_queue *queue = command.queue;
    result = launch_desc_init(&launch, kernel, queue->context, queue->device, &asked);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_buffer_uses uses;
    zepi_buffer_uses_init(&uses, queue, command.wait);
    zepi_result_t done = launch.has_objects ? use_buffers(&uses, &asked) : ZEPI_SUCCESS;
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_launch(queue, &launch.desc, uses.wait, zepi_ur_command_event(&command));
    zepi_buffer_uses_finish(&uses);
    if (done == ZEPI_SUCCESS && launch.has_strangers)
        hold_strangers(queue, numArgs, pArgs);
    result = done == ZEPI_SUCCESS
                 ? zepi_ur_command_end(&command, done, UR_COMMAND_KERNEL_LAUNCH)
                 : zepi_ur_fail_launch(done, kernel, queue->context, queue->device, &launch.desc);
    if (result == UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST)
        result = zepi_ur_wrong_wait_list(queue, command.wait);
    zepi_ur_launch_desc_finish(&launch);
    return result;
}
