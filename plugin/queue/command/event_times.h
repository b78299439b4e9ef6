// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_EVENT_TIMES_H
#define ZEPI_QUEUE_COMMAND_EVENT_TIMES_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

// Times of commands. A command's timestamps have fewer bits than the device's clock; `mask` has
// those.

// The first moment from `since` on whose low bits are those of `ticks`.
uint64_t zepi_timestamp_after(uint64_t mask, uint64_t ticks, uint64_t since);

// zepi_timestamp_after for two clocks that may be a little out of step: a moment shortly before
// `since` (by a sixteenth of the range) is taken for itself, not for one after the next wrap.
uint64_t zepi_timestamp_near(uint64_t mask, uint64_t ticks, uint64_t since);

// When the command of a timed event was submitted, on the device's clock. The host's clock was read
// then, since that costs little; it is converted at the first query (zepi_device_ticks_at).
zepi_result_t zepi_event_get_submit_ticks(struct zepi_event *event, uint64_t *out_ticks);
// The time of submission in nanoseconds, of a reusable event's last signal, too.
zepi_result_t zepi_event_get_submit_ns(struct zepi_event *event, uint64_t *out_ns);

// Whether its command, or the last signal of a reusable event, is a timed one.
bool zepi_event_has_times(struct zepi_event *event);

// An event of several commands: they began when that of `begin`, another timed one of the queue,
// was over. No other thread has the event yet.
void zepi_event_set_begin(struct zepi_event *event, struct zepi_event *begin);

zepi_result_t zepi_event_get_times(zepi_event_t event, zepi_event_times_t *out_times);

#endif
