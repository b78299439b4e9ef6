// SPDX-License-Identifier: MIT
#include "kernel/launch.h"

#include "base/list.h"
#include "base/ze.h"
#include "device/context.h"
#include "kernel/arguments.h"
#include "kernel/dispatch.h"
#include "kernel/emulation.h"
#include "kernel/kernel.h"
#include "kernel/relaunch.h"
#include "kernel/work_size.h"
#include "queue/buffer_use.h"
#include "queue/submit.h"

// A launch of which everything is known but whether it is right.
struct launch {
    struct zepi_queue *queue;
    const zepi_launch_desc_t *desc;
    struct zepi_kernel_pool *pool;
};

const char zepi_launch_function[] = "zeCommandListAppendLaunchKernelWithArguments";

// ---- Appending, under the queue's mutex ----

static zepi_result_t append_one_by_one(const struct launch *launch, struct zepi_kernel_lease *lease,
                                       const struct zepi_submit *submit)
{
    const ze_group_count_t *count = &lease->last_sizes->size.count;
    const zepi_result_t result = zepi_kernel_lease_set_state(lease);
    if (result != ZEPI_SUCCESS)
        return result;
    if (launch->desc->flags & ZEPI_LAUNCH_COOPERATIVE)
        return ZEPI_ZE(zeCommandListAppendLaunchCooperativeKernel, submit->list, lease->ze,
                       (ze_group_count_t *)count, submit->signal, submit->wait_count,
                       submit->waits);
    return ZEPI_ZE(zeCommandListAppendLaunchKernel, submit->list, lease->ze, count, submit->signal,
                   submit->wait_count, submit->waits);
}

static zepi_result_t append(const struct launch *launch, struct zepi_kernel_lease *lease,
                            const struct zepi_submit *submit)
{
    const struct zepi_queue *queue = launch->queue;
    const bool has_events = submit->signal || submit->wait_count > 0;
    if (!queue->launch || !launch->pool->has_known_sizes ||
        (has_events && !queue->launch_takes_events) || launch->desc->flags)
        return append_one_by_one(launch, lease, submit);
    return zepi_check_ze(zepi_append_with_arguments(queue, lease, submit->queue_list,
                                                    submit->signal, submit->wait_count,
                                                    submit->waits),
                         zepi_launch_function);
}

// ---- Launching ----

// The queue's own lease, or that which was taken for this launch, which becomes its own if it has
// none. *lent: what is to be given back, NULL if nothing is.
static struct zepi_kernel_lease *choose_lease(const struct launch *launch,
                                              struct zepi_kernel_lease **lent)
{
    const uint32_t number = launch->queue->number;
    // Relaxed: the queue's mutex orders.
    struct zepi_kernel_lease *own =
        atomic_load_explicit(&launch->pool->of_queue[number], memory_order_relaxed);
    if (own != &zepi_no_lease)
        return own;
    own = *lent;
    if (number != ZEPI_NO_QUEUE_NUMBER) {
        atomic_store_explicit(&launch->pool->of_queue[number], own, memory_order_relaxed);
        *lent = NULL;
    }
    return own;
}

// Any launch of a kernel: for the first time, with other sizes than the last time, with more.
static zepi_result_t launch_pool(const struct launch *launch, zepi_wait_list_t wait,
                                 zepi_event_t *out_event)
{
    struct zepi_queue *queue = launch->queue;
    struct zepi_kernel_lease *lent = NULL;
    struct zepi_submit submit;
    bool is_empty = false;
    zepi_result_t result = ZEPI_SUCCESS;
    // A queue that has a lease keeps it. Relaxed: only a hint, but for its absence.
    if (atomic_load_explicit(&launch->pool->of_queue[queue->number], memory_order_relaxed) ==
        &zepi_no_lease)
        result = zepi_kernel_lease_take(launch->pool, &lent);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result == ZEPI_SUCCESS) {
        struct zepi_kernel_lease *lease = choose_lease(launch, &lent);
        if (!zepi_kernel_lease_matches(lease, launch->desc) &&
            !zepi_kernel_lease_matches_any(lease, launch->desc))
            result = zepi_kernel_lease_check(lease, launch->pool, queue->device, launch->desc,
                                             &is_empty);
        if (result != ZEPI_SUCCESS || is_empty)
            zepi_submit_cancel(&submit);
        else
            result = zepi_submit_end(&submit, append(launch, lease, &submit), out_event);
    }
    if (lent)
        zepi_kernel_lease_give(launch->pool, lent);
    return is_empty ? zepi_queue_marker(queue, wait, out_event) : result;
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
    if (desc->work_dim < 1 || desc->work_dim > 3)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the work has %u dimensions, expected 1 to 3",
                         desc->work_dim);
    if (desc->flags & ~ZEPI_LAUNCH_COOPERATIVE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "launch flags 0x%x: only 0x%x is known",
                         desc->flags, ZEPI_LAUNCH_COOPERATIVE);
    return ZEPI_SUCCESS;
}

static zepi_result_t launch_emulated(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                     const struct zepi_target *target, zepi_wait_list_t wait,
                                     zepi_event_t *out_event)
{
    struct zepi_emulation emulation;
    zepi_result_t result = zepi_emulation_init(&emulation, queue->context, target, desc);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct launch launch = {queue, &emulation.desc, zepi_kernel_pool_of(target->pool)};
    result = launch_pool(&launch, wait, out_event);
    zepi_emulation_finish(&emulation);
    return result;
}

static zepi_result_t launch_target(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                   const struct zepi_target *target, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    const struct launch launch = {queue, desc, zepi_kernel_pool_of(target->pool)};
    return target->image ? launch_emulated(queue, desc, target, wait, out_event)
                         : launch_pool(&launch, wait, out_event);
}

// Where a kernel object's launches go on a device of the context.
static zepi_result_t get_pool(const struct zepi_kernel *kernel, const struct zepi_context *context,
                              uint32_t device_index, struct zepi_kernel_pool **out_pool)
{
    if (kernel->context != context)
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
    result = zepi_work_size_init(&size, pool, device, lease->ze, desc->work_dim, desc->global_size,
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
    const struct zepi_target *target = &dispatch.target;
    if (wait.count > 0 || out_event || target->image ||
        !zepi_relaunch_dispatched(queue, desc, zepi_kernel_pool_of(target->pool), &result))
        result = launch_target(queue, desc, target, wait, out_event);
    zepi_held_target_release(dispatch.held);
    return result;
}

static zepi_result_t launch_checked(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return launch_dispatched(queue, desc, wait, out_event);
    const zepi_result_t result = zepi_check_object(desc->kernel, &zepi_kernel_type);
    return result == ZEPI_SUCCESS ? launch_kernel(queue, desc, desc->kernel, wait, out_event)
                                  : result;
}

// Whether the argument is a buffer of the context; any other is found wrong later.
static bool is_buffer(const zepi_argument_t *argument, const struct zepi_context *context)
{
    const struct zepi_buffer *buffer = argument->value;
    return argument->kind == ZEPI_ARGUMENT_BUFFER && zepi_object_is(buffer, &zepi_buffer_type) &&
           buffer->context == context;
}

// Brings the buffers among the arguments to the device.
static zepi_result_t use_buffers(struct zepi_buffer_uses *uses, const zepi_launch_desc_t *desc)
{
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < desc->argument_count && result == ZEPI_SUCCESS; i++) {
        if (!is_buffer(&desc->arguments[i], uses->queue->context))
            continue;
        struct zepi_buffer *buffer = (struct zepi_buffer *)desc->arguments[i].value;
        const struct zepi_buffer_part all = {buffer, 0, buffer->size_bytes};
        result = zepi_buffer_use(uses, &all, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE, &address);
    }
    return result;
}

zepi_result_t zepi_launch_any(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                              zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = check_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, queue, wait);
    // With a single device the buffers of this interface stay where they are.
    if (queue->context->device_count > 1 && desc->arguments)
        result = use_buffers(&uses, desc);
    if (result == ZEPI_SUCCESS)
        result = launch_checked(queue, desc, uses.wait, out_event);
    zepi_buffer_uses_finish(&uses);
    return result;
}
