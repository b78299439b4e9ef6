// SPDX-License-Identifier: MIT
//
// What the tests of cache/shared/ have in common: a store with short times, and a real server.
#ifndef ZEPI_TESTS_CACHE_SHARED_FIXTURE_H
#define ZEPI_TESTS_CACHE_SHARED_FIXTURE_H

#include "cache/shared/shared.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Begins without notes. What a test does not set: times of seconds, no files.
struct zepi_shared_config fixture_config(const char *address);
// An owned store; ends the test if it is refused.
struct zepi_shared *fixture_shared(const struct zepi_shared_config *config);

// How often a store said something, and the last of it.
extern atomic_int fixture_note_count;
extern char fixture_last_note[ZEPI_SHARED_TEXT_BYTES];

// A new file of mode 0600. Borrowed until exit.
const char *fixture_write_file(const char *name, const void *bytes, size_t size);
// One with a key of 32 bytes that are `byte`.
const char *fixture_key_file(const char *name, uint8_t byte);

uint64_t fixture_now_ms(void);
void fixture_sleep_ms(long ms);

// Starts redis-server on a socket of this machine and on a free port of 127.0.0.1, with nothing on
// disk; `options` are added to its command line, separated by spaces. Skips the test if there is
// none. Ended by fixture_redis_stop, or with the process that started it.
struct fixture_redis {
    int pid;
    char unix_address[256];
    char tcp_address[64];
};
struct fixture_redis fixture_redis_start(const char *options);
void fixture_redis_stop(struct fixture_redis *redis);

// Loads or stores a text under the key of a number.
bool fixture_load_is(struct zepi_shared *shared, uint64_t number, const char *text);
bool fixture_loads(struct zepi_shared *shared, uint64_t number);
void fixture_store(struct zepi_shared *shared, uint64_t number, const char *text);

#endif
