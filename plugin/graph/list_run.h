// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_LIST_RUN_H
#define ZEPI_GRAPH_LIST_RUN_H

#include "queue/command_list.h"

// Closed command lists that run in the order of a queue on drivers which cannot append them to an
// immediate list: a command queue of their own executes them between two lists of a barrier each.
// Not thread-safe: the owner lets one thread at a time use it.
struct zepi_list_run {
    struct zepi_context *context; // borrowed, as the device
    struct zepi_device *device;
    struct zepi_command_list *before; // owned, as those below
    struct zepi_command_list *after;
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence; // of the last run
    bool is_submitted;       // that run may not be over
};

zepi_result_t zepi_list_run_create(struct zepi_context *context, struct zepi_device *device,
                                   struct zepi_list_run **out_run);
// Waits until the last run is over. NULL is fine.
void zepi_list_run_destroy(struct zepi_list_run *run);

// Waits until the last run is over: its lists may be changed and destroyed.
zepi_result_t zepi_list_run_wait(struct zepi_list_run *run);

// A command of the queue, which is of the run's context and device: begins when the wait list
// and, in an in-order queue, all earlier commands are complete; later ones of such a queue wait for
// it. Waits until the last run is over.
zepi_result_t zepi_list_run_start(struct zepi_list_run *run, struct zepi_queue *queue,
                                  uint32_t count, const ze_command_list_handle_t *lists,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
