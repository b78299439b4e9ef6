// SPDX-License-Identifier: MIT
#include "graph/recording.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "graph/list_run.h"
#include "graph/mutable_launch.h"
#include "graph/recorder.h"
#include "memory/usm.h"
#include "queue/command_list.h"
#include "queue/event.h"
#include "queue/progress.h"
#include "ze/ze.h"

// ---- Lists and events ----

static const struct zepi_ze_optional *recording_optional(const struct zepi_recording *recording)
{
    return &recording->uses.device->platform->optional;
}

zepi_result_t zepi_recording_create(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_recording **out_recording)
{
    struct zepi_recording *recording = zepi_allocate(1, sizeof(*recording));
    if (!recording)
        return zepi_fail_no_memory();
    recording->uses.context = context;
    recording->uses.device = device;
    recording->uses.device_index = zepi_context_device_index(context, device);
    *out_recording = recording;
    return ZEPI_SUCCESS;
}

static const void *recording_extension(const struct zepi_recording *recording)
{
    return recording->is_mutable ? &zepi_mutable_list_desc : NULL;
}

// Nothing of it runs: gives its lists to the next recording.
static void recording_give_lists(struct zepi_recording *recording)
{
    for (uint32_t i = 0; i < recording->own_count; i++)
        zepi_closed_list_give(recording->uses.context, recording->uses.device,
                              recording_extension(recording), recording->own[i]);
    recording->own_count = 0;
}

static void recording_destroy_lists(struct zepi_recording *recording)
{
    for (uint32_t i = 0; i < recording->own_count; i++)
        zepi_ze.zeCommandListDestroy(recording->own[i]);
    recording->own_count = 0;
}

static void recording_destroy_events(struct zepi_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++) {
        if (recording->events[i])
            zepi_ze.zeEventDestroy(recording->events[i]);
    }
    if (recording->pool)
        zepi_ze.zeEventPoolDestroy(recording->pool);
    zepi_free(recording->events);
    recording->events = NULL;
    recording->event_count = 0;
    recording->pool = NULL;
}

static void recording_destroy_deferred(struct zepi_deferred *deferred)
{
    struct zepi_recording *recording = (struct zepi_recording *)deferred;
    zepi_list_run_destroy(recording->run); // waits
    recording_destroy_lists(recording);
    recording_destroy_events(recording);
    zepi_free(recording->own);
    zepi_free(recording->mutable_ids);
    zepi_free(recording->replaced);
    zepi_free(recording);
}

static void release_kept_queues(struct zepi_recording *recording)
{
    struct zepi_queue *next;
    for (struct zepi_queue *queue = recording->kept_queues; queue; queue = next) {
        next = queue->next_kept;
        zepi_release(queue);
    }
}

void zepi_recording_destroy(struct zepi_recording *recording)
{
    if (!recording)
        return;
    const bool is_over = zepi_recording_wait_for_run(recording) == ZEPI_SUCCESS;
    if (is_over && zepi_recording_ask_idle(recording) == ZEPI_SUCCESS)
        recording_give_lists(recording);
    zepi_release(recording->last);
    release_kept_queues(recording);
    zepi_recorded_uses_finish(&recording->uses);
    zepi_free(recording->moves);
    recording->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    recording->deferred.run = recording_destroy_deferred;
    zepi_defer(recording->uses.context, &recording->deferred);
}

void zepi_recording_release_event(struct zepi_recording *recording, zepi_event_t event)
{
    struct zepi_queue *queue = zepi_retain(event->queue);
    zepi_release(event);
    if (zepi_release_unless_last(queue))
        return;
    queue->next_kept = recording->kept_queues;
    recording->kept_queues = queue;
}

// Nothing submits to a kept queue any more: an idle one stays idle.
static void release_idle_queues(struct zepi_recording *recording)
{
    struct zepi_queue **at = &recording->kept_queues;
    while (*at) {
        struct zepi_queue *queue = *at;
        if (zepi_queue_poll(queue)) {
            *at = queue->next_kept;
            zepi_release(queue);
        } else {
            at = &queue->next_kept;
        }
    }
}

zepi_result_t zepi_recording_ask_last(struct zepi_recording *recording)
{
    zepi_event_status_t status;
    const zepi_result_t result = zepi_event_ask_status(recording->last, &status);
    if (result != ZEPI_SUCCESS)
        return result;
    if (status != ZEPI_EVENT_COMPLETE)
        return ZEPI_ERROR_NOT_READY;
    zepi_recording_release_event(recording, recording->last);
    recording->last = NULL;
    if (recording->kept_queues)
        release_idle_queues(recording);
    return ZEPI_SUCCESS;
}

void zepi_recording_clear(struct zepi_recording *recording)
{
    bool is_reset = true;
    recording->version = 0;
    is_reset = zepi_recording_wait_for_run(recording) == ZEPI_SUCCESS;
    for (uint32_t i = 0; i < recording->own_count && is_reset; i++)
        is_reset = zepi_ze.zeCommandListReset(recording->own[i]) == ZE_RESULT_SUCCESS;
    if (!is_reset)
        recording_destroy_lists(recording);
    zepi_recorded_uses_release(&recording->uses);
    recording->move_count = 0;
}

// ---- Recording ----

static zepi_result_t recording_add_move(struct zepi_recording *recording,
                                        const struct zepi_buffer_part *part,
                                        enum zepi_buffer_access access)
{
    if (!part->buffer || part->buffer->fixed)
        return ZEPI_SUCCESS;
    struct zepi_recording_move *moves = zepi_grow(recording->moves, recording->move_count,
                                                  &recording->move_capacity, sizeof(moves[0]));
    if (!moves)
        return zepi_fail_no_memory();
    recording->moves = moves;
    moves[recording->move_count++] = (struct zepi_recording_move){*part, access};
    return ZEPI_SUCCESS;
}

// The buffers of a command, with its launch as it is recorded.
static zepi_result_t recording_add_moves(struct zepi_recording *recording,
                                         const struct zepi_graph_command *command)
{
    const struct zepi_launch_record *record = recording->uses.launches[command->number];
    const struct zepi_graph_memory *memory = command->transfer ? command->transfer->memory : NULL;
    const uint32_t use_count = record ? record->launch.use_count : 0;
    zepi_result_t result = ZEPI_SUCCESS;
    if (memory)
        result = recording_add_move(recording, &memory[1].part, ZEPI_BUFFER_READ);
    if (memory && result == ZEPI_SUCCESS)
        result = recording_add_move(recording, &memory[0].part, ZEPI_BUFFER_WRITE);
    for (uint32_t i = 0; i < use_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_arg_use *use = &record->launch.uses[i];
        result = recording_add_move(recording, &use->part, use->access);
    }
    return result;
}

// In a graph that is not in order.
static bool needs_event(const struct zepi_graph_command *command)
{
    return command->is_awaited && command->kind != ZEPI_COMMAND_NATIVE;
}

static zepi_result_t recording_create_event(struct zepi_recording *recording, uint32_t index,
                                            ze_event_handle_t *out_event)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_DEVICE,
                                  .wait = ZE_EVENT_SCOPE_FLAG_DEVICE};
    ze_event_handle_t event;
    const zepi_result_t result = ZEPI_ZE(zeEventCreate, recording->pool, &desc, &event);
    if (result == ZEPI_SUCCESS)
        *out_event = event;
    return result;
}

static zepi_result_t recording_create_events(struct zepi_recording *recording,
                                             const struct zepi_graph_commands *commands)
{
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
    ze_device_handle_t device = recording->uses.device->ze;
    ze_event_pool_handle_t pool;
    for (size_t i = 0; i < commands->count; i++)
        desc.count += needs_event(commands->list[i]) ? 1 : 0;
    recording->events = zepi_allocate(commands->count, sizeof(recording->events[0]));
    if (!recording->events)
        return zepi_fail_no_memory();
    recording->event_count = commands->count;
    if (desc.count == 0)
        return ZEPI_SUCCESS;
    zepi_result_t result =
        ZEPI_ZE(zeEventPoolCreate, recording->uses.context->ze, &desc, 1, &device, &pool);
    if (result == ZEPI_SUCCESS)
        recording->pool = pool;
    uint32_t index = 0;
    for (size_t i = 0; i < commands->count && result == ZEPI_SUCCESS; i++) {
        if (needs_event(commands->list[i]))
            result = recording_create_event(recording, index++, &recording->events[i]);
    }
    return result;
}

// The next list to record to.
static zepi_result_t recording_open_list(struct zepi_recording *recording, uint32_t index,
                                         ze_command_list_handle_t *out_list)
{
    if (index == recording->own_count) {
        const zepi_result_t result =
            zepi_closed_list_take(recording->uses.context, recording->uses.device,
                                  recording_extension(recording), &recording->own[index]);
        if (result != ZEPI_SUCCESS)
            return result;
        recording->own_count++;
    }
    *out_list = recording->own[index];
    return ZEPI_SUCCESS;
}

static zepi_result_t recording_append_barrier(ze_command_list_handle_t list)
{
    return ZEPI_ZE(zeCommandListAppendBarrier, list, NULL, 0, NULL);
}

static void recording_add_list(struct zepi_recording *recording, ze_command_list_handle_t list)
{
    recording->lists[recording->list_count++] =
        zepi_ze_appends_by_driver(recording_optional(recording))
            ? zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, list)
            : list;
}

static zepi_result_t recording_close_list(struct zepi_recording *recording,
                                          ze_command_list_handle_t list)
{
    const zepi_result_t result = ZEPI_ZE(zeCommandListClose, list);
    if (result == ZEPI_SUCCESS)
        recording_add_list(recording, list);
    return result;
}

// All commands before it, then the host's, then all after it.
static zepi_result_t recording_add_native(struct zepi_recording *recording,
                                          const struct zepi_graph_command *command,
                                          uint32_t *next_list, ze_command_list_handle_t *list)
{
    zepi_result_t result = recording_append_barrier(*list);
    if (result == ZEPI_SUCCESS)
        result = recording_close_list(recording, *list);
    if (result != ZEPI_SUCCESS)
        return result;
    recording_add_list(recording, command->native->ze);
    result = recording_open_list(recording, (*next_list)++, list);
    return result == ZEPI_SUCCESS ? recording_append_barrier(*list) : result;
}

// After everything else: the next execution finds the events as this one did.
static zepi_result_t recording_reset_events(const struct zepi_recording *recording,
                                            ze_command_list_handle_t list)
{
    zepi_result_t result = recording->pool ? recording_append_barrier(list) : ZEPI_SUCCESS;
    for (size_t i = 0; i < recording->event_count && result == ZEPI_SUCCESS; i++) {
        if (recording->events[i])
            result = ZEPI_ZE(zeCommandListAppendEventReset, list, recording->events[i]);
    }
    return result;
}

// The events that a command waits for and no barrier before it has waited for.
static void recording_list_waits(const struct zepi_recording *recording,
                                 const struct zepi_graph_command *command, bool is_in_order,
                                 size_t since, struct zepi_recorder *recorder)
{
    recorder->wait_count = 0;
    for (uint32_t i = 0; i < command->wait_count && !is_in_order; i++) {
        if (command->waits[i] >= since)
            recorder->waits[recorder->wait_count++] = recording->events[command->waits[i]];
    }
}

static zepi_result_t recording_record_all(struct zepi_recording *recording,
                                          const struct zepi_graph_commands *commands)
{
    struct zepi_recorder recorder = {.uses = &recording->uses, .waits = recording->waits};
    uint32_t next_list = 0;
    size_t since = 0; // the first command behind the last barrier of a native one
    recording->list_count = 0;
    recording->move_count = 0;
    zepi_result_t result = recording_open_list(recording, next_list++, &recorder.list);
    if (result == ZEPI_SUCCESS && recording->is_mutable)
        recording->mutable_list = recorder.mutable_list =
            zepi_mutable_handle(recording->uses.device, ZEL_HANDLE_COMMAND_LIST, recorder.list);
    for (size_t i = 0; i < commands->kept_count && result == ZEPI_SUCCESS; i++)
        result = recording_add_move(recording, &commands->kept[i].part, ZEPI_BUFFER_WRITE);
    for (size_t i = 0; i < commands->count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_graph_command *command = commands->list[i];
        if (command->kind == ZEPI_COMMAND_NATIVE) {
            result = recording_add_native(recording, command, &next_list, &recorder.list);
            since = i + 1;
            continue;
        }
        if (commands->is_in_order && i > since)
            result = recording_append_barrier(recorder.list);
        recording_list_waits(recording, command, commands->is_in_order, since, &recorder);
        recorder.signal = recording->events ? recording->events[i] : NULL;
        if (recording->is_mutable) {
            recording->mutable_ids[i] = 0;
            recorder.out_id = &recording->mutable_ids[i];
        }
        if (result == ZEPI_SUCCESS)
            result = recording_add_moves(recording, command);
        if (result == ZEPI_SUCCESS)
            result = zepi_record_command(&recorder, command);
    }
    if (result == ZEPI_SUCCESS)
        result = recording_reset_events(recording, recorder.list);
    if (result == ZEPI_SUCCESS)
        result = recording_close_list(recording, recorder.list);
    return result;
}

// Whether a kernel may be refused in a mutable list alone (quirk mutable-refuses-implicit). Nothing
// in the graph's lists is mutable then.
static bool recording_is_refused(const struct zepi_recording *recording, zepi_result_t result)
{
    return recording->is_mutable && result != ZEPI_SUCCESS &&
           result != ZEPI_ERROR_OUT_OF_HOST_MEMORY && result != ZEPI_ERROR_OUT_OF_DEVICE_MEMORY &&
           result != ZEPI_ERROR_DEVICE_LOST;
}

static bool recording_allocate_lists(struct zepi_recording *recording,
                                     const struct zepi_graph_commands *commands)
{
    const size_t most = commands->native_count + 1;
    ze_command_list_handle_t *own = zepi_allocate(
        1, 3 * most * sizeof(own[0]) + commands->most_waits * sizeof(recording->waits[0]));
    if (!own)
        return false;
    recording->own = own;
    recording->lists = own + most;
    recording->waits = (ze_event_handle_t *)(recording->lists + 2 * most);
    return true;
}

// The parts that stay from one recording to the next.
static zepi_result_t recording_make_parts(struct zepi_recording *recording,
                                          const struct zepi_graph_commands *commands)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (!recording->own && !recording_allocate_lists(recording, commands))
        return zepi_fail_no_memory();
    if (recording->is_mutable && !recording->mutable_ids)
        recording->mutable_ids = zepi_allocate(commands->count, sizeof(recording->mutable_ids[0]));
    if (recording->is_mutable && !recording->replaced)
        recording->replaced = zepi_allocate(commands->count, sizeof(recording->replaced[0]));
    if (recording->is_mutable && !(recording->mutable_ids && recording->replaced))
        return zepi_fail_no_memory();
    if (!recording->events && !commands->is_in_order)
        result = recording_create_events(recording, commands);
    if (result != ZEPI_SUCCESS)
        recording_destroy_events(recording);
    if (result == ZEPI_SUCCESS && !recording->run &&
        !zepi_ze_appends_lists(recording_optional(recording)))
        result =
            zepi_list_run_create(recording->uses.context, recording->uses.device, &recording->run);
    return result;
}

zepi_result_t zepi_recording_record(struct zepi_recording *recording,
                                    const struct zepi_graph_commands *commands, uint64_t version)
{
    zepi_result_t result = recording_make_parts(recording, commands);
    const bool has_parts = result == ZEPI_SUCCESS;
    if (has_parts)
        result = recording_record_all(recording, commands);
    if (has_parts && recording_is_refused(recording, result)) {
        recording->is_mutable = false;
        recording_destroy_lists(recording);
        result = recording_record_all(recording, commands);
    }
    if (result != ZEPI_SUCCESS) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_recording_clear(recording);
        zepi_error_restore(&error);
        return result;
    }
    recording->version = version;
    return ZEPI_SUCCESS;
}
