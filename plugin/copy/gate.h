// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_GATE_H
#define ZEPI_COPY_GATE_H

#include "device/device.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "queue/submit.h"

// The frame around every copy: that of a command (queue/submit.h), and a gate for copies from or to
// memory that zepi did not allocate, on drivers with the quirk early-copies.
//
// A gated copy waits for an event of the host's, the gate, which zepi_copy_end signals: once the
// copy is appended, and before anything that may wait for the copy. Without it,
// - the driver reads the source while it appends, before the commands that come before in the queue
//   have written it, and waits for a copy to such memory (quirk early-copies);
// - another thread that sees the copy complete releases the driver's mapping of the memory, which
//   the appending thread still uses (quirk hasty-release);
// - mappings of rectangles and images go while the copy waits, in lists that keep their order,
//   unless a barrier comes before (quirk forgotten-rectangles).
//
// Two kinds of copies of bytes need no gate. A variable of a module, and some other memory of
// devices (quirk processor-copies), is copied by the processor, while the copy is appended, and
// would wait for the gate: all that comes before is waited for first. A source of the host's, with
// nothing before the copy, is read at once: up to 4 MiB go to USM first, which needs no mapping
// either.

struct zepi_copy {
    struct zepi_submit submit;
    const void *source;      // to copy from
    struct zepi_event *gate; // a reference; NULL: it needs none
    void *staged;            // USM with the source's bytes; owned; NULL: none
};

// Whether the driver has the quirk, for copies of memory that it did not allocate.
static inline bool zepi_queue_copies_early(const struct zepi_queue *queue)
{
    return queue->device->platform->quirks.bits & ZEPI_QUIRK_EARLY_COPIES;
}

// Whether zepi did not allocate one of both, and the driver has the quirk. NULL: an image.
static inline bool zepi_copy_is_gated(const struct zepi_queue *queue, const void *destination,
                                      const void *source)
{
    const struct zepi_context *context = queue->context;
    return __builtin_expect(((source && !zepi_usm_is_known_inside(context, source, 1)) ||
                             (destination && !zepi_usm_is_known_inside(context, destination, 1))) &&
                                zepi_queue_copies_early(queue),
                            0);
}

zepi_result_t zepi_copy_begin_gated(struct zepi_copy *copy, struct zepi_queue *queue,
                                    zepi_wait_list_t wait, const zepi_event_t *out_event,
                                    enum zepi_engine engine, const void *destination,
                                    size_t size_bytes) __attribute__((cold, noinline));
zepi_result_t zepi_copy_end_gated(struct zepi_copy *copy, zepi_result_t appended,
                                  zepi_event_t *out_event) __attribute__((cold, noinline));

// zepi_submit_begin for a copy of bytes, or, if `size_bytes` is 0, of a rectangle or an image.
static inline zepi_result_t zepi_copy_begin(struct zepi_copy *copy, struct zepi_queue *queue,
                                            zepi_wait_list_t wait, const zepi_event_t *out_event,
                                            enum zepi_engine engine, const void *destination,
                                            const void *source, size_t size_bytes)
{
    copy->source = source;
    copy->gate = NULL;
    copy->staged = NULL;
    if (zepi_copy_is_gated(queue, destination, source))
        return zepi_copy_begin_gated(copy, queue, wait, out_event, engine, destination, size_bytes);
    return zepi_submit_begin(&copy->submit, queue, wait, out_event, engine);
}

// zepi_submit_end; opens the gate.
static inline zepi_result_t zepi_copy_end(struct zepi_copy *copy, zepi_result_t appended,
                                          zepi_event_t *out_event)
{
    return __builtin_expect(copy->gate || copy->staged, 0)
               ? zepi_copy_end_gated(copy, appended, out_event)
               : zepi_submit_end(&copy->submit, appended, out_event);
}

// For a copy that would be gated, and that its caller waits for: USM to copy to in place of memory
// of the host's, which the caller writes then. Owned (zepi_usm_put); NULL: the copy goes to the
// destination.
void *zepi_copy_stage_destination(struct zepi_queue *queue, const void *destination,
                                  const void *source, size_t size_bytes) __attribute__((cold));

#endif
