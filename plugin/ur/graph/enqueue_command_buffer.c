// SPDX-License-Identifier: MIT
// Replaying command buffers.
#include "core/alloc.h"
#include "launch/launch.h"
#include "queue/copy.h"
#include "queue/native_list.h"
#include "queue/submit.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"
#include "ur/graph/recorded_launch.h"
#include "ur/queue/launch.h"
#include "ur/queue/transfer.h"

struct replay {
    struct zepi_ur_command_buffer *buffer;
    struct zepi_queue *queue;
    bool keeps_order;      // the queue does
    zepi_wait_list_t wait; // of what comes first
    zepi_event_t *firsts;  // owned list of borrowed events: `wait`, with the last execution's event
    struct zepi_buffer_uses uses;
    zepi_event_t begin; // owned; NULL: none was needed
    zepi_event_t last;  // owned; of the whole execution
    ur_result_t result; // of a launch that failed, in Unified Runtime's words
    // Owned references; the launches at this moment. NULL: they never change.
    struct zepi_ur_recorded_launch **launches;
    // Queues of any order: an event for each command, owned references, and room to list them.
    zepi_event_t *events;
    zepi_event_t *waits;
};

static void replay_finish(struct replay *replay)
{
    const size_t count = replay->buffer->command_count;
    for (size_t i = 0; i < count && replay->launches; i++)
        zepi_ur_recorded_launch_release(replay->launches[i]);
    for (size_t i = 0; i < count && replay->events; i++)
        zepi_release(replay->events[i]);
    zepi_buffer_uses_finish(&replay->uses);
    zepi_release(replay->begin);
    zepi_release(replay->last);
    zepi_free(replay->firsts);
    zepi_free(replay->launches);
    zepi_free(replay->events);
    zepi_free(replay->waits);
}

// An update changes all launches that it is about before this, or none.
static bool take_launches(struct replay *replay)
{
    struct zepi_ur_command_buffer *buffer = replay->buffer;
    replay->launches =
        zepi_allocate(buffer->command_count, sizeof(struct zepi_ur_recorded_launch *));
    if (!replay->launches)
        return false;
    zepi_mutex_lock(&buffer->mutex);
    for (size_t i = 0; i < buffer->command_count; i++)
        replay->launches[i] = zepi_ur_recorded_launch_retain(buffer->commands[i]->launch);
    zepi_mutex_unlock(&buffer->mutex);
    return true;
}

static zepi_result_t replay_init(struct replay *replay, struct zepi_ur_command_buffer *buffer,
                                 const struct zepi_ur_command *command)
{
    const size_t count = buffer->command_count;
    *replay = (struct replay){.buffer = buffer,
                              .queue = command->queue,
                              .keeps_order = command->queue->flags & ZEPI_QUEUE_IN_ORDER,
                              .wait = command->wait};
    zepi_buffer_uses_init(&replay->uses, command->queue, command->wait);
    bool has_memory = !buffer->is_updatable || take_launches(replay);
    if (has_memory && !replay->keeps_order) {
        replay->events = zepi_allocate(count, sizeof(zepi_event_t));
        replay->waits = zepi_allocate(count > buffer->most_waits ? count : buffer->most_waits,
                                      sizeof(zepi_event_t));
        has_memory = replay->events && replay->waits;
    }
    if (has_memory)
        return ZEPI_SUCCESS;
    replay_finish(replay);
    return zepi_fail_no_memory();
}

static const struct zepi_ur_recorded_launch *launch_at(const struct replay *replay, size_t index)
{
    return replay->launches ? replay->launches[index] : replay->buffer->commands[index]->launch;
}

// Brings the buffers of all commands to the device, where these were recorded for.
static zepi_result_t use_buffers(struct replay *replay)
{
    struct zepi_buffer_uses *uses = &replay->uses;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < replay->buffer->command_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_ur_recorded *recorded = replay->buffer->commands[i];
        const struct zepi_ur_recorded_launch *launch = launch_at(replay, i);
        result = zepi_ur_use_mem(uses, recorded->mems[1], ZEPI_BUFFER_READ);
        if (result == ZEPI_SUCCESS)
            result = zepi_ur_use_mem(uses, recorded->mems[0], ZEPI_BUFFER_WRITE);
        for (uint32_t j = 0; launch && j < launch->desc.argument_count && result == ZEPI_SUCCESS;
             j++) {
            if (zepi_object_is(launch->held[j], &zepi_ur_mem_type))
                result = zepi_ur_use_mem(uses, launch->held[j], ZEPI_BUFFER_WRITE);
        }
    }
    replay->wait = uses->wait;
    return result;
}

static zepi_result_t launch(struct replay *replay, size_t index, zepi_wait_list_t wait,
                            zepi_event_t *out_event)
{
    const struct zepi_ur_recorded_launch *launch = launch_at(replay, index);
    const struct zepi_launch asked = zepi_launch_of(&launch->desc, wait, out_event);
    const zepi_result_t result = zepi_launch_kernel(replay->queue, launch->kernel, &asked);
    if (result != ZEPI_SUCCESS)
        replay->result = zepi_ur_fail_launch(result, launch->kernel, replay->queue->context,
                                             replay->queue->device, &asked);
    return result;
}

static zepi_result_t enqueue(struct replay *replay, size_t index, zepi_wait_list_t wait,
                             zepi_event_t *out_event)
{
    struct zepi_queue *queue = replay->queue;
    const struct zepi_ur_recorded *recorded = replay->buffer->commands[index];
    switch (recorded->kind) {
    case ZEPI_UR_RECORDED_COPY:
        return zepi_queue_copy(queue, recorded->to, recorded->from, recorded->size_bytes, wait,
                               out_event);
    case ZEPI_UR_RECORDED_COPY_RECT:
        return zepi_queue_copy_rect(queue, recorded->to, &recorded->to_rect, recorded->from,
                                    &recorded->from_rect, recorded->box, wait, out_event);
    case ZEPI_UR_RECORDED_FILL:
        return zepi_queue_fill_any(queue, recorded->to, recorded->pattern,
                                   recorded->pattern_size_bytes, recorded->size_bytes, wait,
                                   out_event);
    case ZEPI_UR_RECORDED_PREFETCH:
        return zepi_ur_prefetch(queue, recorded->from, recorded->size_bytes, recorded->flags, wait,
                                out_event);
    case ZEPI_UR_RECORDED_ADVISE:
        return zepi_ur_advise(queue, recorded->from, recorded->size_bytes, recorded->flags, wait,
                              out_event);
    case ZEPI_UR_RECORDED_LAUNCH:
        return launch(replay, index, wait, out_event);
    case ZEPI_UR_RECORDED_NATIVE:
        return zepi_queue_run_native(queue, recorded->native, wait, out_event);
    }
    return ZEPI_SUCCESS;
}

// The queue keeps the order: only the first command waits, only the last has an event.
static zepi_result_t enqueue_in_order(struct replay *replay)
{
    const size_t count = replay->buffer->command_count;
    const zepi_wait_list_t none = {NULL, 0};
    zepi_result_t result = ZEPI_SUCCESS;
    if (count == 0)
        return zepi_queue_marker(replay->queue, replay->wait, &replay->last);
    for (size_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result =
            enqueue(replay, i, i == 0 ? replay->wait : none, i == count - 1 ? &replay->last : NULL);
    return result;
}

// What a command of a queue of any order waits for.
static zepi_wait_list_t list_waits(const struct replay *replay, size_t index)
{
    const struct zepi_ur_recorded *recorded = replay->buffer->commands[index];
    if (replay->buffer->is_in_order && index > 0)
        return (zepi_wait_list_t){&replay->events[index - 1], 1};
    if (recorded->wait_count == 0)
        return replay->wait;
    for (uint32_t i = 0; i < recorded->wait_count; i++)
        replay->waits[i] = replay->events[recorded->waits[i]];
    return (zepi_wait_list_t){replay->waits, recorded->wait_count};
}

// The execution ends with the commands that no other waits for.
static zepi_result_t enqueue_end(struct replay *replay)
{
    uint32_t count = 0;
    for (size_t i = 0; i < replay->buffer->command_count; i++) {
        if (!replay->buffer->commands[i]->is_awaited)
            replay->waits[count++] = replay->events[i];
    }
    if (count == 1) {
        replay->last = zepi_retain(replay->waits[0]);
        return ZEPI_SUCCESS;
    }
    return zepi_queue_marker(replay->queue,
                             count ? (zepi_wait_list_t){replay->waits, count} : replay->wait,
                             &replay->last);
}

static zepi_result_t enqueue_in_any_order(struct replay *replay)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < replay->buffer->command_count && result == ZEPI_SUCCESS; i++)
        result = enqueue(replay, i, list_waits(replay, i), &replay->events[i]);
    return result == ZEPI_SUCCESS ? enqueue_end(replay) : result;
}

// A command of its own before the others, where times are asked for, which begin then, or where the
// first command is one that the driver has no waiting for.
static zepi_result_t enqueue_begin(struct replay *replay, bool is_timed)
{
    const struct zepi_ur_command_buffer *buffer = replay->buffer;
    const bool is_hint = replay->wait.count > 0 && buffer->command_count > 0 &&
                         buffer->commands[0]->kind == ZEPI_UR_RECORDED_ADVISE;
    if (!is_timed && !(is_hint && replay->keeps_order))
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_queue_marker(replay->queue, replay->wait, &replay->begin);
    if (result == ZEPI_SUCCESS)
        replay->wait = (zepi_wait_list_t){&replay->begin, 1};
    return result;
}

// The execution waits for the one before it, too.
static zepi_result_t follow(struct replay *replay, zepi_event_t before)
{
    const zepi_wait_list_t wait = replay->wait;
    if (!before || !zepi_event_must_be_awaited(before, replay->queue))
        return ZEPI_SUCCESS;
    replay->firsts = zepi_allocate((size_t)wait.count + 1, sizeof(zepi_event_t));
    if (!replay->firsts)
        return zepi_fail_no_memory();
    if (wait.count > 0)
        memcpy(replay->firsts, wait.events, wait.count * sizeof(zepi_event_t));
    replay->firsts[wait.count] = before;
    replay->wait = (zepi_wait_list_t){replay->firsts, wait.count + 1};
    return ZEPI_SUCCESS;
}

static zepi_result_t enqueue_all(struct replay *replay, bool is_timed)
{
    struct zepi_ur_command_buffer *buffer = replay->buffer;
    zepi_mutex_lock(&buffer->turn);
    zepi_result_t result = use_buffers(replay);
    if (result == ZEPI_SUCCESS)
        result = follow(replay, buffer->last);
    if (result == ZEPI_SUCCESS)
        result = enqueue_begin(replay, is_timed);
    if (result == ZEPI_SUCCESS)
        result = replay->keeps_order ? enqueue_in_order(replay) : enqueue_in_any_order(replay);
    if (result == ZEPI_SUCCESS && is_timed)
        zepi_event_set_begin(replay->last, replay->begin);
    zepi_event_t before = NULL;
    if (result == ZEPI_SUCCESS) {
        before = buffer->last;
        buffer->last = zepi_retain(replay->last);
    }
    zepi_mutex_unlock(&buffer->turn);
    zepi_release(before);
    return result;
}

static ur_result_t check(ur_exp_command_buffer_handle_t handle, const struct zepi_queue *queue)
{
    const ur_result_t result = zepi_ur_check_command_buffer(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(handle);
    zepi_mutex_lock(&buffer->mutex);
    const bool is_finalized = buffer->is_finalized;
    zepi_mutex_unlock(&buffer->mutex);
    if (!is_finalized)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the command buffer was not finalized yet");
    if (queue->context != buffer->context || queue->device != buffer->device)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE,
                              "the queue is of another context or device than the command buffer");
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urEnqueueCommandBufferExp(ur_queue_handle_t hQueue,
                                           ur_exp_command_buffer_handle_t hCommandBuffer,
                                           uint32_t numEventsInWaitList,
                                           const ur_event_handle_t *phEventWaitList,
                                           ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct replay replay;
    ur_result_t result = zepi_ur_command_begin(&command, hQueue, false, numEventsInWaitList,
                                               phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = check(hCommandBuffer, command.queue);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_result_t done = replay_init(&replay, zepi_ur_command_buffer(hCommandBuffer), &command);
    if (done != ZEPI_SUCCESS)
        return zepi_ur_fail(done);
    done = enqueue_all(&replay, phEvent && (command.queue->flags & ZEPI_QUEUE_PROFILING));
    if (done == ZEPI_SUCCESS && phEvent)
        command.event = zepi_retain(replay.last);
    result = replay.result != UR_RESULT_SUCCESS
                 ? replay.result
                 : zepi_ur_command_end(&command, done, UR_COMMAND_ENQUEUE_COMMAND_BUFFER_EXP);
    if (result == UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST)
        result = zepi_ur_wrong_wait_list(command.queue, command.wait);
    replay_finish(&replay);
    return result;
}
