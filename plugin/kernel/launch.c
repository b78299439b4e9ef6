// SPDX-License-Identifier: MIT
#include "kernel/launch.h"

#include "base/list.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "kernel/arguments.h"
#include "kernel/dispatch.h"
#include "kernel/emulation.h"
#include "kernel/kernel.h"
#include "kernel/work_size.h"
#include "module/module.h"
#include "queue/submit.h"

#include <string.h>

// Arguments of one call that takes them all; more are set one by one.
#define MAX_POINTERS 64

// A launch that has been checked.
struct launch {
    struct zepi_queue *queue;
    const zepi_launch_desc_t *desc;
    struct zepi_kernel_pool *pool;
    struct zepi_kernel_lease *lease;
    struct zepi_work_size size;
};

static zepi_result_t set_offset(struct launch *launch)
{
    struct zepi_kernel_lease *lease = launch->lease;
    uint32_t offset[3] = {0};
    for (uint32_t i = 0; i < launch->desc->work_dim; i++) {
        if (launch->desc->global_offset[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the global offset %zu is beyond 32 bits",
                             launch->desc->global_offset[i]);
        offset[i] = (uint32_t)launch->desc->global_offset[i];
    }
    if (memcmp(offset, lease->offset, sizeof(offset)) == 0)
        return ZEPI_SUCCESS;
    if (!launch->queue->device->platform->optional.has_global_offset)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the driver lacks the extension for global offsets");
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGlobalOffsetExp, lease->ze, offset[0], offset[1], offset[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(lease->offset, offset, sizeof(offset));
    return result;
}

static zepi_result_t set_group_size(struct launch *launch)
{
    struct zepi_kernel_lease *lease = launch->lease;
    const uint32_t *group = launch->size.group;
    if (memcmp(group, lease->group_size, sizeof(lease->group_size)) == 0)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGroupSize, lease->ze, group[0], group[1], group[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(lease->group_size, group, sizeof(lease->group_size));
    return result;
}

// Whether one call can set the arguments and launch. It gets no sizes: they must have been checked.
// Events are the loader's handles: a function of the driver's own gets none unless the loader does
// not wrap them.
static bool has_one_call(const struct launch *launch, const struct zepi_submit *submit)
{
    const struct zepi_queue *queue = launch->queue;
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    return optional->append_launch_kernel_with_arguments && launch->pool->has_known_sizes &&
           !(launch->desc->flags & ZEPI_LAUNCH_COOPERATIVE) &&
           launch->desc->argument_count <= MAX_POINTERS &&
           (!optional->is_launch_drivers || queue->driver_lists[0] == queue->lists[0] ||
            (!submit->signal && submit->wait_count == 0));
}

static zepi_result_t append_with_arguments(const struct launch *launch,
                                           const struct zepi_submit *submit)
{
    const zepi_launch_desc_t *desc = launch->desc;
    const struct zepi_queue *queue = launch->queue;
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    const ze_command_list_handle_t list =
        optional->is_launch_drivers ? queue->driver_lists[submit->list_index] : submit->list;
    const struct zepi_ze_group_size group = {launch->size.group[0], launch->size.group[1],
                                             launch->size.group[2]};
    void *pointers[MAX_POINTERS];
    for (uint32_t i = 0; i < desc->argument_count; i++) {
        const zepi_argument_t *argument = &desc->arguments[i];
        pointers[i] = argument->kind == ZEPI_ARGUMENT_VALUE     ? (void *)argument->value
                      : argument->kind == ZEPI_ARGUMENT_POINTER ? (void *)&argument->value
                                                                : (void *)&argument->size_bytes;
    }
    return zepi_check_ze(optional->append_launch_kernel_with_arguments(
                             list, launch->lease->driver_ze, launch->size.count, group, pointers,
                             NULL, submit->signal, submit->wait_count, submit->waits),
                         "zeCommandListAppendLaunchKernelWithArguments");
}

// Sets group size and arguments one by one, what differs from the last time.
static zepi_result_t set_state(struct launch *launch)
{
    struct zepi_kernel_lease *lease = launch->lease;
    if (lease->is_state_unknown) {
        memset(lease->group_size, 0, sizeof(lease->group_size));
        memset(lease->arguments, 0, launch->pool->argument_count * sizeof(lease->arguments[0]));
        lease->is_state_unknown = false;
    }
    const zepi_result_t result = set_group_size(launch);
    return result == ZEPI_SUCCESS
               ? zepi_arguments_set(lease, launch->desc->argument_count, launch->desc->arguments)
               : result;
}

static zepi_result_t append(const struct launch *launch, const struct zepi_submit *submit)
{
    if (launch->desc->flags & ZEPI_LAUNCH_COOPERATIVE)
        return ZEPI_ZE(zeCommandListAppendLaunchCooperativeKernel, submit->list, launch->lease->ze,
                       (ze_group_count_t *)&launch->size.count, submit->signal, submit->wait_count,
                       submit->waits);
    return ZEPI_ZE(zeCommandListAppendLaunchKernel, submit->list, launch->lease->ze,
                   &launch->size.count, submit->signal, submit->wait_count, submit->waits);
}

static zepi_result_t launch_with_lease(struct launch *launch, zepi_wait_list_t wait,
                                       zepi_event_t *out_event)
{
    const zepi_launch_desc_t *desc = launch->desc;
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_work_size_init(&launch->size, launch->pool, launch->queue->device, launch->lease,
                            desc->work_dim, desc->global_size, desc->group_size);
    if (result != ZEPI_SUCCESS)
        return result;
    if (launch->size.is_empty)
        return zepi_queue_marker(launch->queue, wait, out_event);
    result = set_offset(launch);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, launch->queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    if (has_one_call(launch, &submit)) {
        launch->lease->is_state_unknown = true;
        result = append_with_arguments(launch, &submit);
    } else {
        result = set_state(launch);
        if (result == ZEPI_SUCCESS)
            result = append(launch, &submit);
    }
    return zepi_submit_end(&submit, result, out_event);
}

// Of a host that was compiled against another version of the interface, or that made a mistake.
static __attribute__((cold, noinline)) zepi_result_t
check_other_size(const zepi_launch_desc_t *desc)
{
    zepi_launch_desc_t own;
    return zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "launch description");
}

static zepi_result_t check_desc(const zepi_launch_desc_t *desc)
{
    if (!desc || desc->size != sizeof(*desc)) {
        const zepi_result_t result = check_other_size(desc);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (desc->flags & ~ZEPI_LAUNCH_COOPERATIVE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "launch flags 0x%x: only 0x%x is known",
                         desc->flags, ZEPI_LAUNCH_COOPERATIVE);
    return ZEPI_SUCCESS;
}

static zepi_result_t launch_with_arguments(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                           struct zepi_kernel_pool *pool, zepi_wait_list_t wait,
                                           zepi_event_t *out_event)
{
    struct launch launch = {.queue = queue, .desc = desc, .pool = pool};
    zepi_result_t result =
        zepi_arguments_check(pool, queue->device, desc->argument_count, desc->arguments);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_lease_take(pool, &launch.lease);
    if (result != ZEPI_SUCCESS)
        return result;
    result = launch_with_lease(&launch, wait, out_event);
    zepi_kernel_lease_give(pool, launch.lease);
    return result;
}

static zepi_result_t launch_emulated(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                     const struct zepi_target *target, zepi_wait_list_t wait,
                                     zepi_event_t *out_event)
{
    struct zepi_emulation emulation;
    zepi_result_t result = zepi_emulation_init(&emulation, queue->context, target, desc);
    if (result != ZEPI_SUCCESS)
        return result;
    result = launch_with_arguments(queue, &emulation.desc, zepi_kernel_pool_of(target->pool), wait,
                                   out_event);
    zepi_emulation_finish(&emulation);
    return result;
}

static zepi_result_t launch_target(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                   const struct zepi_target *target, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    return target->image ? launch_emulated(queue, desc, target, wait, out_event)
                         : launch_with_arguments(queue, desc, zepi_kernel_pool_of(target->pool),
                                                 wait, out_event);
}

// Where a kernel object's launches go on a device of the context.
static zepi_result_t get_pool(const struct zepi_kernel *kernel, const struct zepi_context *context,
                              uint32_t device_index, struct zepi_kernel_pool **out_pool)
{
    if (kernel->module->context != context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "kernel '%s' is of another context than the queue", kernel->name);
    return zepi_kernel_get_pool(kernel, device_index, out_pool);
}

zepi_result_t zepi_launch_check(const struct zepi_context *context, struct zepi_device *device,
                                const zepi_launch_desc_t *desc)
{
    const uint32_t device_index = zepi_context_device_index(context, device);
    struct zepi_kernel_pool *pool;
    struct zepi_kernel_lease *lease;
    struct zepi_work_size size;
    zepi_result_t result = get_pool(desc->kernel, context, device_index, &pool);
    // Emulated constants are an argument that comes with the launch.
    if (result == ZEPI_SUCCESS && !desc->kernel->is_emulated)
        result = zepi_arguments_check(pool, device, desc->argument_count, desc->arguments);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_lease_take(pool, &lease);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_work_size_init(&size, pool, device, lease, desc->work_dim, desc->global_size,
                                 desc->group_size);
    zepi_kernel_lease_give(pool, lease);
    return result;
}

// A kernel object alone.
static zepi_result_t launch_kernel(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                   const struct zepi_kernel *kernel, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    struct zepi_kernel_pool *pool;
    const zepi_result_t result = get_pool(kernel, queue->context, queue->device_index, &pool);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!kernel->is_emulated)
        return launch_with_arguments(queue, desc, pool, wait, out_event);
    const struct zepi_target target = zepi_kernel_target(kernel, queue->device_index, NULL);
    return launch_target(queue, desc, &target, wait, out_event);
}

// A launch by name, or with values, a module or a selector.
static zepi_result_t launch_dispatched(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                       zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_dispatch dispatch;
    zepi_result_t result = zepi_dispatch_find(queue, desc, &dispatch);
    if (result != ZEPI_SUCCESS)
        return result;
    result = launch_target(queue, desc, &dispatch.target, wait, out_event);
    zepi_held_target_release(dispatch.held);
    return result;
}

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = check_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return launch_dispatched(queue, desc, wait, out_event);
    result = zepi_check_object(desc->kernel, &zepi_kernel_type);
    return result == ZEPI_SUCCESS ? launch_kernel(queue, desc, desc->kernel, wait, out_event)
                                  : result;
}
