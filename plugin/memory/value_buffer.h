// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_VALUE_BUFFER_H
#define ZEPI_MEMORY_VALUE_BUFFER_H

#include "base/status.h"
#include "queue/retire.h"

#include <pthread.h>

struct zepi_context;

// Small pieces of memory that a launch hands to its kernel, written by the host before: the values
// of emulated specialization constants. A piece belongs to one launch until its commands are
// complete, so that many launches in flight each see their own.

struct zepi_value_buffer {
    struct zepi_retired retired;
    struct zepi_context *context; // borrowed
    struct zepi_value_buffer *next;
    void *memory; // host USM
    bool is_own;  // larger than the pieces of a block: an allocation of its own
};

struct zepi_value_buffers {
    pthread_mutex_t mutex; // guards what is below; no driver call under it
    struct zepi_value_buffer *free;
    struct zepi_value_block *blocks; // owned
};

void zepi_value_buffers_init(struct zepi_value_buffers *buffers);
// No launch uses any of them. Needs the context's ze_context.
void zepi_value_buffers_finish(struct zepi_value_buffers *buffers, struct zepi_context *context);

zepi_result_t zepi_value_buffer_take(struct zepi_context *context, size_t size_bytes,
                                     struct zepi_value_buffer **out_buffer);
// Gives one back that commands may still read.
void zepi_value_buffer_retire(struct zepi_value_buffer *buffer);

#endif
