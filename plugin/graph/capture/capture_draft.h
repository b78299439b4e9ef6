// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CAPTURE_CAPTURE_DRAFT_H
#define ZEPI_GRAPH_CAPTURE_CAPTURE_DRAFT_H

#include "graph/graph.h"
#include "queue/capture_command.h"

// A capture with its graph. The members are guarded by the capture's mutex.
struct zepi_capture_graph {
    union {
        struct zepi_object object;
        struct zepi_capture capture;
    };
    struct zepi_graph *graph; // retained until it is over
    void *owner;              // the same, of a front end
    bool is_chain;            // each command waits for the one before
    struct zepi_queue *forks; // owned list of references: other queues
};

static inline struct zepi_capture_graph *zepi_capture_graph_of(struct zepi_capture *capture)
{
    return (struct zepi_capture_graph *)capture;
}

// A command on its way into the graph of a capture: its waits and its place. On the stack
// of one call. Functions that end in _locked are called under the queue's and then the capture's
// mutex, the others under no lock.
struct zepi_capture_draft {
    struct zepi_capture *capture;
    struct zepi_queue *queue;
    struct zepi_graph *graph; // a reference, as the next
    struct zepi_graph_command *command;
    bool waits_for_all; // of its queue
    bool holds_up_all;
    uint32_t wait_count;
    uint32_t *waits;                    // owned: what its wait list has of the graph
    struct zepi_graph_outside *outside; // owned list: what its wait list has from outside
};

extern const struct zepi_type zepi_capture_graph_type;

// A new reference to the graph of a capture that goes on. ZEPI_ERROR_CAPTURED_EVENT: it is over.
zepi_result_t zepi_capture_get_graph(struct zepi_capture *capture, struct zepi_graph **out_graph);

// A draft with a command to be filled in, behind a marker of the queue, for captures in several
// steps. To be finished after an error, too.
zepi_result_t zepi_capture_draft_init_behind(struct zepi_capture_draft *draft,
                                             struct zepi_queue *queue,
                                             const struct zepi_event *marker,
                                             enum zepi_command_kind kind);
void zepi_capture_draft_finish(struct zepi_capture_draft *draft);

// Reads a wait list: numbers of the graph's commands, and events from outside, which executions
// wait for once the command is added. Events of other captures and contexts are errors.
zepi_result_t zepi_capture_draft_read_waits(struct zepi_capture_draft *draft,
                                            zepi_wait_list_t wait);
// Executions of the graph wait for the event, which is from outside, once the command is added.
zepi_result_t zepi_capture_draft_await(struct zepi_capture_draft *draft, struct zepi_event *event);

// Whether the capture takes commands of the queue.
zepi_result_t zepi_capture_draft_check_locked(const struct zepi_capture_draft *draft);
// Notes the order behind a command that was added.
void zepi_capture_draft_note_order_locked(const struct zepi_capture_draft *draft,
                                          const struct zepi_graph_command *command);

// Adds the command to the graph, behind what its wait list and its queue say. `out_event` may be
// NULL. An error leaves the capture as it was.
zepi_result_t zepi_capture_draft_add(struct zepi_capture_draft *draft, zepi_event_t *out_event);

#endif
