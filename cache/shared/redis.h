// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_REDIS_H
#define ZEPI_CACHE_SHARED_REDIS_H

#include "cache/shared/address.h"
#include "cache/shared/secret.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A connection to a server that speaks Redis' protocol, with an end in time for all that it does.
// hiredis writes commands and reads replies; the socket is handled here, since hiredis' own calls
// limit each read and not the whole, and let a server that is gone end the process by SIGPIPE.
// One thread.

struct zepi_redis {
    int socket; // -1: none
    int64_t deadline_ns;
    char trouble[192]; // the first failure, for people; "": none
};

// CLOCK_MONOTONIC.
int64_t zepi_redis_now_ns(void);

// Connects within `connect_ms`, logs in and chooses the database. Returns false with `trouble`.
// To be closed in any case.
bool zepi_redis_open(struct zepi_redis *redis, const struct zepi_shared_address *address,
                     const struct zepi_shared_secret *password, int connect_ms, int operation_ms);
void zepi_redis_close(struct zepi_redis *redis);

// The commands until the next call have this time together.
void zepi_redis_begin(struct zepi_redis *redis, int operation_ms);

struct zepi_redis_word {
    const void *bytes;
    size_t size;
};
#define ZEPI_REDIS_TEXT(text) ((struct zepi_redis_word){(text), strlen(text)})

// Sends a command and returns its reply, which the caller frees by freeReplyObject: of the type
// REDIS_REPLY_..., or nil. NULL, with `trouble`: the connection is closed, or still there if the
// server replied with an error.
redisReply *zepi_redis_ask(struct zepi_redis *redis, int type, int count,
                           const struct zepi_redis_word *words);
// A command whose reply says no more than that it is done.
void zepi_redis_do(struct zepi_redis *redis, int type, int count,
                   const struct zepi_redis_word *words);

#endif
