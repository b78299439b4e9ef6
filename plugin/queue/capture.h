// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_CAPTURE_H
#define ZEPI_QUEUE_CAPTURE_H

#include "core/mutex.h"
#include "core/object.h"

struct zepi_buffer_part;
struct zepi_capture;
struct zepi_graph;
struct zepi_image_copy;
struct zepi_kernel;
struct zepi_launch;
struct zepi_layout;
struct zepi_queue;

// A queue in capture mode does not execute commands: they become commands of a graph. A layer above
// has the graph (graph/capture/capture.h); queues and events know this part of it.
//
// A capture begins on one queue, and takes in every queue of the same device that is told to wait
// for an event of it. The frame of a command (submit.h) finds out: it returns ZEPI_CAPTURED where a
// command is to be captured, and its caller then describes the command to zepi_capture_command.
#define ZEPI_CAPTURED ((zepi_result_t)0x7ffd)

enum zepi_captured_kind {
    ZEPI_CAPTURED_COPY,
    ZEPI_CAPTURED_COPY_RECT,
    ZEPI_CAPTURED_COPY_IMAGE,
    ZEPI_CAPTURED_FILL,
    ZEPI_CAPTURED_PREFETCH,
    ZEPI_CAPTURED_ADVISE,
    ZEPI_CAPTURED_LAUNCH,
    ZEPI_CAPTURED_MARKER,
    ZEPI_CAPTURED_BARRIER,
};

// A command that was checked as if it were to be executed. Borrowed for one call.
struct zepi_captured_command {
    enum zepi_captured_kind kind;
    void *to;
    const void *from; // memory of hints, too
    size_t size_bytes;
    const struct zepi_layout *to_layout;
    const struct zepi_layout *from_layout;
    const struct zepi_image_copy *image_copy;
    const void *pattern; // of any size
    size_t pattern_size_bytes;
    zepi_advice_t advice;
    struct zepi_kernel *kernel;
    const struct zepi_launch *launch; // not checked
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

// Events of captured commands hold the capture that they are of.
struct zepi_capture {
    struct zepi_object object;
    const struct zepi_capture_functions *functions;
    const struct zepi_queue *origin; // borrowed, to be compared: where it began
    const struct zepi_device *device;
    const struct zepi_context *context;
    atomic_bool is_over; // never goes back
    // Guards the members below; under a queue's mutex. Allocation and the graph's mutex under it.
    struct zepi_mutex mutex;
    struct zepi_graph *graph;  // retained until it is over
    void *owner;               // the same, of a front door
    bool is_invalid;           // part of something was captured, and the rest failed
    bool is_chain;             // each command waits for the one before
    struct zepi_queue **forks; // owned list of references: other queues
    size_t fork_count;
    size_t fork_capacity;
};

static inline bool zepi_capture_is_over(const struct zepi_capture *capture)
{
    // Acquire: the graph as the last command left it.
    return atomic_load_explicit(&capture->is_over, memory_order_acquire);
}

#endif
