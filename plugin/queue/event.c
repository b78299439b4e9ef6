// SPDX-License-Identifier: MIT
#include "queue/event.h"

#include "core/alloc.h"
#include "core/sys.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "queue/capture.h"
#include "queue/queue.h"
#include "ze/ze.h"
#include "ze/ze_optional.h"

#include <stddef.h>

// ---- Pools ----

#define POOL_EVENTS 32

// A Level Zero event pool and the events that have their places in it. They are made as they are
// needed: memory of released events is used again as late as can be, so that these handles are
// told.
struct zepi_event_pool {
    struct zepi_event_pool *next;
    ze_event_pool_handle_t ze;
    uint32_t count;
    struct zepi_event *events[POOL_EVENTS]; // owned
};

// All its events are free.
static void pool_destroy(struct zepi_event_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        if (pool->events[i]->ze)
            zepi_ze.zeEventDestroy(pool->events[i]->ze);
        zepi_object_discard_free(pool->events[i], &zepi_event_type);
    }
    zepi_ze.zeEventPoolDestroy(pool->ze);
    zepi_free(pool);
}

static void event_pools_finish(struct zepi_context *context)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(context);
    while (pools->first) {
        struct zepi_event_pool *pool = pools->first;
        pools->first = pool->next;
        pool_destroy(pool);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_EVENT_POOLS, .size_bytes = sizeof(struct zepi_event_pools),
                      .finish = event_pools_finish);

static zepi_result_t pool_create(const struct zepi_context *context, enum zepi_event_kind kind,
                                 struct zepi_event_pool **out_pool)
{
    const struct zepi_ze_number counter = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
        .value = ZEPI_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE};
    const ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .pNext = kind & ZEPI_EVENT_COUNTER ? &counter : NULL,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                 (kind & ZEPI_EVENT_TIMED ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0),
        .count = POOL_EVENTS};
    struct zepi_event_pool *pool = zepi_allocate(1, sizeof(*pool));
    ze_device_handle_t *devices = zepi_allocate(context->device_count, sizeof(*devices));
    zepi_result_t result = pool && devices ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < context->device_count && result == ZEPI_SUCCESS; i++)
        devices[i] = context->devices[i]->ze;
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeEventPoolCreate, context->ze, &desc, context->device_count, devices,
                         &pool->ze);
    zepi_free(devices);
    if (result == ZEPI_SUCCESS)
        *out_pool = pool;
    else
        zepi_free(pool);
    return result;
}

static bool pool_has_place(const struct zepi_event_pool *pool)
{
    return pool && pool->count < POOL_EVENTS;
}

static void pool_add_event_locked(struct zepi_event_pool *pool, struct zepi_event *event)
{
    event->pool = pool;
    event->pool_index = pool->count;
    pool->events[pool->count++] = event;
}

// Gives the event a place in the newest pool of its kind, or in a new one. Of threads that find no
// place at the same time, one makes the pool in vain.
static zepi_result_t event_place(struct zepi_event *event)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    struct zepi_event_pool **newest = &pools->newest[event->kind];
    struct zepi_event_pool *made = NULL;
    zepi_mutex_lock(&pools->mutex);
    if (!pool_has_place(*newest)) {
        zepi_mutex_unlock(&pools->mutex);
        const zepi_result_t result = pool_create(event->context, event->kind, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_mutex_lock(&pools->mutex);
    }
    if (!pool_has_place(*newest)) {
        made->next = pools->first;
        pools->first = *newest = made;
        made = NULL;
    }
    pool_add_event_locked(*newest, event);
    zepi_mutex_unlock(&pools->mutex);
    if (made)
        pool_destroy(made);
    return ZEPI_SUCCESS;
}

static zepi_result_t event_make(struct zepi_context *context, enum zepi_event_kind kind,
                                struct zepi_event **out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_object_set_free(event);
    event->context = context;
    event->kind = kind;
    const zepi_result_t result = event_place(event);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    else
        zepi_object_discard_free(event, &zepi_event_type);
    return result;
}

static void event_push_free(struct zepi_event *event)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    zepi_mutex_lock(&pools->mutex);
    zepi_event_chain_append(&pools->free[event->kind], event);
    zepi_mutex_unlock(&pools->mutex);
}

static zepi_result_t event_create_ze(struct zepi_event *event)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = event->pool_index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t ze;
    const zepi_result_t result = ZEPI_ZE(zeEventCreate, event->pool->ze, &desc, &ze);
    if (result == ZEPI_SUCCESS)
        event->ze = ze;
    return result;
}

zepi_result_t zepi_event_take(struct zepi_context *context, enum zepi_event_kind kind,
                              struct zepi_event **out_event)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(context);
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&pools->mutex);
    struct zepi_event *event = pools->free[kind].first;
    if (event)
        pools->free[kind].first = event->next;
    zepi_mutex_unlock(&pools->mutex);
    if (!event)
        result = event_make(context, kind, &event);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!event->ze)
        result = event_create_ze(event);
    if (result != ZEPI_SUCCESS) {
        event_push_free(event);
        return result;
    }
    *out_event = event;
    return ZEPI_SUCCESS;
}

// The driver's event is made anew after a list signalled it: resets leave those of in-order lists
// complete (quirk reset-stays-complete), those of the counter have none, and the host may have
// destroyed its list.
void zepi_event_give(struct zepi_event *event)
{
    struct zepi_command_list *list = event->list;
    if (!event->pool) {
        if (event->ownership == ZEPI_OWNERSHIP_TRANSFER)
            zepi_ze.zeEventDestroy(event->ze);
        zepi_object_discard_free(event, &zepi_event_type);
        return;
    }
    if (event->cache || list || event->kind & ZEPI_EVENT_COUNTER ||
        zepi_ze.zeEventHostReset(event->ze) != ZE_RESULT_SUCCESS) {
        zepi_ze.zeEventDestroy(event->ze);
        event->ze = NULL;
    }
    event->queue = NULL;
    event->cache = NULL;
    event->point = (struct zepi_point){NULL, 0};
    event->number = 0;
    event->flags = 0;
    event->begin = NULL;
    event->label = 0;
    event->list = NULL;
    event_push_free(event);
    zepi_release(list);
}

// ---- Beginning and end ----

zepi_result_t zepi_event_create_of(struct zepi_context *context, struct zepi_queue *queue,
                                   enum zepi_event_kind kind, zepi_event_t *out_event)
{
    struct zepi_event *event;
    const zepi_result_t result = zepi_event_take(context, kind, &event);
    if (result != ZEPI_SUCCESS)
        return result;
    event->queue = queue;
    zepi_retain(queue ? (void *)queue : (void *)context);
    zepi_object_reuse(event, &zepi_event_type);
    *out_event = event;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_create(zepi_context_t context, zepi_event_t *out_event)
{
    return zepi_event_create_of(context, NULL, ZEPI_EVENT_HOST, out_event);
}

zepi_result_t zepi_event_create_complete(struct zepi_context *context, zepi_event_t *out_event)
{
    zepi_event_t event;
    zepi_result_t result = zepi_event_create(context, &event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_event_signal(event);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    else
        zepi_release(event);
    return result;
}

zepi_result_t zepi_event_create_from_native(struct zepi_context *context, void *native_handle,
                                            zepi_ownership_t ownership, zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = zepi_retain(context);
    event->ze = native_handle;
    event->ownership = ownership;
    *out_event = event;
    return ZEPI_SUCCESS;
}

static void give_deferred_event(struct zepi_deferred *deferred)
{
    zepi_event_give(
        (struct zepi_event *)((char *)deferred - offsetof(struct zepi_event, deferred)));
}

zepi_result_t zepi_event_end(struct zepi_event *event)
{
    void *holder = event->queue ? (void *)event->queue : (void *)event->context;
    zepi_object_set_free(event);
    zepi_release(event->capture);
    zepi_release(event->begin);
    zepi_release(event->signal);
    if (!event->ze) {
        zepi_object_discard_free(event, &zepi_event_type);
    } else if (zepi_event_is_known_complete(event) &&
               !atomic_load_explicit(&event->is_awaited, memory_order_relaxed)) {
        zepi_event_give(event);
    } else {
        event->deferred.bytes = ZEPI_DEFERRED_EVENT_BYTES;
        event->deferred.run = give_deferred_event;
        zepi_defer(event->context, &event->deferred);
    }
    zepi_release(holder);
    return ZEPI_SUCCESS;
}

void zepi_event_abandon(struct zepi_event *event)
{
    atomic_store_explicit(&event->is_complete, true, memory_order_relaxed);
    zepi_release(event);
}

void zepi_event_note_submit(struct zepi_event *event)
{
    event->submit_ns = zepi_clock_ns();
    atomic_store_explicit(&event->submit_ticks, 0, memory_order_relaxed);
}

// ---- Signals, waits, queries ----

static void event_note_complete(struct zepi_event *event)
{
    zepi_event_set_complete(event);
    if (event->point.timeline && event->point.timeline->is_ordered)
        zepi_timeline_reach(event->point.timeline, event->point.seqno);
}

// Without a call of the driver: a later event of the list may have told.
static bool event_is_over(struct zepi_event *event)
{
    if (zepi_event_is_known_complete(event))
        return true;
    if (!event->point.timeline || event->has_failed || !zepi_point_is_reached(event->point))
        return false;
    zepi_event_set_complete(event);
    return true;
}

zepi_result_t zepi_event_signal(zepi_event_t event)
{
    const zepi_result_t result = ZEPI_ZE(zeEventHostSignal, event->ze);
    if (result == ZEPI_SUCCESS)
        event_note_complete(event);
    return result;
}

zepi_result_t zepi_event_fail_captured(const struct zepi_event *event)
{
    if (zepi_capture_is_over(event->capture))
        return zepi_fail(ZEPI_ERROR_CAPTURED_EVENT,
                         "the event is of a command in a graph: only commands of the same graph "
                         "can wait for it");
    return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                     "the event is of a command that is being captured, and does not complete");
}

struct zepi_event *zepi_event_take_signal(struct zepi_event *event)
{
    if (!event->is_reusable)
        return zepi_retain(event);
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    zepi_mutex_lock(&pools->mutex);
    struct zepi_event *signal = zepi_retain(event->signal);
    zepi_mutex_unlock(&pools->mutex);
    return signal;
}

static zepi_result_t event_wait_for(struct zepi_event *event, uint64_t timeout_ns)
{
    if (event_is_over(event))
        return ZEPI_SUCCESS;
    if (__builtin_expect(event->is_reusable, 0)) {
        struct zepi_event *signal = zepi_event_take_signal(event);
        const zepi_result_t waited = event_wait_for(signal, timeout_ns);
        zepi_release(signal);
        return waited;
    }
    if (__builtin_expect(event->capture != NULL, 0))
        return zepi_event_fail_captured(event);
    const ze_result_t ze = zepi_ze.zeEventHostSynchronize(event->ze, timeout_ns);
    if (ze == ZE_RESULT_NOT_READY)
        return ZEPI_ERROR_NOT_READY; // zepi_event_wait() knows the timeout
    const zepi_result_t result = zepi_check_ze(ze, "zeEventHostSynchronize");
    if (result == ZEPI_SUCCESS)
        event_note_complete(event);
    return result;
}

zepi_result_t zepi_event_wait(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns)
{
    const bool is_limited = timeout_ns != UINT64_MAX;
    const uint64_t start_ns = is_limited ? zepi_clock_ns() : 0;
    // The last one first: in an in-order list it tells of those before it.
    for (uint32_t i = count; i-- > 0;) {
        const uint64_t passed_ns = is_limited ? zepi_clock_ns() - start_ns : 0;
        const uint64_t left_ns = !is_limited              ? UINT64_MAX
                                 : passed_ns < timeout_ns ? timeout_ns - passed_ns
                                                          : 0;
        const zepi_result_t result = event_wait_for(events[i], left_ns);
        if (__builtin_expect(result == ZEPI_ERROR_NOT_READY, 0))
            return zepi_fail(ZEPI_ERROR_NOT_READY,
                             "event %u of %u was not complete after %llu nanoseconds", i, count,
                             (unsigned long long)timeout_ns);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    return ZEPI_SUCCESS;
}

ze_result_t zepi_event_query(const struct zepi_event *event)
{
    const unsigned slow = ZEPI_EVENT_TIMED | ZEPI_EVENT_COUNTER;
    const bool may_be_slow = (event->kind & slow) == slow || !event->pool;
    return may_be_slow && event->context->platform->quirks.bits & ZEPI_QUIRK_SLOW_TIMED_STATUS
               ? zepi_ze.zeEventHostSynchronize(event->ze, 0)
               : zepi_ze.zeEventQueryStatus(event->ze);
}

zepi_result_t zepi_event_ask_status(struct zepi_event *event, zepi_event_status_t *out_status)
{
    if (!event_is_over(event) && !event->capture) {
        const ze_result_t ze = zepi_event_query(event);
        if (ze != ZE_RESULT_NOT_READY) {
            const zepi_result_t result = zepi_check_ze(ze, "zeEventQueryStatus");
            if (result != ZEPI_SUCCESS)
                return result;
            event_note_complete(event);
        }
    }
    *out_status = zepi_event_is_known_complete(event) ? ZEPI_EVENT_COMPLETE : ZEPI_EVENT_SUBMITTED;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_get_status(zepi_event_t event, zepi_event_status_t *out_status)
{
    if (__builtin_expect(!event->is_reusable, 1))
        return zepi_event_ask_status(event, out_status);
    struct zepi_event *signal = zepi_event_take_signal(event);
    const zepi_result_t result = zepi_event_ask_status(signal, out_status);
    zepi_release(signal);
    return result;
}

zepi_result_t zepi_event_get_native(zepi_event_t event, void **out_native_handle)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_event *signal = zepi_event_take_signal(event);
    if (signal->capture)
        result = zepi_event_fail_captured(signal);
    else
        *out_native_handle = signal->ze;
    zepi_release(signal);
    return result;
}
