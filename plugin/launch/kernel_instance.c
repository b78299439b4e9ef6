// SPDX-License-Identifier: MIT
#include "launch/kernel_instance.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/arguments.h"
#include "launch/work_size.h"
#include "memory/buffer.h"
#include "memory/usm_table.h"
#include "queue/command/barrier.h"
#include "queue/submit.h"
#include "ze/ze.h"

void zepi_kernel_instance_free(struct zepi_kernel_instance *instance)
{
    zepi_ze.zeKernelDestroy(instance->ze);
    zepi_free(instance);
}

static void forget_arguments(struct zepi_kernel_instance *instance, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        instance->arguments[i].head = ZEPI_ARGUMENT_NOT_SET;
}

zepi_result_t zepi_kernel_instance_create(const struct zepi_device_kernel *device_kernel,
                                          struct zepi_kernel_instance **out_instance)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = device_kernel->name};
    const ze_kernel_indirect_access_flags_t access = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    struct zepi_kernel_instance *instance = zepi_allocate(
        1, sizeof(*instance) + device_kernel->argument_count * sizeof(instance->arguments[0]));
    if (!instance)
        return zepi_fail_no_memory();
    zepi_result_t result = ZEPI_ZE(zeKernelCreate, device_kernel->module, &desc, &instance->ze);
    if (result != ZEPI_SUCCESS) {
        zepi_free(instance);
        return result;
    }
    // Pointers that lie in memory, or in structures passed by value, are followed, too.
    result = ZEPI_ZE(zeKernelSetIndirectAccess, instance->ze, access);
    if (result != ZEPI_SUCCESS) {
        zepi_kernel_instance_free(instance);
        return result;
    }
    for (uint32_t i = 0; i < device_kernel->argument_count; i++)
        instance->arguments[i].index = i;
    forget_arguments(instance, device_kernel->argument_count);
    *out_instance = instance;
    return ZEPI_SUCCESS;
}

// ---- Arguments ----

static __attribute__((noinline)) uint64_t read_odd_value_bits(const void *value, size_t size_bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, value, size_bytes);
    return bits;
}

// Reads a value of up to 8 bytes.
static inline uint64_t read_value_bits(const void *value, size_t size_bytes)
{
    uint64_t wide;
    uint32_t narrow;
    switch (size_bytes) {
    case sizeof(wide):
        memcpy(&wide, value, sizeof(wide));
        return wide;
    case sizeof(narrow):
        memcpy(&narrow, value, sizeof(narrow));
        return narrow;
    default:
        return read_odd_value_bits(value, size_bytes);
    }
}

// Whether the same bits are the same argument next time. For the quirk
// kept-argument-allocation, the same address in other memory must be set again: when memory that
// zepi allocated is freed, the generation changes; of other memory nothing is known.
static inline bool is_comparable_argument(const struct zepi_device_kernel *device_kernel,
                                          uint32_t index, size_t size_bytes, uint64_t bits)
{
    if (size_bytes != sizeof(void *))
        return size_bytes < sizeof(void *);
    return device_kernel->arguments[index].kind == ZEPI_SPIRV_ARGUMENT_VALUE ||
           zepi_usm_table_find((uintptr_t)bits) != NULL;
}

static zepi_result_t instance_set_argument(struct zepi_kernel_instance *instance,
                                           const struct zepi_argument_state *state,
                                           size_t size_bytes, const void *value)
{
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetArgumentValue, instance->ze, state->index, size_bytes, value);
    if (__builtin_expect(result != ZEPI_SUCCESS, 0))
        zepi_error_append(", for argument %u of %zu bytes", state->index, size_bytes);
    return result;
}

// A buffer that moves has been brought to the device: its place there has memory.
static void *buffer_address(const struct zepi_buffer *buffer, const struct zepi_device *device)
{
    return buffer->fixed ? buffer->fixed
                         : buffer->places[zepi_buffer_place_of(buffer, device)].memory;
}

// Sets an argument of another kind or size than the one that was set, or one that has to be checked
// in each launch.
static __attribute__((noinline)) zepi_result_t check_and_set_argument(
    struct zepi_kernel_instance *instance, const struct zepi_device_kernel *device_kernel,
    const struct zepi_device *device, const struct zepi_argument_list *list, uint32_t index)
{
    zepi_argument_t argument;
    struct zepi_argument_state *state = &instance->arguments[index];
    const struct zepi_argument_record *record = zepi_argument_at(list, index);
    zepi_result_t result = zepi_argument_read(list, index, &argument);
    if (result == ZEPI_SUCCESS)
        result = zepi_argument_check(device_kernel, index, &argument);
    if (result == ZEPI_SUCCESS && argument.kind == ZEPI_ARGUMENT_LOCAL)
        result = zepi_arguments_check_local_memory(device_kernel, device, list);
    if (result != ZEPI_SUCCESS)
        return result;
    // Objects are looked at in each launch: they may have been released since.
    const bool is_object =
        argument.kind == ZEPI_ARGUMENT_BUFFER || zepi_argument_has_pixels(&argument);
    if (zepi_argument_has_pixels(&argument))
        zepi_argument_read_handle(&argument, &argument);
    const void *value = argument.value;
    size_t size_bytes = argument.size_bytes;
    if (argument.kind == ZEPI_ARGUMENT_BUFFER)
        argument.value = buffer_address(argument.value, device);
    if (argument.kind == ZEPI_ARGUMENT_BUFFER || argument.kind == ZEPI_ARGUMENT_POINTER) {
        value = &argument.value;
        size_bytes = sizeof(argument.value);
    }
    state->head = ZEPI_ARGUMENT_NOT_SET;
    result = instance_set_argument(instance, state, size_bytes, value);
    if (result != ZEPI_SUCCESS)
        return result;
    const bool is_local = argument.kind == ZEPI_ARGUMENT_LOCAL;
    const uint64_t bits =
        is_local || size_bytes > sizeof(bits) ? 0 : read_value_bits(value, size_bytes);
    state->size_bytes = record->size_bytes;
    state->bits = bits;
    if (is_local || (!is_object && is_comparable_argument(device_kernel, index, size_bytes, bits)))
        state->head = record->head;
    return ZEPI_SUCCESS;
}

// Sets an argument of the kind and size that was set before, if its bits differ.
static inline zepi_result_t compare_and_set_argument(struct zepi_kernel_instance *instance,
                                                     const struct zepi_device_kernel *device_kernel,
                                                     struct zepi_argument_state *state,
                                                     uint64_t bits, size_t size_bytes,
                                                     const void *value)
{
    if (bits == state->bits)
        return ZEPI_SUCCESS;
    state->bits = bits;
    if (!is_comparable_argument(device_kernel, state->index, size_bytes, bits))
        state->head = ZEPI_ARGUMENT_NOT_SET;
    return instance_set_argument(instance, state, size_bytes, value);
}

// Compares the arguments with those of the last launch, and sets those that differ.
static inline zepi_result_t instance_set_arguments(struct zepi_kernel_instance *instance,
                                                   const struct zepi_device_kernel *device_kernel,
                                                   const struct zepi_device *device,
                                                   const struct zepi_argument_list *list)
{
    struct zepi_argument_state *state = instance->arguments;
    const struct zepi_argument_record *record = list->first;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t left = list->count; left > 0; left--) {
        const uint32_t kind = (uint32_t)record->head;
        const size_t size_bytes = record->size_bytes;
        const void *value = record->value;
        const bool is_same = record->head == state->head && size_bytes == state->size_bytes;
        if (is_same && kind == ZEPI_ARGUMENT_VALUE && value)
            result =
                compare_and_set_argument(instance, device_kernel, state,
                                         read_value_bits(value, size_bytes), size_bytes, value);
        else if (is_same && kind == ZEPI_ARGUMENT_POINTER)
            result = compare_and_set_argument(instance, device_kernel, state, (uintptr_t)value,
                                              sizeof(value), &record->value);
        else if (!is_same || kind != ZEPI_ARGUMENT_LOCAL || (value && !list->is_indexed))
            result = check_and_set_argument(instance, device_kernel, device, list, state->index);
        if (__builtin_expect(result != ZEPI_SUCCESS, 0))
            return result;
        record = (const void *)((const char *)record + list->stride_bytes);
        state++;
    }
    return ZEPI_SUCCESS;
}

// ---- Sizes ----

static inline size_t size_in_dimension(const size_t *sizes, uint32_t dimension)
{
    return sizes ? sizes[dimension] : 0;
}

// Whether dimensions, group size and offset are those of the last launch.
static inline bool shape_matches(const struct zepi_kernel_instance *instance,
                                 const struct zepi_launch *launch)
{
    if (launch->work_dim != instance->work_dim)
        return false;
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        if (size_in_dimension(launch->group_size, i) != instance->asked_group_size[i] ||
            size_in_dimension(launch->global_offset, i) != instance->asked_offset[i])
            return false;
    }
    return true;
}

static inline bool global_size_matches(const struct zepi_kernel_instance *instance,
                                       const struct zepi_launch *launch)
{
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        if (launch->global_size[i] != instance->global_size[i])
            return false;
    }
    return true;
}

static zepi_result_t instance_set_offset(struct zepi_kernel_instance *instance,
                                         const struct zepi_device *device,
                                         const struct zepi_launch *launch)
{
    uint32_t offset[3];
    zepi_result_t result =
        zepi_work_offset_init(offset, device, launch->work_dim, launch->global_offset);
    if (result != ZEPI_SUCCESS || memcmp(offset, instance->offset, sizeof(offset)) == 0)
        return result;
    result = ZEPI_ZE(zeKernelSetGlobalOffsetExp, instance->ze, offset[0], offset[1], offset[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(instance->offset, offset, sizeof(offset));
    return result;
}

zepi_result_t zepi_kernel_instance_set_group_size(struct zepi_kernel_instance *instance,
                                                  const uint32_t group[3])
{
    instance->work_dim = 0;
    if (memcmp(group, instance->group_size, sizeof(instance->group_size)) == 0)
        return ZEPI_SUCCESS;
    memset(instance->group_size, 0, sizeof(instance->group_size));
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGroupSize, instance->ze, group[0], group[1], group[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(instance->group_size, group, sizeof(instance->group_size));
    return result;
}

// Checks all sizes and sets them on the ze_kernel. Without a group size the driver is asked for
// one.
static __attribute__((noinline)) zepi_result_t
check_and_set_sizes(struct zepi_kernel_instance *instance,
                    const struct zepi_device_kernel *device_kernel,
                    const struct zepi_device *device, const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    instance->work_dim = 0;
    zepi_result_t result =
        zepi_work_size_init(&size, device_kernel, device, instance->ze, launch->work_dim,
                            launch->global_size, launch->group_size);
    if (result != ZEPI_SUCCESS)
        return result;
    if (size.is_empty)
        return ZEPI_NOTHING_TO_LAUNCH;
    result = instance_set_offset(instance, device, launch);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_instance_set_group_size(instance, size.group);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        instance->global_size[i] = launch->global_size[i];
        instance->asked_group_size[i] = size_in_dimension(launch->group_size, i);
        instance->asked_offset[i] = size_in_dimension(launch->global_offset, i);
    }
    instance->group_count = size.count;
    instance->work_dim = launch->work_dim;
    return ZEPI_SUCCESS;
}

// Sets another global size with the group size of the last launch, which was found right. A group
// size that the driver suggested is not used again: it is for one global size.
static __attribute__((noinline)) zepi_result_t
instance_set_global_size(struct zepi_kernel_instance *instance,
                         const struct zepi_device_kernel *device_kernel,
                         const struct zepi_device *device, const struct zepi_launch *launch)
{
    // In a dimension that the launch does not have, the count stays 1.
    uint32_t *counts = &instance->group_count.groupCountX;
    static_assert(sizeof(instance->group_count) == 3 * sizeof(*counts), "one count a dimension");
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        const size_t global = launch->global_size[i];
        const uint32_t group = instance->group_size[i];
        if (instance->asked_group_size[i] != group || global - 1 >= UINT32_MAX ||
            (uint32_t)global % group != 0)
            return check_and_set_sizes(instance, device_kernel, device, launch);
        instance->global_size[i] = global;
        counts[i] = (uint32_t)global / group;
    }
    return ZEPI_SUCCESS;
}

static inline zepi_result_t instance_set_sizes(struct zepi_kernel_instance *instance,
                                               const struct zepi_device_kernel *device_kernel,
                                               const struct zepi_device *device,
                                               const struct zepi_launch *launch)
{
    if (!shape_matches(instance, launch))
        return check_and_set_sizes(instance, device_kernel, device, launch);
    return global_size_matches(instance, launch)
               ? ZEPI_SUCCESS
               : instance_set_global_size(instance, device_kernel, device, launch);
}

// ---- A launch ----

// Part of every launch: as a call of its own it costs 20 instructions.
static inline __attribute__((always_inline)) zepi_result_t
instance_prepare(struct zepi_kernel_instance *instance,
                 const struct zepi_device_kernel *device_kernel, const struct zepi_device *device,
                 const struct zepi_launch *launch)
{
    const struct zepi_argument_list *list = &launch->arguments;
    const uint64_t generation = zepi_usm_generation();
    if (list->count != device_kernel->argument_count)
        return zepi_arguments_check_count(device_kernel, list);
    if (instance->usm_generation != generation) {
        forget_arguments(instance, list->count);
        instance->usm_generation = generation;
    }
    const zepi_result_t result = instance_set_arguments(instance, device_kernel, device, list);
    if (__builtin_expect(result != ZEPI_SUCCESS, 0)) {
        // Some arguments that are set now are of this launch, others of the last one, and they were
        // never checked together.
        forget_arguments(instance, list->count);
        return result;
    }
    return instance_set_sizes(instance, device_kernel, device, launch);
}

zepi_result_t zepi_kernel_instance_prepare(struct zepi_kernel_instance *instance,
                                           const struct zepi_device_kernel *device_kernel,
                                           const struct zepi_device *device,
                                           const struct zepi_launch *launch)
{
    return instance_prepare(instance, device_kernel, device, launch);
}

static inline zepi_result_t append_kernel_launch(const struct zepi_submit *submit,
                                                 const struct zepi_kernel_instance *instance,
                                                 zepi_launch_flags_t flags)
{
    ze_group_count_t *count = (ze_group_count_t *)&instance->group_count;
    if (__builtin_expect(flags & ZEPI_LAUNCH_COOPERATIVE, 0))
        return ZEPI_ZE(zeCommandListAppendLaunchCooperativeKernel, submit->list, instance->ze,
                       count, submit->signal, submit->wait_count, submit->waits);
    return ZEPI_ZE(zeCommandListAppendLaunchKernel, submit->list, instance->ze, count,
                   submit->signal, submit->wait_count, submit->waits);
}

zepi_result_t zepi_kernel_instance_launch(struct zepi_kernel_instance *instance,
                                          const struct zepi_device_kernel *device_kernel,
                                          struct zepi_queue *queue,
                                          const struct zepi_launch *launch)
{
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_submit_begin(&submit, queue, launch->wait, launch->out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    result = instance_prepare(instance, device_kernel, queue->device, launch);
    if (__builtin_expect(result == ZEPI_SUCCESS, 1))
        return zepi_submit_end(&submit, append_kernel_launch(&submit, instance, launch->flags),
                               launch->out_event);
    zepi_submit_cancel(&submit);
    return result == ZEPI_NOTHING_TO_LAUNCH
               ? zepi_queue_marker(queue, launch->wait, launch->out_event)
               : result;
}
