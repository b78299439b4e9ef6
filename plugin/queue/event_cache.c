// SPDX-License-Identifier: MIT
#include "queue/event_cache.h"

#include "device/context.h"
#include "queue/queue.h"
#include "ze/ze.h"

#include <stddef.h>

// Of no queue's cache: of the host, of several commands, or with times that its queue does not
// have.
static void event_destroy(void *object)
{
    struct zepi_event *event = object;
    zepi_release(event->capture);
    if (event->slot && !event->capture) {
        // An event that was seen to be complete, and that no command waits for, is free at once.
        if (zepi_event_is_known_complete(event) &&
            !atomic_load_explicit(&event->is_awaited, memory_order_relaxed))
            zepi_event_slot_give(event->slot);
        else
            zepi_event_slot_defer(event->slot);
    }
    zepi_release(event->begin);
    zepi_release(event->signal);
    if (event->queue)
        zepi_release(event->queue);
    else
        zepi_release(event->context);
}

static __attribute__((noinline)) zepi_result_t destroy_and_discard(struct zepi_event *event)
{
    event_destroy(event);
    zepi_object_discard(event);
    return ZEPI_SUCCESS;
}

static zepi_result_t event_recycle(void *object)
{
    struct zepi_event *event = object;
    struct zepi_queue *queue = event->queue;
    if (__builtin_expect(!event->cache, 0))
        return destroy_and_discard(event);
    zepi_event_cache_return(event->cache, event);
    return zepi_object_drop(queue) ? zepi_object_end(queue) : ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(event, event_destroy, event_recycle);

// Made at once when there are none: as many as there are, but for these limits.
#define LEAST_NEW_EVENTS 8
#define MOST_NEW_EVENTS 64

struct chain {
    struct zepi_event *first;
    struct zepi_event *last;
    uint32_t count;
};

static void chain_append(struct chain *chain, struct zepi_event *event)
{
    event->next = NULL;
    if (chain->last)
        chain->last->next = event;
    else
        chain->first = event;
    chain->last = event;
    chain->count++;
}

static struct chain chain_of_events(struct zepi_event *first)
{
    struct chain chain = {.first = first};
    for (; first; first = first->next) {
        chain.last = first;
        chain.count++;
    }
    return chain;
}

static void chain_append_chain(struct chain *chain, const struct chain *more)
{
    if (more->count == 0)
        return;
    if (chain->last)
        chain->last->next = more->first;
    else
        chain->first = more->first;
    chain->last = more->last;
    chain->count += more->count;
}

// ---- Chains that commands may still use ----

static void event_cache_push_chain(_Atomic(struct zepi_event *) *head, const struct chain *chain)
{
    if (!chain->first)
        return;
    struct zepi_event *first = atomic_load_explicit(head, memory_order_relaxed);
    do {
        chain->last->next = first;
        // Release: as zepi_event_push.
    } while (!atomic_compare_exchange_weak_explicit(head, &first, chain->first,
                                                    memory_order_release, memory_order_relaxed));
}

static void give_deferred_chain(struct zepi_deferred *deferred)
{
    struct zepi_event *first =
        (struct zepi_event *)((char *)deferred - offsetof(struct zepi_event, deferred));
    struct zepi_event_cache *cache = first->cache;
    const struct chain chain = chain_of_events(first);
    event_cache_push_chain(&cache->usable, &chain);
    zepi_release(cache->list);
}

// Defers a chain: no command uses its events once all queues have come past this point.
static void chain_defer(struct zepi_event_cache *cache, const struct chain *chain)
{
    if (!chain->first)
        return;
    zepi_retain(cache->list);
    chain->first->deferred.bytes = (chain->count + 1) * ZEPI_DEFERRED_EVENT_BYTES;
    chain->first->deferred.run = give_deferred_chain;
    zepi_defer(chain->first->context, &chain->first->deferred);
}

// ---- Released events ----

static struct zepi_event *take_all_events(_Atomic(struct zepi_event *) *head)
{
    // Acquire: their contents.
    return atomic_exchange_explicit(head, NULL, memory_order_acquire);
}

// Of an in-order queue, those that are complete when a later one is.
static void event_cache_sort_in_use(struct zepi_event *event, struct chain *ordered,
                                    struct chain *others)
{
    while (event) {
        struct zepi_event *next = event->next;
        const bool is_ordered =
            !event->has_failed && !atomic_load_explicit(&event->is_awaited, memory_order_relaxed);
        const struct chain one = {event, event, 1};
        event->next = NULL;
        chain_append_chain(is_ordered ? ordered : others, &one);
        event = next;
    }
}

static struct zepi_event *chain_newest(const struct chain *chain)
{
    struct zepi_event *newest = chain->first;
    for (struct zepi_event *event = newest; event; event = event->next) {
        if (event->point.seqno > newest->point.seqno)
            newest = event;
    }
    return newest;
}

static void event_cache_add_pending(struct zepi_event_cache *cache, struct zepi_queue *queue,
                                    const struct chain *chain)
{
    if (chain->count == 0)
        return;
    chain->first->newest = chain_newest(chain);
    chain->first->next_chain = NULL;
    zepi_mutex_lock(&queue->mutex);
    if (cache->pending)
        cache->last_pending->next_chain = chain->first;
    else
        cache->pending = chain->first;
    cache->last_pending = chain->first;
    zepi_mutex_unlock(&queue->mutex);
}

static bool is_event_over(const struct zepi_event *newest)
{
    if (zepi_point_is_reached(newest->point))
        return true;
    if (zepi_event_slot_ask(newest->slot) != ZE_RESULT_SUCCESS)
        return false;
    zepi_timeline_reach(newest->point.timeline, newest->point.seqno);
    return true;
}

// Takes the oldest chain, if its commands are complete.
static struct zepi_event *event_cache_take_pending(struct zepi_event_cache *cache,
                                                   struct zepi_queue *queue)
{
    zepi_mutex_lock(&queue->mutex);
    struct zepi_event *first = cache->pending;
    if (first)
        cache->pending = first->next_chain;
    zepi_mutex_unlock(&queue->mutex);
    if (!first || is_event_over(first->newest))
        return first;
    zepi_mutex_lock(&queue->mutex);
    first->next_chain = cache->pending;
    if (!cache->pending)
        cache->last_pending = first;
    cache->pending = first;
    zepi_mutex_unlock(&queue->mutex);
    return NULL;
}

// `made`: how many there are.
static zepi_result_t event_cache_make_events(struct zepi_event_cache *cache,
                                             const struct zepi_queue *queue, uint32_t made,
                                             struct chain *usable)
{
    const uint32_t wanted = made < LEAST_NEW_EVENTS  ? LEAST_NEW_EVENTS
                            : made > MOST_NEW_EVENTS ? MOST_NEW_EVENTS
                                                     : made;
    while (usable->count < wanted) {
        struct zepi_event *event = zepi_object_create(&zepi_event_type);
        if (!event)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        const zepi_result_t result =
            zepi_event_slot_take(zepi_event_pools_of(queue->context), cache->kind, &event->slot);
        if (result != ZEPI_SUCCESS) {
            zepi_object_discard(event);
            return result;
        }
        event->ze = event->slot->ze;
        event->context = queue->context;
        event->cache = cache;
        zepi_object_set_free(event);
        chain_append(usable, event);
    }
    return ZEPI_SUCCESS;
}

// Resets events. Those that cannot be reset come back to the cache once more.
static zepi_result_t chain_reset_events(struct zepi_event_cache *cache, struct zepi_event *event,
                                        struct chain *out_reset)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct chain reset = {.first = event};
    for (; event; event = event->next) {
        if (!(cache->kind & ZEPI_EVENT_COUNTER))
            result = ZEPI_ZE(zeEventHostReset, event->ze);
        if (result != ZEPI_SUCCESS)
            break;
        reset.last = event;
        reset.count++;
    }
    if (event && reset.last)
        reset.last->next = NULL;
    while (event) {
        struct zepi_event *next = event->next;
        zepi_event_push(&cache->usable, event);
        event = next;
    }
    if (reset.count > 0)
        *out_reset = reset;
    return result;
}

// Defers events that commands may still use.
static void event_cache_sort_used(struct zepi_event_cache *cache, struct zepi_queue *queue,
                                  struct zepi_event *in_use, uint32_t taken_count)
{
    struct chain ordered = {0};
    struct chain others = {0};
    if (queue->flags & ZEPI_QUEUE_IN_ORDER) {
        event_cache_sort_in_use(in_use, &ordered, &others);
        event_cache_add_pending(cache, queue, &ordered);
    } else {
        // About as many: it is only a weight.
        others.first = in_use;
        others.count = taken_count;
    }
    chain_defer(cache, &others);
}

// Released events that may be used again.
static zepi_result_t event_cache_find_idle(struct zepi_event_cache *cache, struct zepi_queue *queue,
                                           uint32_t taken_count, struct chain *out_usable)
{
    struct zepi_event *in_use = take_all_events(&cache->in_use);
    if (in_use)
        event_cache_sort_used(cache, queue, in_use, taken_count);
    struct zepi_event *usable = take_all_events(&cache->usable);
    if (!usable)
        usable = event_cache_take_pending(cache, queue);
    return chain_reset_events(cache, usable, out_usable);
}

zepi_result_t zepi_event_cache_refill(struct zepi_event_cache *cache, struct zepi_queue *queue)
{
    struct chain usable = {0};
    uint32_t made = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&queue->mutex);
    const uint32_t taken_count = cache->taken_count;
    const uint32_t made_count = cache->made_count;
    cache->taken_count = 0;
    zepi_mutex_unlock(&queue->mutex);
    if (cache->kind != ZEPI_EVENT_COUNTER)
        result = event_cache_find_idle(cache, queue, taken_count, &usable);
    if (result == ZEPI_SUCCESS && usable.count == 0) {
        result = event_cache_make_events(cache, queue, made_count, &usable);
        made = usable.count;
    }
    if (usable.count == 0)
        return result;
    zepi_mutex_lock(&queue->mutex);
    usable.last->next = cache->free;
    cache->free = usable.first;
    cache->made_count += made;
    zepi_mutex_unlock(&queue->mutex);
    return result;
}

void zepi_event_cache_settle(struct zepi_event_cache *cache)
{
    struct chain complete = {0};
    struct chain others = {0};
    event_cache_sort_in_use(take_all_events(&cache->in_use), &complete, &others);
    while (cache->pending) {
        const struct chain pending = chain_of_events(cache->pending);
        cache->pending = pending.first->next_chain;
        chain_append_chain(&complete, &pending);
    }
    event_cache_push_chain(&cache->usable, &complete);
    chain_defer(cache, &others);
}

static void destroy_events(struct zepi_event *event, zepi_ownership_t ownership)
{
    while (event) {
        struct zepi_event *next = event->next;
        zepi_event_slot_give_from(event->slot, ownership);
        zepi_object_discard_free(event, &zepi_event_type);
        event = next;
    }
}

void zepi_event_cache_finish(struct zepi_event_cache *cache, zepi_ownership_t ownership)
{
    for (struct zepi_event *first = cache->pending; first; first = cache->pending) {
        cache->pending = first->next_chain;
        destroy_events(first, ownership);
    }
    destroy_events(cache->free, ownership);
    destroy_events(take_all_events(&cache->usable), ownership);
    destroy_events(take_all_events(&cache->in_use), ownership);
}
