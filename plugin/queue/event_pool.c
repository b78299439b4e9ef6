// SPDX-License-Identifier: MIT
#include "queue/event_pool.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"
#include "ze/ze_optional.h"

#define FIRST_BURST_EVENTS 8
#define BURST_EVENTS 64 // at most

// A Level Zero event pool and its events.
struct zepi_event_burst {
    struct zepi_event_burst *next;
    ze_event_pool_handle_t ze;
    uint32_t capacity;
    uint32_t count; // of events made
    struct zepi_event_slot slots[BURST_EVENTS];
};

static zepi_result_t event_pools_init(struct zepi_context *context)
{
    zepi_event_pools_of(context)->context = context;
    return ZEPI_SUCCESS;
}

static void destroy_burst(struct zepi_event_burst *burst)
{
    for (uint32_t i = 0; i < burst->count; i++) {
        if (burst->slots[i].ze)
            zepi_ze.zeEventDestroy(burst->slots[i].ze);
    }
    if (burst->ze)
        zepi_ze.zeEventPoolDestroy(burst->ze);
    zepi_free(burst);
}

static void event_pools_finish(struct zepi_context *context)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(context);
    while (pools->bursts) {
        struct zepi_event_burst *burst = pools->bursts;
        pools->bursts = burst->next;
        destroy_burst(burst);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_EVENT_POOLS, .size_bytes = sizeof(struct zepi_event_pools),
                      .init = event_pools_init, .finish = event_pools_finish);

static zepi_result_t burst_create_pool(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                       struct zepi_event_burst *burst)
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
        .count = burst->capacity};
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
        burst->ze = ze;
    return result;
}

static ze_result_t create_ze_event(struct zepi_event_slot *slot)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = (uint32_t)(slot - slot->burst->slots),
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    const ze_result_t ze = zepi_ze.zeEventCreate(slot->burst->ze, &desc, &event);
    if (ze == ZE_RESULT_SUCCESS)
        slot->ze = event;
    return ze;
}

static zepi_result_t slot_create_event(struct zepi_event_slot *slot)
{
    return zepi_check_ze(create_ze_event(slot), "zeEventCreate");
}

static void slot_destroy_event(struct zepi_event_slot *slot)
{
    zepi_ze.zeEventDestroy(slot->ze);
    slot->ze = NULL;
}

static zepi_result_t burst_create_events(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                         struct zepi_event_burst *burst)
{
    while (burst->count < burst->capacity) {
        struct zepi_event_slot *slot = &burst->slots[burst->count];
        slot->burst = burst;
        const zepi_result_t result = slot_create_event(slot);
        if (result != ZEPI_SUCCESS)
            return result;
        slot->kind = kind;
        slot->pools = pools;
        slot->next = slot + 1;
        burst->count++;
    }
    return ZEPI_SUCCESS;
}

static uint32_t next_burst_size(uint32_t last)
{
    return last == 0 ? FIRST_BURST_EVENTS : last < BURST_EVENTS ? 2 * last : BURST_EVENTS;
}

// Makes a burst and keeps its first event for the caller.
static zepi_result_t event_pools_add_burst(struct zepi_event_pools *pools,
                                           enum zepi_event_kind kind, uint32_t capacity,
                                           struct zepi_event_slot **out_slot)
{
    struct zepi_event_burst *burst = zepi_allocate(1, sizeof(*burst));
    if (!burst)
        return zepi_fail_no_memory();
    burst->capacity = capacity;
    zepi_result_t result = burst_create_pool(pools, kind, burst);
    if (result == ZEPI_SUCCESS)
        result = burst_create_events(pools, kind, burst);
    if (result != ZEPI_SUCCESS) {
        destroy_burst(burst);
        return result;
    }
    zepi_mutex_lock(&pools->mutex);
    burst->next = pools->bursts;
    pools->bursts = burst;
    burst->slots[burst->count - 1].next = pools->free[kind];
    pools->free[kind] = &burst->slots[1];
    pools->burst_events[kind] = burst->count;
    zepi_mutex_unlock(&pools->mutex);
    *out_slot = &burst->slots[0];
    return ZEPI_SUCCESS;
}

static void push_free_event(struct zepi_event_slot *slot)
{
    struct zepi_event_pools *pools = slot->pools;
    zepi_mutex_lock(&pools->mutex);
    slot->next = pools->free[slot->kind];
    pools->free[slot->kind] = slot;
    zepi_mutex_unlock(&pools->mutex);
}

zepi_result_t zepi_event_slot_take(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                   struct zepi_event_slot **out_slot)
{
    zepi_mutex_lock(&pools->mutex);
    struct zepi_event_slot *slot = pools->free[kind];
    if (slot)
        pools->free[kind] = slot->next;
    const uint32_t last_burst = pools->burst_events[kind];
    zepi_mutex_unlock(&pools->mutex);
    if (!slot)
        return event_pools_add_burst(pools, kind, next_burst_size(last_burst), out_slot);
    const zepi_result_t result = slot->ze ? ZEPI_SUCCESS : slot_create_event(slot);
    if (result != ZEPI_SUCCESS) {
        push_free_event(slot);
        return result;
    }
    *out_slot = slot;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_slot_adopt(struct zepi_event_pools *pools, ze_event_handle_t ze,
                                    zepi_ownership_t ownership, struct zepi_event_slot **out_slot)
{
    struct zepi_event_slot *slot = zepi_allocate(1, sizeof(*slot));
    if (!slot)
        return zepi_fail_no_memory();
    slot->ze = ze;
    slot->pools = pools;
    slot->is_adopted = true;
    slot->ownership = ownership;
    *out_slot = slot;
    return ZEPI_SUCCESS;
}

static void drop_adopted_event(struct zepi_event_slot *slot)
{
    if (slot->ownership == ZEPI_OWNERSHIP_TRANSFER)
        zepi_ze.zeEventDestroy(slot->ze);
    zepi_free(slot);
}

ze_result_t zepi_event_slot_ask(const struct zepi_event_slot *slot)
{
    const bool may_have_times = slot->kind & ZEPI_EVENT_TIMED || slot->is_adopted;
    return may_have_times &&
                   slot->pools->context->platform->quirks.bits & ZEPI_QUIRK_SLOW_TIMED_STATUS
               ? zepi_ze.zeEventHostSynchronize(slot->ze, 0)
               : zepi_ze.zeEventQueryStatus(slot->ze);
}

enum reuse { RESET, REMAKE };

static void give_unsignalled_event(struct zepi_event_slot *slot, enum reuse reuse)
{
    const bool is_of_counter = slot->kind & ZEPI_EVENT_COUNTER;
    if (reuse == REMAKE ||
        (!is_of_counter && zepi_ze.zeEventHostReset(slot->ze) != ZE_RESULT_SUCCESS)) {
        slot_destroy_event(slot);
        if (!is_of_counter)
            create_ze_event(slot); // a failure is the next taker's to see
    }
    push_free_event(slot);
}

// Events of the counter cannot be reset, and a host may have destroyed its list.
static enum reuse event_reuse_after(const struct zepi_event_slot *slot,
                                    zepi_ownership_t list_ownership)
{
    return slot->kind & ZEPI_EVENT_COUNTER || list_ownership == ZEPI_OWNERSHIP_KEEP ? REMAKE
                                                                                    : RESET;
}

void zepi_event_slot_give_from(struct zepi_event_slot *slot, zepi_ownership_t ownership)
{
    give_unsignalled_event(slot, event_reuse_after(slot, ownership));
}

void zepi_event_slot_give(struct zepi_event_slot *slot)
{
    struct zepi_command_list *list = slot->list;
    slot->list = NULL;
    if (slot->is_adopted)
        drop_adopted_event(slot);
    else
        give_unsignalled_event(slot, list ? event_reuse_after(slot, slot->list_ownership) : RESET);
    zepi_release(list);
}

static void give_deferred_event(struct zepi_deferred *deferred)
{
    zepi_event_slot_give((struct zepi_event_slot *)deferred);
}

void zepi_event_slot_defer(struct zepi_event_slot *slot)
{
    slot->deferred.bytes = ZEPI_DEFERRED_EVENT_BYTES;
    slot->deferred.run = give_deferred_event;
    zepi_defer(slot->pools->context, &slot->deferred);
}
