// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_BUFFER_USE_H
#define ZEPI_COPY_BUFFER_USE_H

#include "memory/buffer.h"
#include "queue/capture.h"
#include "queue/queue.h"

// The buffers of a command: before it is enqueued, each buffer is brought to where the command
// finds it. Copies for that go into the command's queue, after the events that the command waits
// for; so the order of commands on several devices, which the host keeps by events, is that of the
// copies, too. The command then waits for the copies instead of `wait`.
//
//     struct zepi_buffer_uses uses;
//     zepi_buffer_uses_init(&uses, queue, wait);
//     result = zepi_buffer_use(&uses, &part, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE, &address);
//     if (result == ZEPI_SUCCESS)
//         result = zepi_queue_...(queue, ... address ..., uses.wait, out_event);
//     zepi_buffer_uses_finish(&uses);
//
// A failure leaves the buffer's contents where they are, whole. A struct zepi_buffer_uses lies on
// the stack of one thread; buffers may be used by any.

enum zepi_buffer_access {
    ZEPI_BUFFER_READ,
    ZEPI_BUFFER_WRITE, // and read
};

enum zepi_buffer_where {
    ZEPI_BUFFER_ON_DEVICE, // at the address of zepi_buffer_get_location
    ZEPI_BUFFER_ON_HOST,   // in the host's memory that is the buffer's storage
};

struct zepi_buffer_uses {
    struct zepi_queue *queue; // borrowed
    bool has_own_queue;       // which is released before its copies are over
    // A reference, while the command is captured: its graph keeps the buffers, and copies are made
    // before it is executed. Or NULL.
    struct zepi_capture *capture;
    zepi_wait_list_t host; // the host's wait list
    zepi_wait_list_t wait; // the same, and copies
    zepi_event_t *events;  // owned list, that of `wait`: NULL while there are no copies
    uint32_t capacity;     // of `events`; those from host.count on are owned references
};

// The queue has been checked, and gets a command after this.
void zepi_buffer_uses_init(struct zepi_buffer_uses *uses, struct zepi_queue *queue,
                           zepi_wait_list_t wait);
void zepi_buffer_uses_finish(struct zepi_buffer_uses *uses);

// *out_address: of the part's first byte.
zepi_result_t zepi_buffer_use(struct zepi_buffer_uses *uses, const struct zepi_buffer_part *part,
                              enum zepi_buffer_access access, enum zepi_buffer_where where,
                              void **out_address);

// The host has written the part into its memory that is the buffer's storage: no other location has
// it.
zepi_result_t zepi_buffer_note_host_write(const struct zepi_buffer_part *part);

// Copies to the host's memory the bytes that it lacks, after all commands of the context. For a
// buffer that goes. It is all there on return.
zepi_result_t zepi_buffer_write_back(struct zepi_buffer *buffer);

// The part's address for commands of the device that zepi does not see. If it is elsewhere, all
// commands of the context are waited for, and the part moves.
zepi_result_t zepi_buffer_get_address_of(const struct zepi_buffer_part *part,
                                         struct zepi_device *device, void **out_address);

#endif
