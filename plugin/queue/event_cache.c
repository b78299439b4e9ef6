// SPDX-License-Identifier: MIT
#include "queue/event_cache.h"

#include "device/context.h"
#include "queue/queue.h"
#include "ze/ze.h"

#include <stddef.h>

static zepi_result_t event_recycle(void *object)
{
    struct zepi_event *event = object;
    struct zepi_queue *queue = event->queue;
    // One of the host, of several commands, or with times that its queue does not have.
    if (__builtin_expect(!event->cache, 0))
        return zepi_event_end(event);
    zepi_event_cache_return(event->cache, event);
    return zepi_object_drop(queue) ? zepi_object_end(queue) : ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(event, NULL, event_recycle);

#define NEW_EVENTS 8 // made at once when there are none

static struct zepi_event *take_all_events(_Atomic(struct zepi_event *) *head)
{
    // Acquire: their contents.
    return atomic_exchange_explicit(head, NULL, memory_order_acquire);
}

// ---- Events that commands may still use ----

static void put_deferred_chain(struct zepi_deferred *deferred)
{
    struct zepi_event *event =
        (struct zepi_event *)((char *)deferred - offsetof(struct zepi_event, deferred));
    struct zepi_event_cache *cache = event->cache;
    while (event) {
        struct zepi_event *next = event->next;
        zepi_event_push(&cache->usable, event);
        event = next;
    }
    zepi_release(cache->list);
}

static void chain_defer(const struct zepi_event_chain *chain, struct zepi_use use)
{
    struct zepi_event *first = chain->first;
    zepi_retain(first->cache->list);
    first->deferred.bytes = (chain->count + 1) * ZEPI_DEFERRED_EVENT_BYTES;
    first->deferred.run = put_deferred_chain;
    zepi_defer_until(zepi_sync_of(first->context), use, &first->deferred);
}

void zepi_event_cache_flush(struct zepi_event_cache *cache)
{
    struct zepi_event_chain own = {0};
    struct zepi_event_chain awaited = {0};
    struct zepi_point last = {NULL, 0};
    struct zepi_event *event = take_all_events(&cache->in_use);
    while (event) {
        struct zepi_event *next = event->next;
        const bool is_own =
            !event->has_failed && !atomic_load_explicit(&event->is_awaited, memory_order_relaxed);
        zepi_event_chain_append(is_own ? &own : &awaited, event);
        if (is_own && event->point.seqno >= last.seqno)
            last = event->point;
        event = next;
    }
    if (own.first)
        chain_defer(&own, zepi_use_until(last));
    // Commands of any list may wait for these.
    if (awaited.first)
        chain_defer(&awaited, zepi_use_now(zepi_sync_of(awaited.first->context), 0));
}

// ---- Events for new commands ----

static zepi_result_t event_cache_make_events(struct zepi_event_cache *cache,
                                             struct zepi_context *context,
                                             struct zepi_event_chain *made)
{
    while (made->count < NEW_EVENTS) {
        struct zepi_event *event;
        const zepi_result_t result = zepi_event_take(context, cache->kind, &event);
        if (result != ZEPI_SUCCESS)
            return result;
        event->cache = cache;
        zepi_event_chain_append(made, event);
    }
    return ZEPI_SUCCESS;
}

// Takes events whose commands are over. If there are none the lists are polled, which costs less
// than new events; not within a poll, which takes an event itself.
static struct zepi_event *event_cache_take_usable(struct zepi_event_cache *cache,
                                                  const struct zepi_context *context)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(context);
    zepi_event_cache_flush(cache);
    struct zepi_event *usable = take_all_events(&cache->usable);
    if (usable || atomic_exchange_explicit(&pools->is_polling, true, memory_order_relaxed))
        return usable;
    zepi_sync_poll(zepi_sync_of(context), 0);
    atomic_store_explicit(&pools->is_polling, false, memory_order_relaxed);
    return take_all_events(&cache->usable);
}

// Events that cannot be reset come back to the cache once more.
static zepi_result_t event_cache_reset_events(struct zepi_event_cache *cache,
                                              struct zepi_event *event,
                                              struct zepi_event_chain *reset)
{
    zepi_result_t result = ZEPI_SUCCESS;
    while (event) {
        struct zepi_event *next = event->next;
        if (result == ZEPI_SUCCESS && !(cache->kind & ZEPI_EVENT_COUNTER))
            result = ZEPI_ZE(zeEventHostReset, event->ze);
        if (result == ZEPI_SUCCESS)
            zepi_event_chain_append(reset, event);
        else
            zepi_event_push(&cache->usable, event);
        event = next;
    }
    return result;
}

zepi_result_t zepi_event_cache_refill(struct zepi_event_cache *cache, struct zepi_queue *queue)
{
    struct zepi_event_chain found = {0};
    zepi_result_t result = ZEPI_SUCCESS;
    if (cache->kind != ZEPI_EVENT_COUNTER)
        result =
            event_cache_reset_events(cache, event_cache_take_usable(cache, queue->context), &found);
    if (result == ZEPI_SUCCESS && found.count == 0)
        result = event_cache_make_events(cache, queue->context, &found);
    if (found.count == 0)
        return result;
    zepi_mutex_lock(&queue->mutex);
    found.last->next = cache->free;
    cache->free = found.first;
    zepi_mutex_unlock(&queue->mutex);
    return result;
}

static void give_events(struct zepi_event *event)
{
    while (event) {
        struct zepi_event *next = event->next;
        zepi_event_give(event);
        event = next;
    }
}

void zepi_event_cache_finish(struct zepi_event_cache *cache)
{
    give_events(cache->free);
    give_events(take_all_events(&cache->usable));
    give_events(take_all_events(&cache->in_use));
}
