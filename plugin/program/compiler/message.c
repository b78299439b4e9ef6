// SPDX-License-Identifier: MIT
#include "program/compiler/message.h"

#include "core/alloc.h"
#include "core/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

// No program is as large; a length that a broken compiler wrote may be.
#define SIZE_MAX_BYTES (UINT64_C(1) << 32)
#define ROUNDED(size) (((size) + 7) / 8 * 8)

void zepi_message_finish(struct zepi_message *message)
{
    zepi_free(message->bytes);
    *message = (struct zepi_message){0};
}

static bool message_grow(struct zepi_message *message, size_t more)
{
    size_t capacity = message->capacity ? message->capacity : 512;
    if (message->capacity - message->size_bytes >= more)
        return true;
    while (capacity - message->size_bytes < more)
        capacity *= 2;
    uint8_t *bytes = zepi_sys_allocate(capacity);
    if (!bytes)
        return false;
    if (message->size_bytes > 0)
        memcpy(bytes, message->bytes, message->size_bytes);
    zepi_free(message->bytes);
    message->bytes = bytes;
    message->capacity = capacity;
    return true;
}

// Zeros fill the bytes up to a multiple of 8.
static void message_append(struct zepi_message *message, const void *bytes, size_t size_bytes)
{
    message->is_bad = message->is_bad || size_bytes > SIZE_MAX_BYTES ||
                      message->size_bytes > SIZE_MAX_BYTES ||
                      !message_grow(message, ROUNDED(size_bytes));
    if (message->is_bad || size_bytes == 0)
        return;
    uint8_t *to = message->bytes + message->size_bytes;
    memcpy(to, bytes, size_bytes);
    memset(to + size_bytes, 0, ROUNDED(size_bytes) - size_bytes);
    message->size_bytes += ROUNDED(size_bytes);
}

void zepi_message_put(struct zepi_message *message, uint64_t number)
{
    message_append(message, &number, sizeof(number));
}

void zepi_message_put_bytes(struct zepi_message *message, const void *bytes, size_t size_bytes)
{
    zepi_message_put(message, size_bytes);
    message_append(message, bytes, size_bytes);
}

void zepi_message_put_text(struct zepi_message *message, const char *text)
{
    zepi_message_put_bytes(message, text, strlen(text) + 1);
}

// ---- Reading ----

static const void *message_advance(struct zepi_message *message, uint64_t size_bytes)
{
    if (message->is_bad || size_bytes > SIZE_MAX_BYTES ||
        ROUNDED(size_bytes) > message->size_bytes - message->at) {
        message->is_bad = true;
        return NULL;
    }
    const uint8_t *bytes = message->bytes + message->at;
    message->at += ROUNDED(size_bytes);
    return bytes;
}

uint64_t zepi_message_take(struct zepi_message *message)
{
    uint64_t number = 0;
    const void *bytes = message_advance(message, sizeof(number));
    if (bytes)
        memcpy(&number, bytes, sizeof(number));
    return number;
}

uint32_t zepi_message_take_count(struct zepi_message *message)
{
    const uint64_t count = zepi_message_take(message);
    message->is_bad = message->is_bad || count > UINT32_MAX ||
                      count > (message->size_bytes - message->at) / sizeof(uint64_t);
    return message->is_bad ? 0 : (uint32_t)count;
}

const void *zepi_message_take_bytes(struct zepi_message *message, size_t *out_size_bytes)
{
    const uint64_t size_bytes = zepi_message_take(message);
    const void *bytes = message_advance(message, size_bytes);
    *out_size_bytes = bytes ? (size_t)size_bytes : 0;
    return bytes;
}

const char *zepi_message_take_text(struct zepi_message *message)
{
    size_t size_bytes;
    const char *text = zepi_message_take_bytes(message, &size_bytes);
    message->is_bad = message->is_bad || size_bytes == 0 || text[size_bytes - 1] != '\0';
    return message->is_bad ? "" : text;
}

// ---- Delivery ----

uint64_t zepi_deadline_in(uint64_t seconds)
{
    const uint64_t now_ns = zepi_clock_ns();
    return seconds < (UINT64_MAX - now_ns) / 1000000000u ? now_ns + seconds * 1000000000u
                                                         : ZEPI_NO_DEADLINE;
}

// The next call waits in here, so that it returns by the deadline.
static enum zepi_delivery wait_for(int socket, short events, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = socket, .events = events};
    int ready = 0;
    while (ready == 0) {
        const uint64_t now_ns = zepi_clock_ns();
        const uint64_t left_ms =
            deadline_ns > now_ns ? (deadline_ns - now_ns + 999999) / 1000000 : 0;
        if (left_ms == 0)
            return ZEPI_DELIVERY_LATE;
        ready = poll(&poll_fd, 1,
                     deadline_ns == ZEPI_NO_DEADLINE ? -1
                     : left_ms < INT_MAX             ? (int)left_ms
                                                     : INT_MAX);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    return ready > 0 ? ZEPI_DELIVERED : ZEPI_DELIVERY_ENDED;
}

// Moves all bytes one way.
static enum zepi_delivery move(int socket, uint8_t *bytes, size_t size_bytes, short events,
                               uint64_t deadline_ns)
{
    size_t done = 0;
    while (done < size_bytes) {
        const enum zepi_delivery delivery = wait_for(socket, events, deadline_ns);
        if (delivery != ZEPI_DELIVERED)
            return delivery;
        const ssize_t moved =
            events == POLLIN
                ? recv(socket, bytes + done, size_bytes - done, MSG_DONTWAIT)
                : send(socket, bytes + done, size_bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0 || (errno != EINTR && errno != EAGAIN))
            return ZEPI_DELIVERY_ENDED;
    }
    return ZEPI_DELIVERED;
}

enum zepi_delivery zepi_message_send(const struct zepi_message *message, int socket,
                                     uint64_t deadline_ns)
{
    uint64_t size_bytes = message->size_bytes;
    const enum zepi_delivery delivery =
        move(socket, (uint8_t *)&size_bytes, sizeof(size_bytes), POLLOUT, deadline_ns);
    return delivery == ZEPI_DELIVERED
               ? move(socket, message->bytes, message->size_bytes, POLLOUT, deadline_ns)
               : delivery;
}

enum zepi_delivery zepi_message_receive(struct zepi_message *message, int socket,
                                        uint64_t deadline_ns)
{
    uint64_t size_bytes = 0;
    const enum zepi_delivery delivery =
        move(socket, (uint8_t *)&size_bytes, sizeof(size_bytes), POLLIN, deadline_ns);
    if (delivery != ZEPI_DELIVERED)
        return delivery;
    if (size_bytes > SIZE_MAX_BYTES || size_bytes % 8 != 0)
        return ZEPI_DELIVERY_BAD;
    if (!message_grow(message, size_bytes))
        return ZEPI_DELIVERY_NO_MEMORY;
    message->size_bytes = size_bytes;
    return move(socket, message->bytes, size_bytes, POLLIN, deadline_ns);
}
