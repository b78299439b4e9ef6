// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROW_PLAIN_H
#define ZEPI_TOOL_BENCH_ROW_PLAIN_H

#include "row_zepi.h"

#include <level_zero/ze_api.h>

// The operations through plain Level Zero calls, for comparison: a program that does nothing else
// would make these calls. Arguments one by one, and in one call where the driver has it.

struct plain_group_size {
    uint32_t x, y, z;
};

typedef ze_result_t(ZE_APICALL *plain_launch_fn)(ze_command_list_handle_t, ze_kernel_handle_t,
                                                 ze_group_count_t, struct plain_group_size, void **,
                                                 const void *, ze_event_handle_t, uint32_t,
                                                 ze_event_handle_t *);

struct plain_row {
    plain_launch_fn launch; // zeCommandListAppendLaunchKernelWithArguments, or NULL
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list; // in order; this and the next borrowed from zepi's queues
    ze_command_list_handle_t second;
    ze_command_list_handle_t out_of_order;
    ze_module_handle_t module;
    ze_kernel_handle_t kernels[BENCH_KERNEL_COUNT];
    ze_kernel_handle_t other; // a second one of BENCH_THREE: a handle is for one thread
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[2];
    void *memory[BENCH_MEMORIES]; // borrowed from zepi's row
    void *native;                 // native code of the module
    size_t native_bytes;
};

// On the device and memory of zepi's row.
bool plain_row_open(struct plain_row *row, const struct zepi_row *zepi_row);
void plain_row_close(struct plain_row *row); // a zeroed struct is fine

bool plain_row_settle(void *state); // nothing is ever left over
extern const struct bench_step plain_row_steps[BENCH_OPERATION_COUNT];
extern const struct bench_step plain_row_one_call_steps[BENCH_OPERATION_COUNT]; // launches alone
extern bench_crew_fn *const plain_row_crews[BENCH_CREW_COUNT];
extern bench_crew_fn *const plain_row_one_call_crews[BENCH_CREW_COUNT];

// Of row_plain_launch.c: arguments one by one, and in one call.
bench_launch_fn plain_row_launch;
bench_launch_fn plain_row_launch_in_one_call;
bench_crew_fn plain_row_launch_together;
bench_crew_fn plain_row_launch_together_in_one_call;

#endif
