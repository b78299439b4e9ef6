// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROW_PLAIN_H
#define ZEPI_TOOL_BENCH_ROW_PLAIN_H

#include "row_zepi.h"

#include <level_zero/ze_api.h>

// The operations through plain Level Zero calls, for comparison: a program that does nothing else
// would make these calls.

struct plain_row {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list; // in order, borrowed from zepi's queue
    ze_command_list_handle_t out_of_order;
    ze_module_handle_t module;
    ze_kernel_handle_t kernels[BENCH_KERNEL_COUNT];
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

#endif
