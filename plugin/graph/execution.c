// SPDX-License-Identifier: MIT
#include "graph/execution.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "graph/list_run.h"
#include "queue/submit.h"
#include "ze/ze.h"

static const struct zepi_ze_optional *execution_optional(const struct zepi_submit *submit)
{
    return &submit->queue->device->platform->optional;
}

static ze_result_t execution_call_append(const struct zepi_ze_optional *optional,
                                         const struct zepi_recording *recording,
                                         ze_command_list_handle_t list, ze_event_handle_t signal,
                                         uint32_t wait_count, ze_event_handle_t *waits)
{
    return optional->append_command_lists
               ? optional->append_command_lists(list, recording->list_count, recording->lists,
                                                signal, wait_count, waits)
               : optional->append_lists_with_parameters(list, recording->list_count,
                                                        recording->lists, NULL, signal, wait_count,
                                                        waits);
}

// Under the queue's mutex. The function came from the driver, and takes its handles.
static ze_result_t execution_append_by_driver(const struct zepi_recording *recording,
                                              const struct zepi_submit *submit)
{
    ze_event_handle_t inline_waits[ZEPI_QUEUE_WAITS];
    ze_event_handle_t *waits = inline_waits;
    if (submit->wait_count > ZEPI_QUEUE_WAITS)
        waits = zepi_allocate(submit->wait_count, sizeof(waits[0]));
    if (!waits)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < submit->wait_count; i++)
        waits[i] = zepi_ze_driver_handle(ZEL_HANDLE_EVENT, submit->waits[i]);
    const ze_event_handle_t signal =
        submit->signal ? zepi_ze_driver_handle(ZEL_HANDLE_EVENT, submit->signal) : NULL;
    const ze_result_t ze =
        execution_call_append(execution_optional(submit), recording, submit->queue_list->driver_ze,
                              signal, submit->wait_count, submit->wait_count > 0 ? waits : NULL);
    if (waits != inline_waits)
        zepi_free(waits);
    return ze;
}

static zepi_result_t execution_append(const struct zepi_recording *recording,
                                      struct zepi_queue *queue, zepi_wait_list_t wait,
                                      zepi_event_t *out_event)
{
    struct zepi_submit submit;
    const zepi_result_t result =
        zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_ze_optional *optional = execution_optional(&submit);
    const ze_result_t ze =
        zepi_ze_appends_by_driver(optional)
            ? execution_append_by_driver(recording, &submit)
            : execution_call_append(optional, recording, submit.list, submit.signal,
                                    submit.wait_count, submit.waits);
    return zepi_submit_end(
        &submit, zepi_check_ze(ze, "zeCommandListImmediateAppendCommandListsExp"), out_event);
}

// The buffers that move are brought to the device first.
static __attribute__((noinline)) zepi_result_t
execution_move(const struct zepi_recording *recording, struct zepi_buffer_uses *uses)
{
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < recording->move_count && result == ZEPI_SUCCESS; i++)
        result = zepi_buffer_use(uses, &recording->moves[i].part, recording->moves[i].access,
                                 ZEPI_BUFFER_ON_DEVICE, &address);
    return result;
}

zepi_result_t zepi_recording_execute(struct zepi_recording *recording, struct zepi_queue *queue,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    zepi_event_t event = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    const bool moves = recording->move_count > 0;
    if (__builtin_expect(moves, 0)) {
        zepi_buffer_uses_init(&uses, queue, wait);
        result = execution_move(recording, &uses);
        wait = uses.wait;
    }
    if (result == ZEPI_SUCCESS)
        result = recording->run ? zepi_list_run_start(recording->run, queue, recording->list_count,
                                                      recording->lists, wait, &event)
                                : execution_append(recording, queue, wait, &event);
    if (__builtin_expect(moves, 0))
        zepi_buffer_uses_finish(&uses);
    if (recording->last)
        zepi_recording_release_event(recording, recording->last);
    recording->last = event;
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count(ZEPI_STAT_GRAPHS);
    if (out_event)
        *out_event = zepi_retain(event);
    return ZEPI_SUCCESS;
}
