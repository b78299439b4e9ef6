// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_CAPTURE_H
#define ZEPI_QUEUE_CAPTURE_H

#include "core/mutex.h"
#include "core/object.h"
#include "memory/buffer.h"

struct zepi_capture;
struct zepi_queue;

// A queue in capture mode does not execute commands: they become commands of a graph. A layer above
// has the graph (graph/capture/capture.h); queues and events know this part of it.
//
// A capture begins on one queue, and takes in every queue of the same device that is told to wait
// for an event of it. The frame of a command (submit.h) finds out: it returns ZEPI_CAPTURED where a
// command is to be captured, and its caller then describes the command to zepi_capture_command.
#define ZEPI_CAPTURED ((zepi_result_t)0x7ffd)

// Commands that are captured, and those of graphs.
enum zepi_command_kind {
    ZEPI_COMMAND_MARKER,  // or a hint without a counterpart
    ZEPI_COMMAND_BARRIER, // holds up all later commands of its queue
    ZEPI_COMMAND_COPY,
    ZEPI_COMMAND_COPY_RECT,
    ZEPI_COMMAND_COPY_IMAGE,
    ZEPI_COMMAND_FILL,
    ZEPI_COMMAND_PREFETCH,
    ZEPI_COMMAND_ADVISE,
    ZEPI_COMMAND_LAUNCH,
    ZEPI_COMMAND_NATIVE,
};

// A command that was checked as if it were to be executed. Borrowed for one call. Begins the
// structure in which its layer describes it.
struct zepi_captured_command {
    enum zepi_command_kind kind;
};

struct zepi_capture_functions {
    // As a command is enqueued. Under no lock.
    zepi_result_t (*command)(struct zepi_capture *capture, struct zepi_queue *queue,
                             const struct zepi_captured_command *command, zepi_wait_list_t wait,
                             zepi_event_t *out_event);
    // The graph keeps the object. `part`: the part of a buffer that its commands use, or NULL.
    zepi_result_t (*keep)(struct zepi_capture *capture, void *object,
                          const struct zepi_buffer_part *part);
    // The list that a host's function records to at this moment; NULL: none.
    ze_command_list_handle_t (*get_list)(struct zepi_capture *capture);
    // The queue is being destroyed. The capture that it began is over.
    void (*leave)(struct zepi_queue *queue);
};

// Events of captured commands hold the capture that they are of. Begins the structure of the layer
// above.
struct zepi_capture {
    struct zepi_object object;
    const struct zepi_capture_functions *functions;
    const struct zepi_queue *origin; // borrowed, to be compared: where it began
    const struct zepi_device *device;
    const struct zepi_context *context;
    atomic_bool is_over; // never goes back
    // Guards the members below, and those of the layer above; under a queue's mutex. Allocation and
    // the graph's mutex under it.
    struct zepi_mutex mutex;
    bool is_invalid; // part of something was captured, and the rest failed
};

static inline bool zepi_capture_is_over(const struct zepi_capture *capture)
{
    // Acquire: the graph as the last command left it.
    return atomic_load_explicit(&capture->is_over, memory_order_acquire);
}

#endif
