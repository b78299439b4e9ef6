// SPDX-License-Identifier: MIT
#include "queue/event_pool.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"
#include "ze/ze_optional.h"

#define FIRST_POOL_EVENTS 8
#define POOL_EVENTS 64 // at most

// A Level Zero event pool and its events.
struct zepi_event_pool {
    struct zepi_event_pool *next;
    ze_event_pool_handle_t ze;
    uint32_t capacity;
    uint32_t count; // of events made
    struct zepi_pooled_event events[POOL_EVENTS];
};

static zepi_result_t event_pools_init(struct zepi_context *context)
{
    zepi_event_pools_of(context)->context = context;
    return ZEPI_SUCCESS;
}

static void destroy_pool(struct zepi_event_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        if (pool->events[i].ze)
            zepi_ze.zeEventDestroy(pool->events[i].ze);
    }
    if (pool->ze)
        zepi_ze.zeEventPoolDestroy(pool->ze);
    zepi_free(pool);
}

static void event_pools_finish(struct zepi_context *context)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(context);
    while (pools->first) {
        struct zepi_event_pool *pool = pools->first;
        pools->first = pool->next;
        destroy_pool(pool);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_EVENT_POOLS, .size_bytes = sizeof(struct zepi_event_pools),
                      .init = event_pools_init, .finish = event_pools_finish);

static zepi_result_t pool_create(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                 struct zepi_event_pool *pool)
{
    const struct zepi_context *context = pools->context;
    const struct zepi_ze_number counter = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
        .value = ZEPI_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE};
    const ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .pNext = kind & ZEPI_EVENT_COUNTER ? &counter : NULL,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                 (kind & ZEPI_EVENT_TIMED ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0),
        .count = pool->capacity};
    ze_device_handle_t *devices = zepi_allocate(context->device_count, sizeof(*devices));
    if (!devices)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < context->device_count; i++)
        devices[i] = context->devices[i]->ze;
    ze_event_pool_handle_t ze;
    const zepi_result_t result =
        ZEPI_ZE(zeEventPoolCreate, context->ze, &desc, context->device_count, devices, &ze);
    zepi_free(devices);
    if (result == ZEPI_SUCCESS)
        pool->ze = ze;
    return result;
}

static ze_result_t create_ze_event(struct zepi_pooled_event *pooled)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = (uint32_t)(pooled - pooled->pool->events),
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    const ze_result_t ze = zepi_ze.zeEventCreate(pooled->pool->ze, &desc, &event);
    if (ze == ZE_RESULT_SUCCESS)
        pooled->ze = event;
    return ze;
}

static zepi_result_t pooled_event_create(struct zepi_pooled_event *pooled)
{
    return zepi_check_ze(create_ze_event(pooled), "zeEventCreate");
}

static void pooled_event_destroy(struct zepi_pooled_event *pooled)
{
    zepi_ze.zeEventDestroy(pooled->ze);
    pooled->ze = NULL;
}

static zepi_result_t pool_create_events(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                        struct zepi_event_pool *pool)
{
    while (pool->count < pool->capacity) {
        struct zepi_pooled_event *pooled = &pool->events[pool->count];
        pooled->pool = pool;
        const zepi_result_t result = pooled_event_create(pooled);
        if (result != ZEPI_SUCCESS)
            return result;
        pooled->kind = kind;
        pooled->pools = pools;
        pooled->next = pooled + 1;
        pool->count++;
    }
    return ZEPI_SUCCESS;
}

static uint32_t next_pool_size(uint32_t last)
{
    return last == 0 ? FIRST_POOL_EVENTS : last < POOL_EVENTS ? 2 * last : POOL_EVENTS;
}

// Makes a pool and keeps its first event for the caller.
static zepi_result_t event_pools_add(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                     uint32_t capacity, struct zepi_pooled_event **out_pooled)
{
    struct zepi_event_pool *pool = zepi_allocate(1, sizeof(*pool));
    if (!pool)
        return zepi_fail_no_memory();
    pool->capacity = capacity;
    zepi_result_t result = pool_create(pools, kind, pool);
    if (result == ZEPI_SUCCESS)
        result = pool_create_events(pools, kind, pool);
    if (result != ZEPI_SUCCESS) {
        destroy_pool(pool);
        return result;
    }
    zepi_mutex_lock(&pools->mutex);
    pool->next = pools->first;
    pools->first = pool;
    pool->events[pool->count - 1].next = pools->free[kind];
    pools->free[kind] = &pool->events[1];
    pools->pool_events[kind] = pool->count;
    zepi_mutex_unlock(&pools->mutex);
    *out_pooled = &pool->events[0];
    return ZEPI_SUCCESS;
}

static void push_free_event(struct zepi_pooled_event *pooled)
{
    struct zepi_event_pools *pools = pooled->pools;
    zepi_mutex_lock(&pools->mutex);
    pooled->next = pools->free[pooled->kind];
    pools->free[pooled->kind] = pooled;
    zepi_mutex_unlock(&pools->mutex);
}

zepi_result_t zepi_pooled_event_get(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                    struct zepi_pooled_event **out_pooled)
{
    zepi_mutex_lock(&pools->mutex);
    struct zepi_pooled_event *pooled = pools->free[kind];
    if (pooled)
        pools->free[kind] = pooled->next;
    const uint32_t last_pool = pools->pool_events[kind];
    zepi_mutex_unlock(&pools->mutex);
    if (!pooled)
        return event_pools_add(pools, kind, next_pool_size(last_pool), out_pooled);
    const zepi_result_t result = pooled->ze ? ZEPI_SUCCESS : pooled_event_create(pooled);
    if (result != ZEPI_SUCCESS) {
        push_free_event(pooled);
        return result;
    }
    *out_pooled = pooled;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_pooled_event_adopt(struct zepi_event_pools *pools, ze_event_handle_t ze,
                                      zepi_ownership_t ownership,
                                      struct zepi_pooled_event **out_pooled)
{
    struct zepi_pooled_event *pooled = zepi_allocate(1, sizeof(*pooled));
    if (!pooled)
        return zepi_fail_no_memory();
    pooled->ze = ze;
    pooled->pools = pools;
    pooled->is_adopted = true;
    pooled->ownership = ownership;
    *out_pooled = pooled;
    return ZEPI_SUCCESS;
}

static void drop_adopted_event(struct zepi_pooled_event *pooled)
{
    if (pooled->ownership == ZEPI_OWNERSHIP_TRANSFER)
        zepi_ze.zeEventDestroy(pooled->ze);
    zepi_free(pooled);
}

ze_result_t zepi_pooled_event_ask(const struct zepi_pooled_event *pooled)
{
    const unsigned slow = ZEPI_EVENT_TIMED | ZEPI_EVENT_COUNTER;
    const bool may_be_slow = (pooled->kind & slow) == slow || pooled->is_adopted;
    return may_be_slow &&
                   pooled->pools->context->platform->quirks.bits & ZEPI_QUIRK_SLOW_TIMED_STATUS
               ? zepi_ze.zeEventHostSynchronize(pooled->ze, 0)
               : zepi_ze.zeEventQueryStatus(pooled->ze);
}

enum reuse { RESET, REMAKE };

static void give_unsignalled_event(struct zepi_pooled_event *pooled, enum reuse reuse)
{
    const bool is_of_counter = pooled->kind & ZEPI_EVENT_COUNTER;
    if (reuse == REMAKE ||
        (!is_of_counter && zepi_ze.zeEventHostReset(pooled->ze) != ZE_RESULT_SUCCESS)) {
        pooled_event_destroy(pooled);
        if (!is_of_counter)
            create_ze_event(pooled); // a failure is the next taker's to see
    }
    push_free_event(pooled);
}

// Events of the counter cannot be reset, and a host may have destroyed its list.
static enum reuse event_reuse_after(const struct zepi_pooled_event *pooled,
                                    zepi_ownership_t list_ownership)
{
    return pooled->kind & ZEPI_EVENT_COUNTER || list_ownership == ZEPI_OWNERSHIP_KEEP ? REMAKE
                                                                                      : RESET;
}

void zepi_pooled_event_put_from(struct zepi_pooled_event *pooled, zepi_ownership_t ownership)
{
    give_unsignalled_event(pooled, event_reuse_after(pooled, ownership));
}

void zepi_pooled_event_put(struct zepi_pooled_event *pooled)
{
    struct zepi_command_list *list = pooled->list;
    pooled->list = NULL;
    if (pooled->is_adopted)
        drop_adopted_event(pooled);
    else
        give_unsignalled_event(pooled,
                               list ? event_reuse_after(pooled, pooled->list_ownership) : RESET);
    zepi_release(list);
}

static void give_deferred_event(struct zepi_deferred *deferred)
{
    zepi_pooled_event_put((struct zepi_pooled_event *)deferred);
}

void zepi_pooled_event_defer(struct zepi_pooled_event *pooled)
{
    pooled->deferred.bytes = ZEPI_DEFERRED_EVENT_BYTES;
    pooled->deferred.run = give_deferred_event;
    zepi_defer(pooled->pools->context, &pooled->deferred);
}
