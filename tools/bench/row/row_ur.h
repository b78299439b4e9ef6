// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROW_UR_H
#define ZEPI_TOOL_BENCH_ROW_UR_H

#include "../operation/bench.h"
#include "tools/zepi/kernels.h"

// ur_api.h uses bool without including it.
#include <stdbool.h>

#include <unified-runtime/ur_api.h>
#include <unified-runtime/ur_ddi.h>

// The operations through an adapter of Unified Runtime, loaded directly, without a loader.

// A command buffer, and an update of the launch in its middle.
struct ur_row_graph {
    ur_exp_command_buffer_handle_t handle; // NULL: not made yet
    ur_exp_command_buffer_update_kernel_launch_desc_t update;
    ur_exp_command_buffer_update_pointer_arg_desc_t pointer;
    void *const *pointers[2]; // in turns
};
#define BENCH_UR_GRAPHS 8

// SECOND: in order, of the second thread. PROFILING: in order, too.
enum ur_row_queue { IN_ORDER, SECOND, ANY_ORDER, PROFILING, PROFILING_ANY_ORDER, QUEUE_COUNT };

struct ur_row {
    ur_dditable_t table;
    ur_adapter_handle_t adapter;
    ur_context_handle_t context;
    ur_device_handle_t device;
    ur_queue_handle_t queues[QUEUE_COUNT];
    ur_program_handle_t program;
    ur_kernel_handle_t kernels[BENCH_KERNEL_COUNT];
    void *memory[BENCH_MEMORIES];
    ur_mem_handle_t buffer;
    struct ur_row_graph graphs[BENCH_UR_GRAPHS];      // of each size two, the second updatable
    struct ur_row_graph finished_graphs[QUEUE_COUNT]; // of the cycles, in order and not
    ur_event_handle_t last;                           // as of zepi's row
    uint32_t host[16];                                // known to no driver
};

// Loads the adapter and makes the objects of the operations, on the first device that it lists.
// NULL if it does not come up; `out_message` (static or borrowed from the dynamic loader) then says
// why.
struct ur_row *ur_row_open(const char *path, const char **out_message);
void ur_row_close(struct ur_row *row); // NULL is fine

bool ur_row_settle(void *state);
extern bench_step *const ur_row_steps[BENCH_OPERATION_COUNT];

// A program that allocates memory of every kind in random sizes of up to 16 MiB, writes what the
// host may write, frees some of it between, and all in the end.
bool ur_row_use_random_sizes(struct ur_row *row, unsigned steps);
// Of the device's memory; -1: the adapter does not know.
int64_t ur_row_free_device_bytes(const struct ur_row *row);

// Of row_ur_launch.c.
bool ur_row_launch(void *state, const struct bench_launch *launch, unsigned i);
// The arguments of BENCH_THREE, the same each time.
void ur_row_three_arguments(const struct ur_row *ur, ur_exp_kernel_arg_properties_t arguments[3]);
// A launch with them; `buffer`, the second argument, and out_event may be NULL.
bool ur_row_launch_three(const struct ur_row *ur, ur_queue_handle_t queue,
                         ur_kernel_handle_t kernel, ur_mem_handle_t buffer,
                         ur_event_handle_t *out_event);

// Copies and fills, command buffers, and steps of programs.
bench_step ur_row_transfer, ur_row_run_graph, ur_row_cycle;

// After a failure the caller releases the rest.
bool ur_row_graph_record(const struct ur_row *ur, unsigned launches, bool is_in_order,
                         bool is_updatable, struct ur_row_graph *graph);
void ur_row_graph_release(const struct ur_row *ur, struct ur_row_graph *graph);

#endif
