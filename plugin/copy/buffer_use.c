// SPDX-License-Identifier: MIT
#include "copy/buffer_use.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/progress.h"
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

// Takes the copies with these events out of the place's list.
static struct zepi_buffer_copy *take_copies_locked(struct zepi_buffer_place *place,
                                                   zepi_wait_list_t events)
{
    struct zepi_buffer_copy *taken = NULL;
    struct zepi_buffer_copy **at = &place->copies;
    while (*at) {
        struct zepi_buffer_copy *copy = *at;
        if (!is_in(events, copy->event)) {
            at = &copy->next;
            continue;
        }
        *at = copy->next;
        copy->next = taken;
        taken = copy;
    }
    return taken;
}

// The copy with this event is over.
static void forget_buffer_copy(struct zepi_buffer *buffer, uint32_t place, zepi_event_t event)
{
    zepi_mutex_lock(&buffer->mutex);
    struct zepi_buffer_copy *copies =
        take_copies_locked(&buffer->places[place], (zepi_wait_list_t){&event, 1});
    zepi_mutex_unlock(&buffer->mutex);
    zepi_buffer_copies_release(copies);
}

static zepi_result_t uses_add_copies(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                     uint32_t place)
{
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&buffer->mutex);
    for (const struct zepi_buffer_copy *copy = buffer->places[place].copies;
         copy && result == ZEPI_SUCCESS; copy = copy->next) {
        if (!is_in(uses->wait, copy->event))
            result = uses_add_event(uses, zepi_retain(copy->event));
    }
    zepi_mutex_unlock(&buffer->mutex);
    return result;
}

// The command waits for the copies to the place, but for those that are over.
static zepi_result_t await_buffer_place(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                        uint32_t place)
{
    const uint32_t first = uses->wait.count;
    zepi_result_t result = uses_add_copies(uses, buffer, place);
    for (uint32_t i = uses->wait.count; i-- > first && result == ZEPI_SUCCESS;) {
        zepi_event_status_t status;
        zepi_event_t event = uses->events[i];
        result = zepi_event_get_status(event, &status);
        if (result != ZEPI_SUCCESS || status != ZEPI_EVENT_COMPLETE)
            continue;
        uses->events[i] = uses->events[--uses->wait.count];
        forget_buffer_copy(buffer, place, event);
        zepi_release(event);
    }
    return result;
}

// Before a copy is enqueued: the command waits for those that it must not overlap.
static zepi_result_t begin_buffer_copy(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                       uint32_t to, uint32_t from,
                                       struct zepi_buffer_copy **out_copy)
{
    zepi_result_t result = await_buffer_place(uses, buffer, from);
    if (result == ZEPI_SUCCESS)
        result = await_buffer_place(uses, buffer, to);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_copy = zepi_allocate(1, sizeof(**out_copy));
    return *out_copy ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// `result`: of enqueuing it. `copy`, with its event, is consumed. It stands for the copies that it
// waits for; others stay in the list, since several threads may enqueue copies at once.
static zepi_result_t end_buffer_copy(const struct zepi_buffer_uses *uses,
                                     struct zepi_buffer *buffer, uint32_t to,
                                     const struct zepi_buffer_gap *gap,
                                     struct zepi_buffer_copy *copy, zepi_result_t result)
{
    struct zepi_buffer_place *place = &buffer->places[to];
    if (result != ZEPI_SUCCESS) {
        zepi_free(copy);
        return result;
    }
    zepi_mutex_lock(&buffer->mutex);
    struct zepi_buffer_copy *before = take_copies_locked(place, uses->wait);
    copy->next = place->copies;
    place->copies = copy;
    const bool has_room = zepi_buffer_contents_reserve(&buffer->contents);
    if (has_room)
        zepi_buffer_contents_add(&buffer->contents, to, gap->begin_bytes, gap->end_bytes);
    zepi_mutex_unlock(&buffer->mutex);
    zepi_buffer_copies_release(before);
    return has_room ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// Appends a copy after `wait` to any queue, with an event that does not hold the queue.
static zepi_result_t append_buffer_copy(struct zepi_queue *queue, struct zepi_buffer *buffer,
                                        uint32_t to, uint32_t from,
                                        const struct zepi_buffer_gap *gap, zepi_wait_list_t wait,
                                        zepi_event_t *out_event)
{
    struct zepi_copy copy;
    zepi_event_t event;
    const size_t size_bytes = gap->end_bytes - gap->begin_bytes;
    zepi_result_t result = zepi_event_create(buffer->context, &event);
    if (result != ZEPI_SUCCESS)
        return result;
    char *destination = (char *)buffer->places[to].memory + gap->begin_bytes;
    const char *source = (const char *)buffer->places[from].memory + gap->begin_bytes;
    result = zepi_copy_begin(&copy, queue, wait, NULL, ZEPI_ENGINE_COPY, destination, source,
                             size_bytes);
    result = zepi_capture_check_uncaptured(result);
    if (result != ZEPI_SUCCESS) {
        zepi_event_abandon(event);
        return result;
    }
    zepi_event_note_list(event, copy.submit.queue_list);
    result = ZEPI_ZE(zeCommandListAppendMemoryCopy, copy.submit.list, destination, copy.source,
                     size_bytes, event->ze, copy.submit.wait_count, copy.submit.waits);
    result = zepi_copy_end(&copy, result, NULL);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    else
        zepi_release(event);
    return result;
}

// By a queue of the device `from`, since the devices do not reach each other.
static zepi_result_t copy_buffer_to_shared(struct zepi_buffer_uses *uses,
                                           struct zepi_buffer *buffer, uint32_t from,
                                           const struct zepi_buffer_gap *gap)
{
    struct zepi_buffer_uses after;
    struct zepi_buffer_copy *copy;
    zepi_queue_t queue;
    zepi_event_t before;
    struct zepi_context *context = buffer->context;
    zepi_result_t result = zepi_queue_marker(uses->queue, uses->wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_queue_create(context, context->devices[from - ZEPI_PLACE_DEVICES],
                               ZEPI_QUEUE_IN_ORDER, &queue);
    if (result != ZEPI_SUCCESS) {
        zepi_release(before);
        return result;
    }
    zepi_buffer_uses_init(&after, queue, (zepi_wait_list_t){&before, 1});
    result = begin_buffer_copy(&after, buffer, ZEPI_PLACE_SHARED, from, &copy);
    // The event holds the queue, which goes when the copy is over and forgotten.
    if (result == ZEPI_SUCCESS) {
        result = zepi_queue_copy(
            queue, (char *)buffer->places[ZEPI_PLACE_SHARED].memory + gap->begin_bytes,
            (char *)buffer->places[from].memory + gap->begin_bytes,
            gap->end_bytes - gap->begin_bytes, after.wait, &copy->event);
        result = end_buffer_copy(&after, buffer, ZEPI_PLACE_SHARED, gap, copy, result);
    }
    zepi_buffer_uses_finish(&after);
    zepi_release(queue);
    zepi_release(before);
    return result;
}

// Whether commands of the queue's device reach the place.
static zepi_result_t query_peer_access(const struct zepi_queue *queue,
                                       const struct zepi_buffer *buffer, uint32_t place,
                                       bool *out_has)
{
    ze_bool_t has = true;
    zepi_result_t result = ZEPI_SUCCESS;
    if (place >= ZEPI_PLACE_DEVICES && place != zepi_buffer_place_of(buffer, queue->device))
        result = ZEPI_ZE(zeDeviceCanAccessPeer, queue->device->ze,
                         buffer->context->devices[place - ZEPI_PLACE_DEVICES]->ze, &has);
    *out_has = has;
    return result;
}

// One of `places` that the queue's device reaches, host memory before the memory of others, or
// none.
static zepi_result_t find_reachable_place(const struct zepi_queue *queue,
                                          const struct zepi_buffer *buffer, uint64_t places,
                                          uint32_t *out_place, bool *out_is_found)
{
    zepi_result_t result = ZEPI_SUCCESS;
    *out_is_found = false;
    for (uint32_t i = 0; i < buffer->place_count && result == ZEPI_SUCCESS && !*out_is_found; i++) {
        if (!(places & ZEPI_BUFFER_PLACE(i)))
            continue;
        *out_place = i;
        result = query_peer_access(queue, buffer, i, out_is_found);
    }
    return result;
}

static zepi_result_t fill_buffer_gap(struct zepi_buffer_uses *uses, struct zepi_buffer *buffer,
                                     uint32_t place, const struct zepi_buffer_gap *gap)
{
    uint32_t from = 0;
    bool is_reachable;
    struct zepi_buffer_copy *copy;
    zepi_result_t result =
        find_reachable_place(uses->queue, buffer, gap->places, &from, &is_reachable);
    if (result == ZEPI_SUCCESS && !is_reachable) {
        result = zepi_buffer_need_place(buffer, ZEPI_PLACE_SHARED);
        if (result == ZEPI_SUCCESS)
            result = copy_buffer_to_shared(uses, buffer, from, gap);
        from = ZEPI_PLACE_SHARED;
        if (place == from)
            return result;
    }
    if (result == ZEPI_SUCCESS)
        result = begin_buffer_copy(uses, buffer, place, from, &copy);
    if (result != ZEPI_SUCCESS)
        return result;
    result = append_buffer_copy(uses->queue, buffer, place, from, gap, uses->wait, &copy->event);
    return end_buffer_copy(uses, buffer, place, gap, copy, result);
}

static bool find_buffer_gap(struct zepi_buffer *buffer, uint32_t place,
                            const struct zepi_buffer_part *part, struct zepi_buffer_gap *out_gap)
{
    zepi_mutex_lock(&buffer->mutex);
    const bool is_found =
        zepi_buffer_contents_find_gap(&buffer->contents, place, part->offset_bytes,
                                      part->offset_bytes + part->size_bytes, out_gap);
    zepi_mutex_unlock(&buffer->mutex);
    return is_found;
}

static zepi_result_t note_buffer_write(const struct zepi_buffer_part *part, uint32_t place)
{
    struct zepi_buffer *buffer = part->buffer;
    zepi_mutex_lock(&buffer->mutex);
    const bool has_room = zepi_buffer_contents_reserve(&buffer->contents);
    if (has_room)
        zepi_buffer_contents_set(&buffer->contents, place, part->offset_bytes,
                                 part->offset_bytes + part->size_bytes);
    zepi_mutex_unlock(&buffer->mutex);
    return has_room ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

static zepi_result_t use_buffer_at(struct zepi_buffer_uses *uses,
                                   const struct zepi_buffer_part *part,
                                   enum zepi_buffer_access access, uint32_t place)
{
    struct zepi_buffer *buffer = part->buffer;
    struct zepi_buffer_gap gap;
    zepi_result_t result = zepi_buffer_need_place(buffer, place);
    while (result == ZEPI_SUCCESS && find_buffer_gap(buffer, place, part, &gap))
        result = fill_buffer_gap(uses, buffer, place, &gap);
    if (result == ZEPI_SUCCESS)
        result = await_buffer_place(uses, buffer, place);
    return result == ZEPI_SUCCESS && access == ZEPI_BUFFER_WRITE ? note_buffer_write(part, place)
                                                                 : result;
}

// The device's own place if it has all of the part, or another one that the device reaches; else
// the part moves to the device. A written part is never in the host's memory alone: its release
// would have to wait for the command.
static zepi_result_t choose_buffer_place(struct zepi_buffer_uses *uses,
                                         const struct zepi_buffer_part *part,
                                         enum zepi_buffer_access access, uint32_t *out_place)
{
    struct zepi_buffer *buffer = part->buffer;
    const uint32_t own = zepi_buffer_place_of(buffer, uses->queue->device);
    uint32_t other;
    bool is_found;
    zepi_mutex_lock(&buffer->mutex);
    uint64_t places = zepi_buffer_contents_places(&buffer->contents, part->offset_bytes,
                                                  part->offset_bytes + part->size_bytes);
    zepi_mutex_unlock(&buffer->mutex);
    if (access == ZEPI_BUFFER_WRITE)
        places &= ~ZEPI_BUFFER_PLACE(ZEPI_PLACE_HOST);
    *out_place = own;
    if (places == 0 || (places & ZEPI_BUFFER_PLACE(own)))
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        find_reachable_place(uses->queue, buffer, places, &other, &is_found);
    if (result == ZEPI_SUCCESS && is_found)
        *out_place = other;
    return result;
}

// For a command in a graph: the device's place, whose contents come with each execution.
static __attribute__((cold, noinline)) zepi_result_t
use_in_capture(struct zepi_buffer_uses *uses, const struct zepi_buffer_part *part,
               enum zepi_buffer_where where, void **out_address)
{
    struct zepi_buffer *buffer = part->buffer;
    void *address;
    if (where == ZEPI_BUFFER_AT_HOME && !buffer->fixed)
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "copies between a buffer and the host's memory that is its storage cannot "
                         "be captured");
    zepi_result_t result = zepi_buffer_get_place(buffer, uses->queue->device, &address);
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
    uint32_t place = ZEPI_PLACE_HOST;
    zepi_result_t result = ZEPI_SUCCESS;
    if (__builtin_expect(uses->capture != NULL, 0))
        return use_in_capture(uses, part, where, out_address);
    *out_address = (char *)buffer->fixed + part->offset_bytes;
    if (buffer->fixed)
        return ZEPI_SUCCESS;
    if (where == ZEPI_BUFFER_ON_DEVICE)
        place = zepi_buffer_place_of(buffer, uses->queue->device);
    else if (where == ZEPI_BUFFER_ANYWHERE)
        result = choose_buffer_place(uses, part, access, &place);
    if (result == ZEPI_SUCCESS)
        result = use_buffer_at(uses, part, access, place);
    if (result == ZEPI_SUCCESS)
        *out_address = (char *)buffer->places[place].memory + part->offset_bytes;
    return result;
}

// ---- For the host ----

// By a queue for this alone, after all other commands.
static zepi_result_t use_buffer_at_once(const struct zepi_buffer_part *part,
                                        struct zepi_device *device, enum zepi_buffer_access access,
                                        enum zepi_buffer_where where, void **out_address)
{
    struct zepi_buffer_uses uses;
    zepi_queue_t queue;
    struct zepi_context *context = part->buffer->context;
    struct zepi_use use = zepi_use_now(zepi_sync_of(context), 0);
    zepi_use_wait(zepi_sync_of(context), &use);
    zepi_result_t result = zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, queue, (zepi_wait_list_t){NULL, 0});
    result = zepi_buffer_use(&uses, part, access, where, out_address);
    zepi_buffer_uses_finish(&uses);
    const zepi_result_t waited = zepi_queue_wait(queue);
    zepi_release(queue);
    return result == ZEPI_SUCCESS ? waited : result;
}

// A reference to the event of a copy to the place that may be under way, or NULL.
static zepi_event_t find_buffer_copy(struct zepi_buffer *buffer, uint32_t place)
{
    zepi_mutex_lock(&buffer->mutex);
    const struct zepi_buffer_copy *copy = buffer->places[place].copies;
    zepi_event_t event = copy ? zepi_retain(copy->event) : NULL;
    zepi_mutex_unlock(&buffer->mutex);
    return event;
}

// Waits for the copies to the place; true if that has all of the part then.
static bool place_has_all(const struct zepi_buffer_part *part, uint32_t place,
                          zepi_result_t *out_result)
{
    struct zepi_buffer_gap gap;
    zepi_event_t event;
    struct zepi_buffer *buffer = part->buffer;
    *out_result = ZEPI_SUCCESS;
    if (find_buffer_gap(buffer, place, part, &gap))
        return false;
    while (*out_result == ZEPI_SUCCESS && (event = find_buffer_copy(buffer, place))) {
        *out_result = zepi_event_wait(1, &event, UINT64_MAX);
        if (*out_result == ZEPI_SUCCESS)
            forget_buffer_copy(buffer, place, event);
        zepi_release(event);
    }
    return true;
}

zepi_result_t zepi_buffer_note_host_write(const struct zepi_buffer_part *part)
{
    return note_buffer_write(part, ZEPI_PLACE_HOST);
}

zepi_result_t zepi_buffer_bring_home(struct zepi_buffer *buffer)
{
    void *address;
    zepi_result_t result;
    const struct zepi_buffer_part all = {buffer, 0, buffer->size_bytes};
    return place_has_all(&all, ZEPI_PLACE_HOST, &result)
               ? result
               : use_buffer_at_once(&all, buffer->context->devices[0], ZEPI_BUFFER_READ,
                                    ZEPI_BUFFER_AT_HOME, &address);
}

zepi_result_t zepi_buffer_get_address_of(const struct zepi_buffer_part *part,
                                         struct zepi_device *device, void **out_address)
{
    struct zepi_buffer *buffer = part->buffer;
    zepi_result_t result;
    if (buffer->fixed) {
        *out_address = (char *)buffer->fixed + part->offset_bytes;
        return ZEPI_SUCCESS;
    }
    const uint32_t place = zepi_buffer_place_of(buffer, device);
    if (!place_has_all(part, place, &result))
        return use_buffer_at_once(part, device, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE,
                                  out_address);
    if (result == ZEPI_SUCCESS)
        result = zepi_buffer_need_place(buffer, place);
    if (result == ZEPI_SUCCESS)
        result = note_buffer_write(part, place);
    if (result == ZEPI_SUCCESS)
        *out_address = (char *)buffer->places[place].memory + part->offset_bytes;
    return result;
}
