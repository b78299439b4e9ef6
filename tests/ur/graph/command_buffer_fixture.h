// SPDX-License-Identifier: MIT
//
// What tests of command buffers have in common: a kernel that adds, and appends to buffers.
#ifndef ZEPI_TESTS_UR_COMMAND_BUFFER_FIXTURE_H
#define ZEPI_TESTS_UR_COMMAND_BUFFER_FIXTURE_H

#include "ur_fixture.h"

#define ITEMS 64

typedef ur_exp_command_buffer_handle_t buffer_t;
typedef ur_exp_command_buffer_sync_point_t sync_point_t;
typedef ur_exp_command_buffer_command_handle_t command_t;

extern ur_kernel_handle_t cb_add; // sum[i] = a[i] + b[i]

// The gear, and the kernel.
void cb_set_up(void);
void cb_tear_down(void);

// What a command follows.
struct after {
    uint32_t count;
    const sync_point_t *points;
};
#define AFTER(...)                                                                                 \
    ((struct after){sizeof((sync_point_t[]){__VA_ARGS__}) / sizeof(sync_point_t),                  \
                    (const sync_point_t[]){__VA_ARGS__}})
#define AT_ONCE ((struct after){0, NULL})

enum kind { FREE, IN_ORDER, UPDATABLE };
buffer_t cb_make(enum kind kind);

// Zeroed.
float *cb_floats(size_t count);
ur_mem_handle_t cb_make_mem(size_t size);

// Commands on ITEMS floats.
sync_point_t cb_append_fill(buffer_t buffer, float *memory, float value, struct after after);
sync_point_t cb_append_copy(buffer_t buffer, float *to, const float *from, struct after after);
sync_point_t cb_append_add(buffer_t buffer, float *sum, float *a, float *b, struct after after);
// A launch of one dimension. `out_command` may be NULL.
sync_point_t cb_append_launch(buffer_t buffer, ur_kernel_handle_t kernel, size_t items,
                              uint32_t count, const ur_exp_kernel_arg_properties_t *arguments,
                              struct after after, command_t *out_command);

void cb_run(ur_queue_handle_t queue, buffer_t buffer);
// All of ITEMS floats.
void cb_expect(const float *memory, float value);
// That none of ITEMS zeroed floats is written yet: after a while in which a command would have been
// executed.
void cb_expect_unwritten(const float *memory);

// Updates of a launch of one dimension. A pointer is told by where it lies.
ur_exp_command_buffer_update_kernel_launch_desc_t cb_update(command_t command);
ur_exp_command_buffer_update_pointer_arg_desc_t cb_new_pointer(uint32_t index, void *where);
ur_exp_command_buffer_update_value_arg_desc_t cb_new_value(uint32_t index, size_t size,
                                                           const void *value);
// One update, and an execution that is waited for.
void cb_update_and_run(buffer_t buffer,
                       const ur_exp_command_buffer_update_kernel_launch_desc_t *update);

#endif
