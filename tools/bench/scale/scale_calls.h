// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_SCALE_CALLS_H
#define ZEPI_TOOL_BENCH_SCALE_CALLS_H

#include "../row/row_zepi.h"
#include "scale.h"

// Calls of zepi's table that several cases have. False: it failed.

static inline bool scale_ok(zepi_result_t result)
{
    return result == ZEPI_SUCCESS;
}

static inline zepi_context_t scale_context(const struct scale *scale)
{
    return scale->row->host.context;
}

// The release of the object at `i`.
bool scale_release(struct scale *scale, unsigned i);
// The release of what the case keeps for all objects.
void scale_close_common(struct scale *scale);

// A launch of a kernel with 3 arguments: by its object, or by name from a module or a unit.
struct scale_launch {
    zepi_queue_t queue;   // NULL: the row's
    zepi_kernel_t kernel; // NULL: the row's, unless there is a module or a unit
    zepi_module_t module;
    zepi_unit_t unit;
    zepi_buffer_t buffer; // NULL: the first argument is USM
    int value;            // of the third one
    zepi_event_t wait;    // or NULL
    zepi_event_t *out_event;
};
bool scale_launch(const struct scale *scale, struct scale_launch launch);
// Its description, for graphs. `launch` and `arguments` have to live as long.
zepi_launch_desc_t scale_describe(const struct scale *scale, const struct scale_launch *launch,
                                  zepi_argument_t arguments[3]);

bool scale_create_queue(const struct scale *scale, zepi_queue_flags_t flags, void **out_queue);

// In the row's queue.
bool scale_copy(const struct scale *scale, void *to, const void *from);

// Allocates and frees 4 KiB of device memory; `context` NULL: the row's.
bool scale_allocate_in(const struct scale *scale, zepi_context_t context);
bool scale_allocate(struct scale *scale, unsigned i);

#endif
