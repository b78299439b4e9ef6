// SPDX-License-Identifier: MIT
//
// What walks of command buffers and of captures have in common: vectors, a kernel that adds them,
// and a command of the host's own.
#ifndef ZEPI_TESTS_FAULT_GRAPH_WALK_H
#define ZEPI_TESTS_FAULT_GRAPH_WALK_H

#include "walk_ur.h"

#define ITEMS 16 // of a vector

extern struct test_gear gear;
extern ur_program_handle_t program; // with vector_add
extern float *data;

// `vectors` of them in `data`.
void graph_walk_begin(size_t vectors);
void graph_walk_end(void);

// Zeroes the data, and makes the kernel: sum[i] = a[i] + b[i].
zepi_result_t graph_walk_start(ur_kernel_handle_t *out_kernel);

ur_exp_kernel_arg_properties_t pointer(uint32_t index, void *memory);

// The host's own command: data[2] = data[1]. `found` is the result for the list.
zepi_result_t record_natively(ur_result_t found, ur_native_handle_t list);

#endif
