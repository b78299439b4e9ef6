// SPDX-License-Identifier: MIT
#include "queue/command_list.h"

#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"
#include "ze/ze_optional.h"

#include <stddef.h>

#define FREE_COMMAND_LISTS 32 // the most that a context keeps, of all kinds

// The free command lists of a context.
struct zepi_command_lists {
    struct zepi_mutex mutex;        // guards the members below; nothing is called under it
    struct zepi_command_list *free; // owned; last released first
    uint32_t count;
    _Atomic uint32_t queue_numbers; // a bit for each that is taken
};

static struct zepi_command_lists *command_lists_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_COMMAND_LISTS];
}

uint32_t zepi_queue_number_take(const struct zepi_context *context)
{
    _Atomic uint32_t *numbers = &command_lists_of(context)->queue_numbers;
    uint32_t taken = atomic_load_explicit(numbers, memory_order_relaxed);
    // Acquire, and release below: the last queue's use of what is kept by number.
    while (taken != UINT32_MAX &&
           !atomic_compare_exchange_weak_explicit(numbers, &taken, taken | (taken + 1),
                                                  memory_order_acquire, memory_order_relaxed))
        ;
    return taken == UINT32_MAX ? ZEPI_NO_QUEUE_NUMBER : (uint32_t)__builtin_ctz(~taken);
}

void zepi_queue_number_give(const struct zepi_context *context, uint32_t number)
{
    if (number != ZEPI_NO_QUEUE_NUMBER)
        atomic_fetch_and_explicit(&command_lists_of(context)->queue_numbers,
                                  ~(UINT32_C(1) << number), memory_order_release);
}

static void command_list_destroy(void *object)
{
    struct zepi_command_list *list = object;
    zepi_event_cache_finish(&list->events);
    zepi_event_cache_finish(&list->markers);
    if (list->ze && list->ownership == ZEPI_OWNERSHIP_TRANSFER)
        zepi_ze.zeCommandListDestroy(list->ze);
}

ZEPI_DEFINE_TYPE(command_list, command_list_destroy);

static bool list_is_of_kind(const struct zepi_command_list *list,
                            const struct zepi_command_list_kind *kind)
{
    return list->kind.device == kind->device && list->kind.is_closed == kind->is_closed &&
           list->kind.extension == kind->extension && list->kind.ordinal == kind->ordinal &&
           (list->kind.index == kind->index || kind->index == ZEPI_COMPUTE_ENGINE_ANY) &&
           list->kind.flags == kind->flags && list->kind.priority == kind->priority &&
           list->kind.events == kind->events;
}

static struct zepi_command_list *take_free_list(struct zepi_command_lists *lists,
                                                const struct zepi_command_list_kind *kind)
{
    zepi_mutex_lock(&lists->mutex);
    struct zepi_command_list **link = &lists->free;
    while (*link && !list_is_of_kind(*link, kind))
        link = &(*link)->next;
    struct zepi_command_list *list = *link;
    if (list) {
        *link = list->next;
        lists->count--;
    }
    zepi_mutex_unlock(&lists->mutex);
    return list;
}

static ze_result_t create_closed(const struct zepi_context *context,
                                 const struct zepi_command_list_kind *kind,
                                 ze_command_list_handle_t *out_ze)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = kind->extension,
                                         .commandQueueGroupOrdinal = kind->device->compute_ordinal};
    return zepi_ze.zeCommandListCreate(context->ze, kind->device->ze, &desc, out_ze);
}

static ze_result_t create_immediate(const struct zepi_context *context,
                                    const struct zepi_command_list_kind *kind,
                                    ze_command_list_handle_t *out_ze)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = kind->ordinal,
                                          .index = kind->index,
                                          .flags = kind->flags,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                          .priority = kind->priority};
    return zepi_ze.zeCommandListCreateImmediate(context->ze, kind->device->ze, &desc, out_ze);
}

static zepi_result_t create_ze_list(struct zepi_context *context,
                                    const struct zepi_command_list_kind *kind,
                                    ze_command_list_handle_t *out_ze)
{
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = kind->is_closed ? create_closed(context, kind, out_ze)
                             : create_immediate(context, kind, out_ze);
    while (zepi_context_reclaim(context, ze, &attempt));
    return zepi_check_ze(ze,
                         kind->is_closed ? "zeCommandListCreate" : "zeCommandListCreateImmediate");
}

zepi_result_t zepi_command_list_adopt(struct zepi_context *context,
                                      const struct zepi_command_list_kind *kind,
                                      ze_command_list_handle_t ze, zepi_ownership_t ownership,
                                      struct zepi_command_list **out_list)
{
    struct zepi_command_list *list = zepi_object_create(&zepi_command_list_type);
    if (!list)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    list->context = context;
    list->kind = *kind;
    list->ownership = ownership;
    atomic_init(&list->is_exported, true);
    list->ze = ze;
    list->driver_ze = zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, ze);
    list->events.kind = kind->events;
    list->markers.kind = kind->events & ~(unsigned)ZEPI_EVENT_TIMED;
    list->events.list = list->markers.list = list;
    *out_list = list;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_command_list_take(struct zepi_context *context,
                                     const struct zepi_command_list_kind *request,
                                     struct zepi_command_list **out_list)
{
    ze_command_list_handle_t ze;
    struct zepi_command_list_kind kind = *request;
    struct zepi_command_list *list = take_free_list(command_lists_of(context), &kind);
    if (list) {
        *out_list = list;
        return ZEPI_SUCCESS;
    }
    // Lists are made on the engines in turn. Relaxed: only the number matters.
    if (kind.index == ZEPI_COMPUTE_ENGINE_ANY)
        kind.index = atomic_fetch_add_explicit(&kind.device->next_engine, 1, memory_order_relaxed) %
                     kind.device->compute_count;
    zepi_result_t result = create_ze_list(context, &kind, &ze);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_command_list_adopt(context, &kind, ze, ZEPI_OWNERSHIP_TRANSFER, &list);
    if (result != ZEPI_SUCCESS) {
        zepi_ze.zeCommandListDestroy(ze);
        return result;
    }
    atomic_init(&list->is_exported, false);
    *out_list = list;
    return ZEPI_SUCCESS;
}

// Makes a list the first free one. Returns the last one, to be destroyed, if too many are free.
static struct zepi_command_list *add_free_list(struct zepi_command_lists *lists,
                                               struct zepi_command_list *list)
{
    struct zepi_command_list *last = NULL;
    zepi_mutex_lock(&lists->mutex);
    list->next = lists->free;
    lists->free = list;
    if (++lists->count > FREE_COMMAND_LISTS) {
        struct zepi_command_list **link = &lists->free;
        while ((*link)->next)
            link = &(*link)->next;
        last = *link;
        *link = NULL;
        lists->count--;
    }
    zepi_mutex_unlock(&lists->mutex);
    return last;
}

static void release_deferred_list(struct zepi_deferred *deferred)
{
    zepi_release((char *)deferred - offsetof(struct zepi_command_list, deferred));
}

// Commands of other queues may wait for its events.
static void defer_list_release(struct zepi_command_list *list)
{
    list->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    list->deferred.run = release_deferred_list;
    zepi_defer(list->context, &list->deferred);
}

void zepi_command_list_give(struct zepi_command_list *list, bool is_idle)
{
    const bool is_kept =
        is_idle && !atomic_load_explicit(&list->is_exported, memory_order_relaxed) &&
        (!list->kind.is_closed || zepi_ze.zeCommandListReset(list->ze) == ZE_RESULT_SUCCESS);
    if (is_kept) {
        zepi_event_cache_flush(&list->events);
        zepi_event_cache_flush(&list->markers);
        list = add_free_list(command_lists_of(list->context), list);
    }
    if (list)
        defer_list_release(list);
}

static struct zepi_command_list *take_all_free_lists(struct zepi_command_lists *lists)
{
    zepi_mutex_lock(&lists->mutex);
    struct zepi_command_list *first = lists->free;
    lists->free = NULL;
    lists->count = 0;
    zepi_mutex_unlock(&lists->mutex);
    return first;
}

static bool command_lists_reclaim(struct zepi_context *context, uint64_t timeout_ns)
{
    struct zepi_command_list *list = take_all_free_lists(command_lists_of(context));
    const bool is_any = list != NULL;
    (void)timeout_ns;
    while (list) {
        struct zepi_command_list *next = list->next;
        defer_list_release(list);
        list = next;
    }
    return is_any;
}

static void command_lists_finish(struct zepi_context *context)
{
    struct zepi_command_list *list = take_all_free_lists(command_lists_of(context));
    while (list) {
        struct zepi_command_list *next = list->next;
        zepi_release(list);
        list = next;
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_COMMAND_LISTS, .size_bytes = sizeof(struct zepi_command_lists),
                      .finish = command_lists_finish, .reclaim = command_lists_reclaim);
