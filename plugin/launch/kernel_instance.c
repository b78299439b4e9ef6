// SPDX-License-Identifier: MIT
#include "launch/kernel_instance.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/work_size.h"
#include "memory/usm_table.h"
#include "queue/submit.h"
#include "ze/ze.h"

void zepi_kernel_instance_free(struct zepi_kernel_instance *instance)
{
    zepi_ze.zeKernelDestroy(instance->ze);
    zepi_free(instance);
}

#define NOT_SET UINT16_MAX // in place of a kind: the argument differs from any other

static void forget_args(struct zepi_kernel_instance *instance, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        instance->args[i].kind = NOT_SET;
}

zepi_result_t zepi_kernel_instance_create_ze(const struct zepi_device_kernel *device_kernel,
                                             ze_kernel_handle_t *out_ze)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = device_kernel->name};
    const ze_kernel_indirect_access_flags_t access = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    ze_kernel_handle_t ze;
    zepi_result_t result = ZEPI_ZE(zeKernelCreate, device_kernel->module, &desc, &ze);
    if (result != ZEPI_SUCCESS)
        return result;
    // Pointers that lie in memory, or in structures passed by value, are followed, too.
    result = ZEPI_ZE(zeKernelSetIndirectAccess, ze, access);
    if (result == ZEPI_SUCCESS)
        *out_ze = ze;
    else
        zepi_ze.zeKernelDestroy(ze);
    return result;
}

zepi_result_t zepi_kernel_instance_adopt(const struct zepi_device_kernel *device_kernel,
                                         ze_kernel_handle_t ze,
                                         struct zepi_kernel_instance **out_instance)
{
    struct zepi_kernel_instance *instance = zepi_allocate(
        1, sizeof(*instance) + device_kernel->argument_count * sizeof(instance->args[0]));
    if (!instance) {
        zepi_ze.zeKernelDestroy(ze);
        return zepi_fail_no_memory();
    }
    instance->ze = ze;
    forget_args(instance, device_kernel->argument_count);
    *out_instance = instance;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_kernel_instance_create(const struct zepi_device_kernel *device_kernel,
                                          struct zepi_kernel_instance **out_instance)
{
    ze_kernel_handle_t ze;
    const zepi_result_t result = zepi_kernel_instance_create_ze(device_kernel, &ze);
    return result == ZEPI_SUCCESS ? zepi_kernel_instance_adopt(device_kernel, ze, out_instance)
                                  : result;
}

// ---- Arguments ----

static __attribute__((cold, noinline)) zepi_result_t
fail_set_arg(uint32_t index, const struct zepi_arg *arg, zepi_result_t result)
{
    zepi_error_append(", for argument %u of %u bytes", index, arg->size_bytes);
    return result;
}

// Checks and sets an argument of another head than the one that was set: of another kind or size,
// or after one that is not comparable.
static __attribute__((noinline)) zepi_result_t
check_and_set_arg(struct zepi_kernel_instance *instance, const struct zepi_device *device,
                  const struct zepi_launch *launch, uint32_t index)
{
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    const struct zepi_arg *arg = &launch->args[index];
    zepi_result_t result = zepi_arg_check(device_kernel, index, arg);
    if (result == ZEPI_SUCCESS && arg->kind == ZEPI_ARG_SLM)
        result = zepi_launch_check_slm(launch, device);
    if (result != ZEPI_SUCCESS)
        return result;
    instance->args[index] = *arg;
    if (!zepi_arg_is_comparable(arg, &device_kernel->arguments[index]))
        instance->args[index].kind = NOT_SET;
    result = ZEPI_ZE(zeKernelSetArgumentValue, instance->ze, index, arg->size_bytes,
                     zepi_arg_value(arg));
    return result == ZEPI_SUCCESS ? ZEPI_SUCCESS : fail_set_arg(index, arg, result);
}

// Sets an argument of the kind and size of the one that was set, which was comparable: it is right,
// too. It is as comparable, unless it is an address in memory that zepi did not make.
static inline __attribute__((always_inline)) zepi_result_t
set_other_payload(struct zepi_kernel_instance *instance, uint32_t index, const struct zepi_arg *arg,
                  struct zepi_arg *set)
{
    set->payload = arg->payload;
    if (arg->kind != ZEPI_ARG_BYTES && !zepi_usm_table_find(arg->payload))
        set->kind = NOT_SET;
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetArgumentValue, instance->ze, index, arg->size_bytes, &arg->payload);
    return __builtin_expect(result == ZEPI_SUCCESS, 1) ? ZEPI_SUCCESS
                                                       : fail_set_arg(index, arg, result);
}

// Compares the arguments with those of the last launch, and sets those that differ.
static inline __attribute__((always_inline)) zepi_result_t
instance_set_args(struct zepi_kernel_instance *instance, const struct zepi_device *device,
                  const struct zepi_launch *launch)
{
    const struct zepi_arg *args = launch->args;
    struct zepi_arg *set = instance->args;
    const size_t count = launch->arg_count;
    for (size_t i = 0; i < count; i++) {
        zepi_result_t result;
        if (args[i].head != set[i].head)
            result = check_and_set_arg(instance, device, launch, (uint32_t)i);
        else if (args[i].payload == set[i].payload)
            continue;
        else
            result = set_other_payload(instance, (uint32_t)i, &args[i], &set[i]);
        if (__builtin_expect(result != ZEPI_SUCCESS, 0))
            return result;
    }
    return ZEPI_SUCCESS;
}

// ---- Sizes ----

// Whether group size and offset are those of the last launch, which had as many dimensions.
static bool shape_matches(const struct zepi_kernel_instance *instance,
                          const struct zepi_launch *launch)
{
    return zepi_sizes_are_equal(launch->work_dim, launch->group_size, instance->asked_group_size) &&
           zepi_sizes_are_equal(launch->work_dim, launch->global_offset, instance->asked_offset);
}

static zepi_result_t instance_set_offset(struct zepi_kernel_instance *instance,
                                         const uint32_t offset[3])
{
    if (memcmp(offset, instance->offset, sizeof(instance->offset)) == 0)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGlobalOffsetExp, instance->ze, offset[0], offset[1], offset[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(instance->offset, offset, sizeof(instance->offset));
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
check_and_set_sizes(struct zepi_kernel_instance *instance, const struct zepi_device *device,
                    const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    instance->work_dim = 0;
    zepi_result_t result =
        zepi_work_size_init(&size, zepi_launch_device_kernel(launch), device, instance->ze, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    if (size.is_empty)
        return ZEPI_NOTHING_TO_LAUNCH;
    result = instance_set_offset(instance, size.offset);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_instance_set_group_size(instance, size.group);
    if (result != ZEPI_SUCCESS)
        return result;
    const size_t size_bytes = launch->work_dim * sizeof(size_t);
    memcpy(instance->global_size, launch->global_size, size_bytes);
    memcpy(instance->asked_group_size, launch->group_size, size_bytes);
    memcpy(instance->asked_offset, launch->global_offset, size_bytes);
    instance->group_count = size.count;
    instance->work_dim = launch->work_dim;
    return ZEPI_SUCCESS;
}

// Sets sizes that are not those of the last launch. Another global size alone is divided by the
// group size that was found right, unless the driver suggested that: a suggestion is for one global
// size.
static __attribute__((noinline)) zepi_result_t
instance_set_other_sizes(struct zepi_kernel_instance *instance, const struct zepi_device *device,
                         const struct zepi_launch *launch)
{
    // In a dimension that the launch does not have, the count stays 1.
    uint32_t *counts = &instance->group_count.groupCountX;
    static_assert(sizeof(instance->group_count) == 3 * sizeof(*counts), "one count a dimension");
    if (launch->work_dim != instance->work_dim || !shape_matches(instance, launch))
        return check_and_set_sizes(instance, device, launch);
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        const size_t global = launch->global_size[i];
        const uint32_t group = instance->group_size[i];
        if (instance->asked_group_size[i] != group || global - 1 >= UINT32_MAX ||
            (uint32_t)global % group != 0)
            return check_and_set_sizes(instance, device, launch);
        instance->global_size[i] = global;
        counts[i] = (uint32_t)global / group;
    }
    return ZEPI_SUCCESS;
}

static inline zepi_result_t instance_set_sizes(struct zepi_kernel_instance *instance,
                                               const struct zepi_device *device,
                                               const struct zepi_launch *launch)
{
    const uint32_t work_dim = launch->work_dim;
    uint32_t i = 0;
    if (work_dim != instance->work_dim)
        return instance_set_other_sizes(instance, device, launch);
    do {
        if (launch->global_size[i] != instance->global_size[i] ||
            launch->group_size[i] != instance->asked_group_size[i] ||
            launch->global_offset[i] != instance->asked_offset[i])
            return instance_set_other_sizes(instance, device, launch);
    } while (++i < work_dim);
    return ZEPI_SUCCESS;
}

// ---- A launch ----

// Part of every launch: as a call of its own it costs 20 instructions.
static inline __attribute__((always_inline)) zepi_result_t
instance_prepare(struct zepi_kernel_instance *instance, const struct zepi_device *device,
                 const struct zepi_launch *launch)
{
    const uint64_t version = zepi_usm_version();
    if (instance->usm_version != version) {
        forget_args(instance, launch->arg_count);
        instance->usm_version = version;
    }
    const zepi_result_t result = instance_set_args(instance, device, launch);
    if (__builtin_expect(result != ZEPI_SUCCESS, 0)) {
        // Some arguments that are set now are of this launch, others of the last one, and they were
        // never checked together.
        forget_args(instance, launch->arg_count);
        return result;
    }
    return instance_set_sizes(instance, device, launch);
}

zepi_result_t zepi_kernel_instance_prepare(struct zepi_kernel_instance *instance,
                                           const struct zepi_device *device,
                                           const struct zepi_launch *launch)
{
    return instance_prepare(instance, device, launch);
}

static inline zepi_result_t append_kernel_launch(const struct zepi_submit *submit,
                                                 const struct zepi_kernel_instance *instance,
                                                 zepi_launch_flags_t flags)
{
    ze_group_count_t *count = (ze_group_count_t *)&instance->group_count;
    zepi_stats_count(ZEPI_STAT_LAUNCHES);
    if (__builtin_expect(flags & ZEPI_LAUNCH_COOPERATIVE, 0))
        return ZEPI_ZE(zeCommandListAppendLaunchCooperativeKernel, submit->list, instance->ze,
                       count, submit->signal, submit->wait_count, submit->waits);
    return ZEPI_ZE(zeCommandListAppendLaunchKernel, submit->list, instance->ze, count,
                   submit->signal, submit->wait_count, submit->waits);
}

zepi_result_t zepi_kernel_instance_launch(struct zepi_kernel_instance *instance,
                                          struct zepi_queue *queue,
                                          const struct zepi_launch *launch, zepi_wait_list_t wait,
                                          zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    result = instance_prepare(instance, queue->device, launch);
    if (__builtin_expect(result == ZEPI_SUCCESS, 1))
        result = append_kernel_launch(&submit, instance, launch->flags);
    return zepi_submit_end(&submit, result, out_event);
}
