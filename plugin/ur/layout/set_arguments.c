// SPDX-License-Identifier: MIT
#include "ur/layout/set_arguments.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "ur/program/kernel.h"

#include <string.h>

// The type of the record of an argument that was set. Another record has none.
#define IS_SET UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES

// The arguments that were set on a kernel. Memory objects and samplers are not retained: a kernel
// that the host keeps must not keep them. A launch looks whether they are still there.
struct zepi_ur_set_arguments {
    struct zepi_object object;
    // Guards the records, and is held while the kernel is launched with them: no argument changes
    // meanwhile. The mutex of a queue may be taken under it.
    struct zepi_mutex mutex;
    uint32_t count;
    ur_exp_kernel_arg_properties_t *records; // owned, with the bytes of values that were set
};

// The bytes that the record owns.
static void *bytes_of(const ur_exp_kernel_arg_properties_t *record)
{
    return record->stype == IS_SET && record->type == UR_EXP_KERNEL_ARG_TYPE_VALUE
               ? (void *)record->value.value
               : NULL;
}

static void set_arguments_destroy(void *object)
{
    struct zepi_ur_set_arguments *set = object;
    for (uint32_t i = 0; set->records && i < set->count; i++)
        zepi_free(bytes_of(&set->records[i]));
    zepi_free(set->records);
}

ZEPI_DEFINE_TYPE(ur_set_arguments, set_arguments_destroy);

// NULL without memory (noted).
static struct zepi_ur_set_arguments *set_arguments_create(uint32_t count)
{
    struct zepi_ur_set_arguments *set = zepi_object_create(&zepi_ur_set_arguments_type);
    if (!set)
        return NULL;
    set->count = count;
    set->records = zepi_allocate(count, sizeof(set->records[0]));
    if (set->records)
        return set;
    zepi_fail_no_memory();
    zepi_release(set);
    return NULL;
}

static struct zepi_ur_set_arguments *set_arguments_find_or_create(struct zepi_kernel *kernel,
                                                                  uint32_t count)
{
    // Acquire, here and below: the writes of the thread that made it.
    void *there = atomic_load_explicit(&kernel->front_end_state, memory_order_acquire);
    if (there)
        return there;
    struct zepi_ur_set_arguments *made = set_arguments_create(count);
    if (!made ||
        atomic_compare_exchange_strong_explicit(&kernel->front_end_state, &there, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    zepi_release(made);
    return there;
}

// Takes the record; the bytes of a value are copied. Without memory the argument is as before.
static bool set_record_locked(struct zepi_ur_set_arguments *set,
                              ur_exp_kernel_arg_properties_t record)
{
    ur_exp_kernel_arg_properties_t *own = &set->records[record.index];
    void *old = bytes_of(own);
    if (record.type == UR_EXP_KERNEL_ARG_TYPE_VALUE) {
        void *bytes = old && own->size == record.size ? old : zepi_allocate(1, record.size);
        if (!bytes)
            return false;
        memcpy(bytes, record.value.value, record.size);
        record.value.value = bytes;
    }
    record.stype = IS_SET;
    if (old != bytes_of(&record))
        zepi_free(old);
    *own = record;
    return true;
}

static ur_result_t set_argument(ur_kernel_handle_t handle, ur_exp_kernel_arg_type_t type,
                                uint32_t index, size_t size, ur_exp_kernel_arg_value_t value)
{
    const ur_result_t result = zepi_ur_check_kernel(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_kernel *kernel = zepi_ur_kernel(handle);
    const uint32_t count = zepi_ur_kernel_any_device_kernel(kernel)->argument_count;
    if (index >= count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                              "argument index %u, kernel '%s' has %u arguments", index,
                              kernel->name, count);
    struct zepi_ur_set_arguments *set = set_arguments_find_or_create(kernel, count);
    if (!set)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    const ur_exp_kernel_arg_properties_t record = {
        .type = type, .index = index, .size = size, .value = value};
    zepi_mutex_lock(&set->mutex);
    const bool is_set = set_record_locked(set, record);
    zepi_mutex_unlock(&set->mutex);
    return is_set ? UR_RESULT_SUCCESS : zepi_ur_result(zepi_fail_no_memory());
}

ur_result_t zepi_urKernelSetArgValue(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_value_properties_t *pProperties,
                                     const void *pArgValue)
{
    (void)pProperties;
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(pArgValue, "pArgValue")) ||
        (argSize == 0 && (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                                                  "argument %u is a value of 0 bytes", argIndex))))
        return result;
    return set_argument(hKernel, UR_EXP_KERNEL_ARG_TYPE_VALUE, argIndex, argSize,
                        (ur_exp_kernel_arg_value_t){.value = pArgValue});
}

ur_result_t zepi_urKernelSetArgLocal(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_local_properties_t *pProperties)
{
    (void)pProperties;
    return set_argument(hKernel, UR_EXP_KERNEL_ARG_TYPE_LOCAL, argIndex, argSize,
                        (ur_exp_kernel_arg_value_t){0});
}

ur_result_t zepi_urKernelSetArgPointer(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_pointer_properties_t *pProperties,
                                       const void *pArgValue)
{
    (void)pProperties;
    return set_argument(hKernel, UR_EXP_KERNEL_ARG_TYPE_POINTER, argIndex, sizeof(void *),
                        (ur_exp_kernel_arg_value_t){.pointer = pArgValue});
}

ur_result_t zepi_urKernelSetArgSampler(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_sampler_properties_t *pProperties,
                                       ur_sampler_handle_t hArgValue)
{
    (void)pProperties;
    if (!hArgValue)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_NULL_HANDLE, "the sampler is NULL");
    return set_argument(hKernel, UR_EXP_KERNEL_ARG_TYPE_SAMPLER, argIndex, sizeof(void *),
                        (ur_exp_kernel_arg_value_t){.sampler = hArgValue});
}

ur_result_t zepi_urKernelSetArgMemObj(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                      const ur_kernel_arg_mem_obj_properties_t *pProperties,
                                      ur_mem_handle_t hArgValue)
{
    const ur_mem_flags_t flags = pProperties ? pProperties->memoryAccess : 0;
    return set_argument(hKernel, UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ, argIndex, sizeof(void *),
                        (ur_exp_kernel_arg_value_t){.memObjTuple = {hArgValue, flags}});
}

// Arguments that were never set: of a launch that is enqueued an error; of one that is recorded
// NULL and 0, since updates may set them before it is executed.
enum unset { UNSET_IS_REFUSED, UNSET_IS_ZERO };

static ur_result_t refuse_unset(const struct zepi_device_kernel *device_kernel, uint32_t index)
{
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                          "argument %u of kernel '%s' was not set", index, device_kernel->name);
}

// Makes the record of an argument that was not set, which it is not afterwards either.
static ur_result_t set_zero_locked(struct zepi_ur_set_arguments *set, uint32_t index,
                                   const struct zepi_device_kernel *device_kernel)
{
    static const unsigned char zeros[4096];
    const struct zepi_kernel_argument *declared = &device_kernel->arguments[index];
    const size_t size = declared->size_bytes > 0 ? declared->size_bytes : sizeof(uint64_t);
    ur_exp_kernel_arg_properties_t record = {
        .type = UR_EXP_KERNEL_ARG_TYPE_POINTER, .index = index, .size = sizeof(void *)};
    // Nothing but sizes is known of native code's.
    switch (device_kernel->is_described ? declared->kind : ZEPI_SPIRV_ARGUMENT_VALUE) {
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        break;
    case ZEPI_SPIRV_ARGUMENT_VALUE:
        if (size > sizeof(zeros))
            return refuse_unset(device_kernel, index);
        record.type = UR_EXP_KERNEL_ARG_TYPE_VALUE;
        record.size = size;
        record.value.value = zeros;
        break;
    default:
        return refuse_unset(device_kernel, index);
    }
    set->records[index] = record;
    return UR_RESULT_SUCCESS;
}

// The kernel's list, whose mutex is locked on success. NULL: the kernel has no arguments, and its
// launches share nothing.
static ur_result_t set_arguments_lock(ur_kernel_handle_t handle, enum unset unset,
                                      struct zepi_ur_set_arguments **out_set)
{
    ur_result_t result = zepi_ur_check_kernel(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const struct zepi_device_kernel *device_kernel =
        zepi_ur_kernel_any_device_kernel(zepi_ur_kernel(handle));
    *out_set = NULL;
    if (device_kernel->argument_count == 0)
        return UR_RESULT_SUCCESS;
    struct zepi_ur_set_arguments *set =
        set_arguments_find_or_create(zepi_ur_kernel(handle), device_kernel->argument_count);
    if (!set)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    zepi_mutex_lock(&set->mutex);
    for (uint32_t i = 0; i < set->count && result == UR_RESULT_SUCCESS; i++) {
        if (set->records[i].stype != IS_SET)
            result = unset == UNSET_IS_ZERO ? set_zero_locked(set, i, device_kernel)
                                            : refuse_unset(device_kernel, i);
    }
    if (result == UR_RESULT_SUCCESS)
        *out_set = set;
    else
        zepi_mutex_unlock(&set->mutex);
    return result;
}

static void set_arguments_unlock(struct zepi_ur_set_arguments *set)
{
    if (set)
        zepi_mutex_unlock(&set->mutex);
}

ur_result_t zepi_urEnqueueKernelLaunch(ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel,
                                       uint32_t workDim, const size_t *pGlobalWorkOffset,
                                       const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
                                       const ur_kernel_launch_ext_properties_t *launchPropList,
                                       ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_set_arguments *set;
    ur_result_t result = set_arguments_lock(hKernel, UNSET_IS_REFUSED, &set);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_urEnqueueKernelLaunchWithArgsExp(
        hQueue, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
        set ? set->count : 0, set ? set->records : NULL, launchPropList, wait_count, wait_list,
        out_event);
    set_arguments_unlock(set);
    return result;
}

ur_result_t zepi_urCommandBufferAppendKernelLaunchExp_older(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numKernelAlternatives, ur_kernel_handle_t *phKernelAlternatives,
    ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_set_arguments *set;
    ur_result_t result = set_arguments_lock(hKernel, UNSET_IS_ZERO, &set);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
        hCommandBuffer, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
        set ? set->count : 0, set ? set->records : NULL, numKernelAlternatives,
        phKernelAlternatives, numSyncPointsInWaitList, pSyncPointWaitList, numEventsInWaitList,
        phEventWaitList, pSyncPoint, phEvent, phCommand);
    set_arguments_unlock(set);
    return result;
}
