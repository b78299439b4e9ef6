// SPDX-License-Identifier: MIT
//
// What tests of captured graphs have in common: commands on ITEMS floats of any queue.
#ifndef ZEPI_TESTS_UR_CAPTURE_FIXTURE_H
#define ZEPI_TESTS_UR_CAPTURE_FIXTURE_H

#include "command_buffer_fixture.h"

typedef ur_exp_graph_handle_t graph_t;
typedef ur_exp_executable_graph_handle_t executable_t;

#define ANY_ORDER UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE

// Up to one event to wait for, NULL for none; `out_event` may be NULL.
void cap_fill(ur_queue_handle_t queue, float *memory, float value, ur_event_handle_t wait,
              ur_event_handle_t *out_event);
void cap_copy(ur_queue_handle_t queue, float *to, const float *from, ur_event_handle_t wait,
              ur_event_handle_t *out_event);
void cap_add(ur_queue_handle_t queue, float *sum, float *a, float *b, ur_event_handle_t wait,
             ur_event_handle_t *out_event);
void cap_mark(ur_queue_handle_t queue, ur_event_handle_t wait, ur_event_handle_t *out_event);

bool cap_is_on(ur_queue_handle_t queue);
graph_t cap_begin(ur_queue_handle_t queue); // into a new graph
void cap_end(ur_queue_handle_t queue, graph_t graph);

executable_t cap_instantiate(graph_t graph);
void cap_run(ur_queue_handle_t queue, executable_t executable); // and waits for it
void cap_destroy(graph_t graph, executable_t executable);

// The dump of a graph; the caller frees it. The same, and it must contain the words.
char *cap_dump(graph_t graph);
void cap_expect_dump(graph_t graph, const char *words);

#endif
