// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_SHARD_H
#define ZEPI_CACHE_BUILD_SHARD_H

#include "cache/build_result.h"
#include "cache/hash.h"
#include "cache/key.h"
#include "cache/lru.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Private to the build cache: one shard of its entries, with a lock of its own. Threads that ask
// for keys in different shards share no cache line.

// What one budget has been charged with, over all its caches. Changed under the lock of the shard
// that keeps or drops an entry, read by anyone.
struct zepi_build_charge {
    _Atomic uint64_t bytes;
    _Atomic uint64_t entries;
};

// One key in the table. The table holds one reference to the result.
struct zepi_build_entry {
    struct zepi_build_result result; // first: the last release of the result frees the entry
    // Guarded by the shard's mutex.
    UT_hash_handle hh;
    struct zepi_lru_node lru;
    bool is_listed; // in the table
    bool is_kept;   // and in the LRU list and charged, which is true once the build is over
    struct zepi_build_entry *next_victim; // of those that took it out
    // Immutable.
    uint64_t owner;
    uint8_t key[];
};

struct zepi_build_shard {
    // Guards all below and the marked parts of the entries. No callback, destroy function, store or
    // wait happens under it. Adaptive: it is held for less time than going to sleep takes.
    _Alignas(128) pthread_mutex_t mutex;
    struct zepi_build_entry *table; // uthash
    struct zepi_lru lru;            // the entries that are kept
    uint64_t hits;
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions;
    struct zepi_build_charge *charge; // borrowed, constant
};

// Returns false without resources.
bool zepi_build_shard_init(struct zepi_build_shard *shard, struct zepi_build_charge *charge);
// The shard must be empty.
void zepi_build_shard_finish(struct zepi_build_shard *shard);

// A placeholder for the key, in progress, built by the calling thread, with one reference; or NULL.
struct zepi_build_entry *zepi_build_entry_create(const struct zepi_key *key, uint64_t owner);

// Returns a new reference to the key's result, in whatever state, as just used; or NULL, and then
// counts nothing.
struct zepi_build_result *zepi_build_shard_find(struct zepi_build_shard *shard,
                                                const struct zepi_key *key);

// The same, but if there is none adds the placeholder and returns its result (whose initial
// reference stays the caller's). Returns NULL if the table could not grow.
struct zepi_build_result *zepi_build_shard_find_or_add(struct zepi_build_shard *shard,
                                                       const struct zepi_key *key,
                                                       struct zepi_build_entry *placeholder);

// The build of a placeholder is over: keeps it from now on, or drops it. Either is without effect
// if it was taken out of the table meanwhile.
void zepi_build_shard_keep(struct zepi_build_shard *shard, struct zepi_build_entry *entry,
                           uint64_t cost_bytes);
void zepi_build_shard_drop(struct zepi_build_shard *shard, struct zepi_build_entry *entry);

// Entries taken out of a table, on their way to zepi_build_victims_release, which drops the table's
// reference of each and must be called under no lock. All zeroes is an empty list.
struct zepi_build_victims {
    struct zepi_build_entry *first;
    size_t count;
};
void zepi_build_victims_release(struct zepi_build_victims *victims);

// Takes one key out of the table, or all that are asked for.
void zepi_build_shard_take_key(struct zepi_build_shard *shard, const struct zepi_key *key,
                               struct zepi_build_victims *victims);
enum zepi_build_take {
    ZEPI_BUILD_TAKE_ALL,
    ZEPI_BUILD_TAKE_OWNER,
    ZEPI_BUILD_TAKE_UNUSED, // counts as eviction
};
void zepi_build_shard_take(struct zepi_build_shard *shard, enum zepi_build_take which,
                           uint64_t owner, struct zepi_build_victims *victims);

// The stamp of the oldest unused entry, UINT64_MAX if there is none.
uint64_t zepi_build_shard_oldest(struct zepi_build_shard *shard);
// Takes that entry out, as an eviction, unless it was used since. Returns whether it did.
bool zepi_build_shard_take_oldest(struct zepi_build_shard *shard, uint64_t stamp,
                                  struct zepi_build_victims *victims);

#endif
