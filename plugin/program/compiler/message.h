// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_COMPILER_MESSAGE_H
#define ZEPI_PROGRAM_COMPILER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Numbers and runs of bytes in one piece, which two processes of this machine and of one version of
// zepi send each other. A reader checks every length. Used by one thread.
struct zepi_message {
    uint8_t *bytes; // owned
    size_t size_bytes;
    size_t capacity;
    size_t at;   // of the next value that is taken
    bool is_bad; // memory was short as it was written, or a value that was taken is not there
};

void zepi_message_finish(struct zepi_message *message);

// Appends. Without memory the message is bad, and may not be sent.
void zepi_message_put(struct zepi_message *message, uint64_t number);
void zepi_message_put_bytes(struct zepi_message *message, const void *bytes, size_t size_bytes);
void zepi_message_put_text(struct zepi_message *message, const char *text);

// Takes the elements in the order in which they were put. A value that is not there is 0 or NULL,
// and the message bad.
uint64_t zepi_message_take(struct zepi_message *message);
// The number of elements that follow, of at least 8 bytes each.
uint32_t zepi_message_take_count(struct zepi_message *message);
// Borrowed from the message, and aligned to 8 bytes.
const void *zepi_message_take_bytes(struct zepi_message *message, size_t *out_size_bytes);
const char *zepi_message_take_text(struct zepi_message *message); // never NULL

enum zepi_delivery {
    ZEPI_DELIVERED,
    ZEPI_DELIVERY_ENDED, // the other end is closed
    ZEPI_DELIVERY_BAD,   // it sends something else
    ZEPI_DELIVERY_LATE,
    ZEPI_DELIVERY_NO_MEMORY,
};

#define ZEPI_NO_DEADLINE UINT64_MAX
uint64_t zepi_deadline_in(uint64_t seconds);
// Over a stream socket, until a time of zepi_clock_ns. The message is not bad.
enum zepi_delivery zepi_message_send(const struct zepi_message *message, int socket,
                                     uint64_t deadline_ns);
// `message` is empty; to be finished in any case.
enum zepi_delivery zepi_message_receive(struct zepi_message *message, int socket,
                                        uint64_t deadline_ns);

#endif
