// SPDX-License-Identifier: MIT
#include "copy/buffer_use.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/progress.h"
#include "queue/queue_create.h"
#include "ze/ze.h"

#define FIRST_EVENTS 8

void zepi_buffer_uses_init(struct zepi_buffer_uses *uses, struct zepi_queue *queue,
                           zepi_wait_list_t wait)
{
    *uses = (struct zepi_buffer_uses){.queue = queue, .host = wait, .wait = wait};
    if (__builtin_expect(wait.count > 0 || zepi_queue_is_capturing(queue), 0))
        uses->capture = zepi_capture_find(queue, wait);
}

void zepi_buffer_uses_finish(struct zepi_buffer_uses *uses)
{
    if (__builtin_expect(uses->capture != NULL, 0))
        zepi_release(uses->capture);
    if (!uses->events)
        return;
    for (uint32_t i = uses->host.count; i < uses->wait.count; i++)
        zepi_release(uses->events[i]);
    zepi_free(uses->events);
}

// The command waits for the event, too, a reference of which is consumed.
static zepi_result_t uses_add_event(struct zepi_buffer_uses *uses, zepi_event_t event)
{
    const uint32_t count = uses->wait.count;
    if (!uses->events || count == uses->capacity) {
        const uint32_t capacity = 2 * count + FIRST_EVENTS;
        zepi_event_t *events = zepi_allocate(capacity, sizeof(events[0]));
        if (!events) {
            zepi_release(event);
            return zepi_fail_no_memory();
        }
        if (count > 0)
            memcpy(events, uses->wait.events, count * sizeof(events[0]));
        zepi_free(uses->events);
        uses->events = events;
        uses->capacity = capacity;
    }
    uses->events[count] = event;
    uses->wait = (zepi_wait_list_t){uses->events, count + 1};
    return ZEPI_SUCCESS;
}

static bool is_in(zepi_wait_list_t list, zepi_event_t event)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.events[i] == event)
            return true;
    }
    return false;
}

// Takes the copies out of the location that are over, and those with events in `list`.
static struct zepi_buffer_copy *take_copies_locked(struct zepi_buffer_location *location,
                                                   zepi_wait_list_t list)
{
    struct zepi_buffer_copy *taken = NULL;
    struct zepi_buffer_copy **link = &location->copies;
    while (*link) {
        struct zepi_buffer_copy *copy = *link;
        if (!zepi_event_is_known_complete(copy->event) && !is_in(list, copy->event)) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        copy->next = taken;
        taken = copy;
    }
    return taken;
}

// The command waits for the copies to the location, but for those that are over.
static zepi_result_t await_location(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                    uint32_t index)
{
    struct zepi_buffer_location *location = &buffer->locations[index];
    const uint32_t first = uses->wait.count;
    zepi_event_status_t status;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&buffer->mutex);
    struct zepi_buffer_copy *over = take_copies_locked(location, (zepi_wait_list_t){NULL, 0});
    for (struct zepi_buffer_copy *copy = location->copies; copy && result == ZEPI_SUCCESS;
         copy = copy->next) {
        if (!is_in(uses->wait, copy->event))
            result = uses_add_event(uses, zepi_retain(copy->event));
    }
    zepi_mutex_unlock(&buffer->mutex);
    zepi_buffer_copies_release(over);
    for (uint32_t i = uses->wait.count; i-- > first && result == ZEPI_SUCCESS;) {
        zepi_event_t event = uses->events[i];
        result = zepi_event_get_status(event, &status);
        if (result != ZEPI_SUCCESS || status != ZEPI_EVENT_COMPLETE)
            continue;
        uses->events[i] = uses->events[--uses->wait.count];
        zepi_release(event);
    }
    return result;
}

// The event holds a queue that nothing else does, and no other: a queue that is released waits for
// its commands then. It is of the counter where the list has one (quirk uncounted-copies).
static zepi_result_t create_copy_event(const struct zepi_buffer_uses *uses, zepi_event_t *out_event)
{
    struct zepi_queue *queue = uses->queue;
    const enum zepi_event_kind kind = queue->lists[0]->kind.events & ZEPI_EVENT_COUNTER;
    return zepi_event_create_of(queue->context, uses->has_own_queue ? queue : NULL, kind,
                                out_event);
}

// Appends a copy after `uses->wait`.
static zepi_result_t append_copy(const struct zepi_buffer_uses *uses, void *destination,
                                 const void *source, size_t size_bytes, zepi_event_t *out_event)
{
    struct zepi_copy copy;
    zepi_event_t event;
    zepi_result_t result = create_copy_event(uses, &event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_capture_check_uncaptured(zepi_copy_begin(
        &copy, uses->queue, uses->wait, NULL, ZEPI_ENGINE_COPY, destination, source, size_bytes));
    if (result != ZEPI_SUCCESS) {
        zepi_event_abandon(event);
        return result;
    }
    zepi_event_note_list(event, copy.submit.queue_list);
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, size_bytes);
    result = ZEPI_ZE(zeCommandListAppendMemoryCopy, copy.submit.list, destination, copy.source,
                     size_bytes, event->ze, copy.submit.wait_count, copy.submit.waits);
    result = zepi_copy_end(&copy, result, NULL);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    else
        zepi_release(event);
    return result;
}

// Copies a range, after all copies to both locations. It stands for those that it waits for; others
// stay in the list, since several threads may enqueue copies at once.
static zepi_result_t copy_range(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                uint32_t to, uint32_t from,
                                const struct zepi_buffer_stale_range *range)
{
    struct zepi_buffer_location *location = &buffer->locations[to];
    zepi_result_t result = await_location(uses, buffer, from);
    if (result == ZEPI_SUCCESS)
        result = await_location(uses, buffer, to);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_buffer_copy *copy = zepi_allocate(1, sizeof(*copy));
    if (!copy)
        return zepi_fail_no_memory();
    result = append_copy(uses, (char *)location->memory + range->begin_bytes,
                         (const char *)buffer->locations[from].memory + range->begin_bytes,
                         range->end_bytes - range->begin_bytes, &copy->event);
    if (result != ZEPI_SUCCESS) {
        zepi_free(copy);
        return result;
    }
    zepi_mutex_lock(&buffer->mutex);
    struct zepi_buffer_copy *before = take_copies_locked(location, uses->wait);
    copy->next = location->copies;
    location->copies = copy;
    const bool is_noted =
        zepi_buffer_contents_add(&buffer->contents, to, range->begin_bytes, range->end_bytes);
    zepi_mutex_unlock(&buffer->mutex);
    zepi_buffer_copies_release(before);
    return is_noted ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// By a queue of the device `from`, since the devices do not reach each other.
static zepi_result_t copy_range_to_shared(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                          uint32_t from,
                                          const struct zepi_buffer_stale_range *range)
{
    zepi_queue_t queue = NULL;
    zepi_event_t before;
    struct zepi_context *context = buffer->context;
    zepi_result_t result = zepi_buffer_need_location(buffer, ZEPI_LOCATION_SHARED);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_marker(uses->queue, uses->wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_queue_create(context, context->devices[from - ZEPI_LOCATION_DEVICES],
                               ZEPI_QUEUE_IN_ORDER, ZEPI_COMPUTE_ENGINE_ANY, &queue);
    struct zepi_buffer_uses after = {
        .queue = queue, .has_own_queue = true, .host = {&before, 1}, .wait = {&before, 1}};
    if (result == ZEPI_SUCCESS)
        result = copy_range(&after, buffer, ZEPI_LOCATION_SHARED, from, range);
    zepi_buffer_uses_finish(&after);
    zepi_release(queue);
    zepi_release(before);
    return result;
}

// Whether commands of the queue's device reach the location. A driver that cannot tell: they do
// not.
static bool is_reachable(const struct zepi_queue *queue, const struct zepi_buffer *buffer,
                         uint32_t location)
{
    ze_bool_t has_access = false;
    if (location < ZEPI_LOCATION_DEVICES ||
        location == zepi_buffer_location_of(buffer, queue->device))
        return true;
    const struct zepi_device *other = buffer->context->devices[location - ZEPI_LOCATION_DEVICES];
    return zepi_ze.zeDeviceCanAccessPeer(queue->device->ze, other->ze, &has_access) ==
               ZE_RESULT_SUCCESS &&
           has_access;
}

// Makes more of the range current there: from a location that the queue's device reaches, the
// host's memory before that of other devices, or through shared memory.
static zepi_result_t refresh_range(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                   uint32_t location, const struct zepi_buffer_stale_range *range)
{
    uint32_t from = 0;
    bool has_found = false;
    for (uint32_t i = 0; i < buffer->location_count && !has_found; i++) {
        if (!(range->locations & ZEPI_BUFFER_LOCATION(i)))
            continue;
        from = i;
        has_found = is_reachable(uses->queue, buffer, i);
    }
    return has_found ? copy_range(uses, buffer, location, from, range)
                     : copy_range_to_shared(uses, buffer, from, range);
}

// The first bytes of the part that the location lacks.
static bool find_stale_range(const struct zepi_buffer_part *part, uint32_t location,
                             struct zepi_buffer_stale_range *out_range)
{
    struct zepi_buffer *buffer = part->buffer;
    zepi_mutex_lock(&buffer->mutex);
    const bool is_found =
        zepi_buffer_contents_find_stale(&buffer->contents, location, part->offset_bytes,
                                        part->offset_bytes + part->size_bytes, out_range);
    zepi_mutex_unlock(&buffer->mutex);
    return is_found;
}

static zepi_result_t note_buffer_write(const struct zepi_buffer_part *part, uint32_t location)
{
    struct zepi_buffer *buffer = part->buffer;
    zepi_mutex_lock(&buffer->mutex);
    const bool is_noted = zepi_buffer_contents_set(&buffer->contents, location, part->offset_bytes,
                                                   part->offset_bytes + part->size_bytes);
    zepi_mutex_unlock(&buffer->mutex);
    return is_noted ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

static zepi_result_t use_buffer_at(struct zepi_buffer_uses *uses,
                                   const struct zepi_buffer_part *part,
                                   enum zepi_buffer_access access, uint32_t location)
{
    struct zepi_buffer *buffer = part->buffer;
    struct zepi_buffer_stale_range range;
    zepi_result_t result = zepi_buffer_need_location(buffer, location);
    while (result == ZEPI_SUCCESS && find_stale_range(part, location, &range))
        result = refresh_range(uses, buffer, location, &range);
    if (result == ZEPI_SUCCESS)
        result = await_location(uses, buffer, location);
    return result == ZEPI_SUCCESS && access == ZEPI_BUFFER_WRITE ? note_buffer_write(part, location)
                                                                 : result;
}

// For a command in a graph: the device's location, whose contents come with each execution.
static __attribute__((cold, noinline)) zepi_result_t
use_in_capture(struct zepi_buffer_uses *uses, const struct zepi_buffer_part *part,
               enum zepi_buffer_where where, void **out_address)
{
    struct zepi_buffer *buffer = part->buffer;
    void *address;
    if (where == ZEPI_BUFFER_ON_HOST && !buffer->fixed)
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "copies between a buffer and the host's memory that is its storage cannot "
                         "be captured");
    zepi_result_t result = zepi_buffer_get_location(buffer, uses->queue->device, &address);
    if (result == ZEPI_SUCCESS)
        result = uses->capture->functions->keep(uses->capture, buffer, part);
    if (result == ZEPI_SUCCESS)
        *out_address = (char *)address + part->offset_bytes;
    return result;
}

zepi_result_t zepi_buffer_use(struct zepi_buffer_uses *uses, const struct zepi_buffer_part *part,
                              enum zepi_buffer_access access, enum zepi_buffer_where where,
                              void **out_address)
{
    struct zepi_buffer *buffer = part->buffer;
    if (__builtin_expect(uses->capture != NULL, 0))
        return use_in_capture(uses, part, where, out_address);
    *out_address = (char *)buffer->fixed + part->offset_bytes;
    if (buffer->fixed)
        return ZEPI_SUCCESS;
    const uint32_t location = where == ZEPI_BUFFER_ON_HOST
                                  ? ZEPI_LOCATION_HOST
                                  : zepi_buffer_location_of(buffer, uses->queue->device);
    const zepi_result_t result = use_buffer_at(uses, part, access, location);
    if (result == ZEPI_SUCCESS)
        *out_address = (char *)buffer->locations[location].memory + part->offset_bytes;
    return result;
}

// ---- For the host ----

static zepi_result_t create_queue_after_all(struct zepi_context *context,
                                            struct zepi_device *device, zepi_queue_t *out_queue)
{
    struct zepi_use use = zepi_use_now(zepi_sync_of(context), 0);
    zepi_use_wait(zepi_sync_of(context), &use);
    return zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, ZEPI_COMPUTE_ENGINE_ANY,
                             out_queue);
}

// The part is all there on return. What the location lacks is copied by a queue for this alone,
// after all other commands of the context.
static zepi_result_t use_buffer_at_once(const struct zepi_buffer_part *part,
                                        struct zepi_device *device, enum zepi_buffer_access access,
                                        uint32_t location)
{
    struct zepi_buffer *buffer = part->buffer;
    struct zepi_buffer_uses uses = {.has_own_queue = true};
    struct zepi_buffer_stale_range range;
    zepi_result_t result = zepi_buffer_need_location(buffer, location);
    while (result == ZEPI_SUCCESS && find_stale_range(part, location, &range)) {
        if (!uses.queue)
            result = create_queue_after_all(buffer->context, device, &uses.queue);
        if (result == ZEPI_SUCCESS)
            result = refresh_range(&uses, buffer, location, &range);
    }
    if (result == ZEPI_SUCCESS)
        result = await_location(&uses, buffer, location);
    if (result == ZEPI_SUCCESS)
        result = zepi_event_wait(uses.wait.count, uses.wait.events, UINT64_MAX);
    if (result == ZEPI_SUCCESS && access == ZEPI_BUFFER_WRITE)
        result = note_buffer_write(part, location);
    zepi_buffer_uses_finish(&uses);
    zepi_release(uses.queue);
    return result;
}

zepi_result_t zepi_buffer_note_host_write(const struct zepi_buffer_part *part)
{
    return note_buffer_write(part, ZEPI_LOCATION_HOST);
}

zepi_result_t zepi_buffer_write_back(struct zepi_buffer *buffer)
{
    const struct zepi_buffer_part all = {buffer, 0, buffer->size_bytes};
    return use_buffer_at_once(&all, buffer->context->devices[0], ZEPI_BUFFER_READ,
                              ZEPI_LOCATION_HOST);
}

zepi_result_t zepi_buffer_get_address_of(const struct zepi_buffer_part *part,
                                         struct zepi_device *device, void **out_address)
{
    struct zepi_buffer *buffer = part->buffer;
    char *memory = buffer->fixed;
    if (!memory) {
        const uint32_t location = zepi_buffer_location_of(buffer, device);
        const zepi_result_t result = use_buffer_at_once(part, device, ZEPI_BUFFER_WRITE, location);
        if (result != ZEPI_SUCCESS)
            return result;
        memory = buffer->locations[location].memory;
    }
    *out_address = memory + part->offset_bytes;
    return ZEPI_SUCCESS;
}
