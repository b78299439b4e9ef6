// SPDX-License-Identifier: MIT
#include "ur/layout/set_arguments.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "ur/program/kernel.h"

#include <string.h>

// Where the bytes of a value are kept.
struct place {
    void *bytes; // owned
    size_t size_bytes;
    bool is_set; // the argument, of any kind
};

// The arguments that were set on a kernel. Memory objects and samplers are not retained: a kernel
// that the host keeps must not keep them. A launch looks whether they are still there.
struct zepi_ur_set_arguments {
    struct zepi_object object;
    // Guards the members below, and is held while the kernel is launched with it: no argument
    // changes meanwhile. The mutex of a queue may be taken under it.
    struct zepi_mutex mutex;
    uint32_t count;
    ur_exp_kernel_arg_properties_t *records; // owned
    struct place *places;                    // owned, one a record
};

static void set_arguments_destroy(void *object)
{
    struct zepi_ur_set_arguments *set = object;
    for (uint32_t i = 0; set->places && i < set->count; i++)
        zepi_free(set->places[i].bytes);
    zepi_free(set->places);
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
    set->places = zepi_allocate(count, sizeof(set->places[0]));
    if (set->records && set->places)
        return set;
    zepi_fail_no_memory();
    zepi_release(set);
    return NULL;
}

static struct zepi_ur_set_arguments *set_arguments_find(struct zepi_kernel *kernel)
{
    // Acquire, here and below: the writes of the thread that made it.
    return atomic_load_explicit(&kernel->front_end_state, memory_order_acquire);
}

static struct zepi_ur_set_arguments *set_arguments_find_or_create(struct zepi_kernel *kernel)
{
    void *there = set_arguments_find(kernel);
    if (there)
        return there;
    struct zepi_ur_set_arguments *made =
        set_arguments_create(zepi_ur_kernel_any_device_kernel(kernel)->argument_count);
    if (!made ||
        atomic_compare_exchange_strong_explicit(&kernel->front_end_state, &there, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    zepi_release(made);
    return there;
}

static ur_result_t argument_set_begin(ur_kernel_handle_t handle, uint32_t index,
                                      struct zepi_ur_set_arguments **out_set)
{
    const ur_result_t result = zepi_ur_check_kernel(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const uint32_t count = zepi_ur_kernel_any_device_kernel(zepi_ur_kernel(handle))->argument_count;
    if (index >= count)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                              "argument index %u, kernel '%s' has %u arguments", index,
                              zepi_ur_kernel(handle)->name, count);
    *out_set = set_arguments_find_or_create(zepi_ur_kernel(handle));
    return *out_set ? UR_RESULT_SUCCESS : zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
}

static ur_result_t set_argument_record(ur_kernel_handle_t handle,
                                       const ur_exp_kernel_arg_properties_t *record)
{
    struct zepi_ur_set_arguments *set;
    const ur_result_t result = argument_set_begin(handle, record->index, &set);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_mutex_lock(&set->mutex);
    set->records[record->index] = *record;
    set->places[record->index].is_set = true;
    zepi_mutex_unlock(&set->mutex);
    return UR_RESULT_SUCCESS;
}

// Copies a value. False without memory: the argument is as before.
static bool put_argument_value(struct zepi_ur_set_arguments *set, uint32_t index, size_t size,
                               const void *value)
{
    struct place *place = &set->places[index];
    void *old = NULL;
    zepi_mutex_lock(&set->mutex);
    if (size > place->size_bytes) {
        void *bytes = zepi_allocate(1, size);
        if (!bytes) {
            zepi_mutex_unlock(&set->mutex);
            return false;
        }
        old = place->bytes;
        place->bytes = bytes;
        place->size_bytes = size;
    }
    memcpy(place->bytes, value, size);
    place->is_set = true;
    set->records[index] = (ur_exp_kernel_arg_properties_t){.type = UR_EXP_KERNEL_ARG_TYPE_VALUE,
                                                           .index = index,
                                                           .size = size,
                                                           .value.value = place->bytes};
    zepi_mutex_unlock(&set->mutex);
    zepi_free(old);
    return true;
}

ur_result_t zepi_urKernelSetArgValue(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_value_properties_t *pProperties,
                                     const void *pArgValue)
{
    struct zepi_ur_set_arguments *arguments;
    (void)pProperties;
    ur_result_t result;
    if ((result = argument_set_begin(hKernel, argIndex, &arguments)) ||
        (result = zepi_ur_check_pointer(pArgValue, "pArgValue")))
        return result;
    if (argSize == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                              "argument %u is a value of 0 bytes", argIndex);
    return put_argument_value(arguments, argIndex, argSize, pArgValue)
               ? UR_RESULT_SUCCESS
               : zepi_ur_result(zepi_fail_no_memory());
}

ur_result_t zepi_urKernelSetArgLocal(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_local_properties_t *pProperties)
{
    (void)pProperties;
    return set_argument_record(
        hKernel, &(ur_exp_kernel_arg_properties_t){
                     .type = UR_EXP_KERNEL_ARG_TYPE_LOCAL, .index = argIndex, .size = argSize});
}

ur_result_t zepi_urKernelSetArgPointer(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_pointer_properties_t *pProperties,
                                       const void *pArgValue)
{
    (void)pProperties;
    return set_argument_record(
        hKernel, &(ur_exp_kernel_arg_properties_t){.type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
                                                   .index = argIndex,
                                                   .size = sizeof(void *),
                                                   .value.pointer = pArgValue});
}

ur_result_t zepi_urKernelSetArgSampler(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_sampler_properties_t *pProperties,
                                       ur_sampler_handle_t hArgValue)
{
    (void)pProperties;
    if (!hArgValue)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_NULL_HANDLE, "the sampler is NULL");
    return set_argument_record(
        hKernel, &(ur_exp_kernel_arg_properties_t){.type = UR_EXP_KERNEL_ARG_TYPE_SAMPLER,
                                                   .index = argIndex,
                                                   .size = sizeof(void *),
                                                   .value.sampler = hArgValue});
}

ur_result_t zepi_urKernelSetArgMemObj(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                      const ur_kernel_arg_mem_obj_properties_t *pProperties,
                                      ur_mem_handle_t hArgValue)
{
    return set_argument_record(
        hKernel,
        &(ur_exp_kernel_arg_properties_t){
            .type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,
            .index = argIndex,
            .size = sizeof(void *),
            .value.memObjTuple = {hArgValue, pProperties ? pProperties->memoryAccess : 0}});
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
    const struct zepi_kernel_argument *declared = &device_kernel->arguments[index];
    const size_t size = declared->size_bytes > 0 ? declared->size_bytes : sizeof(uint64_t);
    struct place *place = &set->places[index];
    ur_exp_kernel_arg_properties_t record = {
        .type = UR_EXP_KERNEL_ARG_TYPE_POINTER, .index = index, .size = sizeof(void *)};
    // Nothing but sizes is known of native code's.
    switch (device_kernel->is_described ? declared->kind : ZEPI_SPIRV_ARGUMENT_VALUE) {
    case ZEPI_SPIRV_ARGUMENT_GLOBAL:
    case ZEPI_SPIRV_ARGUMENT_CONSTANT:
        break;
    case ZEPI_SPIRV_ARGUMENT_VALUE:
        if (!place->bytes)
            place->bytes = zepi_allocate(1, size);
        if (!place->bytes)
            return zepi_ur_result(zepi_fail_no_memory());
        place->size_bytes = size;
        record.type = UR_EXP_KERNEL_ARG_TYPE_VALUE;
        record.size = size;
        record.value.value = place->bytes;
        break;
    default:
        return refuse_unset(device_kernel, index);
    }
    set->records[index] = record;
    return UR_RESULT_SUCCESS;
}

// The kernel's list, locked, to be given back with set_arguments_unlock(). A kernel that takes no
// arguments has none, which is no error.
static ur_result_t set_arguments_lock(ur_kernel_handle_t handle, enum unset unset,
                                      struct zepi_ur_set_arguments **out_set)
{
    ur_result_t result = zepi_ur_check_kernel(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_kernel *kernel = zepi_ur_kernel(handle);
    const struct zepi_device_kernel *device_kernel = zepi_ur_kernel_any_device_kernel(kernel);
    const uint32_t count = device_kernel->argument_count;
    struct zepi_ur_set_arguments *set = count > 0 ? set_arguments_find_or_create(kernel) : NULL;
    if (count > 0 && !set)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    if (set)
        zepi_mutex_lock(&set->mutex);
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++) {
        if (!set->places[i].is_set)
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
                                       uint32_t numEventsInWaitList,
                                       const ur_event_handle_t *phEventWaitList,
                                       ur_event_handle_t *phEvent)
{
    struct zepi_ur_set_arguments *found;
    ur_result_t result = set_arguments_lock(hKernel, UNSET_IS_REFUSED, &found);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_urEnqueueKernelLaunchWithArgsExp(
        hQueue, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
        found ? found->count : 0, found ? found->records : NULL, launchPropList,
        numEventsInWaitList, phEventWaitList, phEvent);
    set_arguments_unlock(found);
    return result;
}

ur_result_t zepi_urCommandBufferAppendKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numKernelAlternatives, ur_kernel_handle_t *phKernelAlternatives,
    uint32_t numSyncPointsInWaitList, const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    uint32_t numEventsInWaitList, const ur_event_handle_t *phEventWaitList,
    ur_exp_command_buffer_sync_point_t *pSyncPoint, ur_event_handle_t *phEvent,
    ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_set_arguments *found;
    ur_result_t result = set_arguments_lock(hKernel, UNSET_IS_ZERO, &found);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
        hCommandBuffer, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
        found ? found->count : 0, found ? found->records : NULL, numKernelAlternatives,
        phKernelAlternatives, numSyncPointsInWaitList, pSyncPointWaitList, numEventsInWaitList,
        phEventWaitList, pSyncPoint, phEvent, phCommand);
    set_arguments_unlock(found);
    return result;
}
