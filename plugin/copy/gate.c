// SPDX-License-Identifier: MIT
#include "copy/gate.h"

#include "core/alloc.h"
#include "memory/pool.h"
#include "queue/progress.h"
#include "ze/ze.h"

#include <string.h>

// ---- Which copies need none ----

enum side {
    SIDE_USM,    // zepi allocated it
    SIDE_HOST,   // malloc'ed: the host reads and writes it
    SIDE_DEVICE, // a device's, where the processor may copy: a variable of a module, or USM
    SIDE_OTHER,
};

#define KIB ((size_t)1024)

static bool has_several_roots(const struct zepi_context *context)
{
    for (uint32_t i = 1; i < context->device_count; i++)
        if (zepi_device_root(context->devices[i]) != zepi_device_root(context->devices[0]))
            return true;
    return false;
}

// Whether the driver copies these bytes of zepi's USM by the processor (quirk processor-copies).
static bool is_copied_by_processor(const struct zepi_queue *queue, const void *usm,
                                   size_t size_bytes, bool is_destination)
{
    const struct zepi_usm_region *region = zepi_usm_region_find_own(queue->context, usm);
    const bool is_xe2 = queue->device->ip_version >= ZEPI_QUIRK_IP_XE2;
    const size_t most_bytes =
        is_destination ? (is_xe2 ? 10240 : 4096) * KIB : (is_xe2 ? 64 : 1) * KIB;
    return (queue->device->platform->quirks.bits & ZEPI_QUIRK_PROCESSOR_COPIES) &&
           !(queue->device->properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) && region &&
           atomic_load_explicit(&region->kind, memory_order_relaxed) == ZEPI_USM_DEVICE &&
           size_bytes <= most_bytes &&
           (!is_xe2 || has_several_roots(queue->context) ||
            atomic_load_explicit(&region->export_types, memory_order_relaxed) != 0);
}

// Asks the driver, unless zepi allocated the memory.
static enum side classify(const struct zepi_queue *queue, const void *memory, size_t size_bytes,
                          bool is_destination)
{
    struct zepi_context *context = queue->context;
    zepi_usm_info_t info = {.size = sizeof(info)};
    if (zepi_usm_is_known_inside(context, memory, 1))
        return is_copied_by_processor(queue, memory, size_bytes, is_destination) ? SIDE_DEVICE
                                                                                 : SIDE_USM;
    if (zepi_usm_get_info(context, memory, &info) != ZEPI_SUCCESS)
        return SIDE_OTHER;
    if (info.kind == ZEPI_USM_DEVICE)
        return SIDE_DEVICE;
    return info.kind == ZEPI_USM_UNKNOWN && zepi_usm_room(context, memory, size_bytes) == SIZE_MAX
               ? SIDE_HOST
               : SIDE_OTHER;
}

static void *stage(struct zepi_context *context, size_t size_bytes)
{
    void *staged = NULL;
    if (size_bytes <= ZEPI_USM_POOLED_BYTES)
        zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, size_bytes, &staged);
    return staged;
}

// Whether a command of the queue is sure to have nothing before it. Without the mutex.
static bool has_nothing_before(const struct zepi_queue *queue, zepi_wait_list_t wait)
{
    // Relaxed: a host that has the list's handle, and may have appended to the list, got it before.
    return wait.count == 0 && zepi_queue_is_idle(queue) &&
           !atomic_load_explicit(&queue->lists[0]->is_exported, memory_order_relaxed);
}

// Hot, as gcc compiles what cold functions call for size, too: byte by byte for any length.
static __attribute__((hot, noinline)) const void *copy_bytes(void *to, const void *from,
                                                             size_t size_bytes)
{
    return memcpy(to, from, size_bytes);
}

static zepi_result_t wait_for_all_before(struct zepi_queue *queue, zepi_wait_list_t wait)
{
    const zepi_result_t result = zepi_queue_wait_for_commands(queue);
    return result == ZEPI_SUCCESS && wait.count > 0
               ? zepi_event_wait(wait.count, wait.events, UINT64_MAX)
               : result;
}

// *out_needs_gate: false if the copy may be appended as it is, from copy->source.
static zepi_result_t prepare(struct zepi_copy *copy, struct zepi_queue *queue,
                             zepi_wait_list_t wait, const void *destination, size_t size_bytes,
                             bool *out_needs_gate)
{
    struct zepi_context *context = queue->context;
    *out_needs_gate = true;
    if (size_bytes == 0 || zepi_queue_is_capturing(queue))
        return ZEPI_SUCCESS;
    const enum side to = classify(queue, destination, size_bytes, true);
    const enum side from = classify(queue, copy->source, size_bytes, false);
    if (to == SIDE_DEVICE || from == SIDE_DEVICE) {
        *out_needs_gate = false;
        return wait_for_all_before(queue, wait);
    }
    if (to == SIDE_USM && from == SIDE_HOST && has_nothing_before(queue, wait))
        copy->staged = stage(context, size_bytes);
    if (copy->staged) {
        *out_needs_gate = false;
        copy->source = copy_bytes(copy->staged, copy->source, size_bytes);
    }
    return ZEPI_SUCCESS;
}

void *zepi_copy_stage_destination(struct zepi_queue *queue, const void *destination,
                                  const void *source, size_t size_bytes)
{
    struct zepi_context *context = queue->context;
    return (uintptr_t)destination + size_bytes > (uintptr_t)destination &&
                   zepi_usm_is_known_inside(context, source, size_bytes) &&
                   classify(queue, destination, size_bytes, true) == SIDE_HOST
               ? stage(context, size_bytes)
               : NULL;
}

// ---- The gate ----

// The copy waits for the gate, too.
static zepi_result_t begin_behind(struct zepi_copy *copy, struct zepi_queue *queue,
                                  zepi_wait_list_t wait, const zepi_event_t *out_event,
                                  enum zepi_engine engine)
{
    zepi_event_t inline_events[ZEPI_QUEUE_WAITS];
    zepi_event_t *events = inline_events;
    zepi_result_t result = zepi_event_create(queue->context, &copy->gate);
    if (result != ZEPI_SUCCESS)
        return result;
    if (wait.count >= ZEPI_QUEUE_WAITS)
        events = zepi_allocate((size_t)wait.count + 1, sizeof(events[0]));
    if (!events)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < wait.count; i++)
        events[i] = wait.events[i];
    events[wait.count] = copy->gate;
    const zepi_wait_list_t all = {events, wait.count + 1};
    result = zepi_submit_begin(&copy->submit, queue, all, out_event, engine);
    if (events != inline_events)
        zepi_free(events);
    return result;
}

zepi_result_t zepi_copy_begin_gated(struct zepi_copy *copy, struct zepi_queue *queue,
                                    zepi_wait_list_t wait, const zepi_event_t *out_event,
                                    enum zepi_engine engine, const void *destination,
                                    size_t size_bytes)
{
    bool needs_gate;
    zepi_result_t result = prepare(copy, queue, wait, destination, size_bytes, &needs_gate);
    if (result == ZEPI_SUCCESS)
        result = needs_gate ? begin_behind(copy, queue, wait, out_event, engine)
                            : zepi_submit_begin(&copy->submit, queue, wait, out_event, engine);
    if (result != ZEPI_SUCCESS) {
        if (copy->gate)
            zepi_event_abandon(copy->gate);
        if (copy->staged)
            zepi_usm_put(queue->context, copy->staged);
        return result;
    }
    if (size_bytes == 0 && queue->has_in_order_list) // quirk forgotten-rectangles
        result = ZEPI_ZE(zeCommandListAppendBarrier, copy->submit.list, NULL, 1, &copy->gate->ze);
    return result == ZEPI_SUCCESS ? result : zepi_copy_end_gated(copy, result, NULL);
}

// A gate that stays closed holds the queue up for ever: a failure is tried again.
static void open_gate(struct zepi_event *gate)
{
    struct zepi_error error;
    zepi_error_save(&error);
    if (zepi_event_signal(gate) != ZEPI_SUCCESS)
        zepi_event_signal(gate);
    zepi_error_restore(&error);
}

zepi_result_t zepi_copy_end_gated(struct zepi_copy *copy, zepi_result_t appended,
                                  zepi_event_t *out_event)
{
    struct zepi_context *context = copy->submit.queue->context;
    // Before the end, which may wait for the command.
    if (copy->gate)
        open_gate(copy->gate);
    const zepi_result_t result = zepi_submit_end(&copy->submit, appended, out_event);
    zepi_release(copy->gate);
    if (copy->staged)
        zepi_usm_put(context, copy->staged);
    return result;
}
