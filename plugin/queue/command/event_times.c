// SPDX-License-Identifier: MIT
#include "queue/command/event_times.h"

#include "core/interface.h"
#include "device/device.h"
#include "queue/command_list.h"
#include "queue/event.h"
#include "queue/queue.h"
#include "ze/ze.h"

uint64_t zepi_timestamp_after(uint64_t mask, uint64_t ticks, uint64_t since)
{
    return since + ((ticks - since) & mask);
}

uint64_t zepi_timestamp_near(uint64_t mask, uint64_t ticks, uint64_t since)
{
    const uint64_t before = (since - ticks) & mask;
    return before <= mask / 16 && before <= since ? since - before
                                                  : zepi_timestamp_after(mask, ticks, since);
}

void zepi_event_set_begin(struct zepi_event *event, struct zepi_event *begin)
{
    if (event->cache)
        zepi_event_note_list(event, event->cache->list);
    event->cache = NULL;
    zepi_release(event->begin);
    event->begin = zepi_retain(begin);
    event->submit_ns = begin->submit_ns;
}

zepi_result_t zepi_event_get_submit_ticks(struct zepi_event *event, uint64_t *out_ticks)
{
    uint64_t ticks = atomic_load_explicit(&event->submit_ticks, memory_order_relaxed);
    if (ticks == 0) {
        uint64_t found;
        const zepi_result_t result =
            zepi_device_ticks_at(event->queue->device, event->submit_ns, &found);
        if (result != ZEPI_SUCCESS)
            return result;
        // Of several threads, the first one decides: every query gets the same value.
        if (atomic_compare_exchange_strong_explicit(&event->submit_ticks, &ticks, found,
                                                    memory_order_relaxed, memory_order_relaxed))
            ticks = found;
    }
    *out_ticks = ticks;
    return ZEPI_SUCCESS;
}

// When the command was submitted, began and ended, in ticks, of an event that is complete.
static zepi_result_t read_event_times(struct zepi_event *event, uint64_t *out_submit,
                                      uint64_t *out_start, uint64_t *out_end)
{
    ze_kernel_timestamp_result_t stamps;
    const uint64_t mask = event->queue->device->timestamp_mask;
    zepi_result_t result = ZEPI_ZE(zeEventQueryKernelTimestamp, event->ze, &stamps);
    if (result == ZEPI_SUCCESS)
        result = zepi_event_get_submit_ticks(event, out_submit);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_start = zepi_timestamp_near(mask, stamps.global.kernelStart, *out_submit);
    *out_end = zepi_timestamp_after(mask, stamps.global.kernelEnd, *out_start);
    return ZEPI_SUCCESS;
}

static zepi_result_t fail_without_times(void)
{
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the event has no times: its queue was created without profiling, or "
                     "it is reusable and no queue has signalled it with times");
}

static bool is_timed(const struct zepi_event *event)
{
    return event->kind & ZEPI_EVENT_TIMED;
}

bool zepi_event_has_times(struct zepi_event *event)
{
    if (__builtin_expect(!event->is_reusable, 1))
        return is_timed(event);
    struct zepi_event *signal = zepi_event_take_signal(event);
    const bool has_times = is_timed(signal);
    zepi_release(signal);
    return has_times;
}

zepi_result_t zepi_event_get_submit_ns(struct zepi_event *event, uint64_t *out_ns)
{
    uint64_t ticks = 0;
    struct zepi_event *signal = zepi_event_take_signal(event);
    const zepi_result_t result =
        is_timed(signal) ? zepi_event_get_submit_ticks(signal, &ticks) : fail_without_times();
    if (result == ZEPI_SUCCESS)
        *out_ns = zepi_device_ticks_to_ns(signal->queue->device, ticks);
    zepi_release(signal);
    return result;
}

// The times of an event that is not reusable.
static zepi_result_t event_get_own_times(struct zepi_event *event, zepi_event_times_t *out_times)
{
    uint64_t submit;
    uint64_t start;
    uint64_t end;
    zepi_event_status_t status;
    if (!is_timed(event))
        return fail_without_times();
    zepi_result_t result = zepi_event_get_status(event, &status);
    if (result != ZEPI_SUCCESS)
        return result;
    if (status != ZEPI_EVENT_COMPLETE)
        return zepi_fail(ZEPI_ERROR_NOT_READY, "the event is not complete");
    result = read_event_times(event, &submit, &start, &end);
    if (result == ZEPI_SUCCESS && event->begin) {
        uint64_t first;
        result = read_event_times(event->begin, &submit, &first, &start);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_device *device = event->queue->device;
    // The first event ends with the slowest tile of the device, and the last command may be another
    // tile's alone.
    if (start > end)
        start = end;
    // No command starts before it is submitted; the two clocks may differ.
    if (submit > start)
        submit = start;
    const zepi_event_times_t times = {.submit_ns = zepi_device_ticks_to_ns(device, submit),
                                      .start_ns = zepi_device_ticks_to_ns(device, start),
                                      .end_ns = zepi_device_ticks_to_ns(device, end)};
    return zepi_copy_info(out_times, &times, sizeof(times));
}

zepi_result_t zepi_event_get_times(zepi_event_t event, zepi_event_times_t *out_times)
{
    struct zepi_event *signal = zepi_event_take_signal(event);
    const zepi_result_t result = event_get_own_times(signal, out_times);
    zepi_release(signal);
    return result;
}
