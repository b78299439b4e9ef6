// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_TABLE_H
#define ZEPI_CACHE_BUILD_TABLE_H

#include "cache/build_result.h"
#include "cache/hash.h"
#include "cache/key.h"
#include "cache/lru.h"
#include "cache/mutex.h"
#include "cache/thread_shard.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Private to the build cache: its entries by key and by last use, and the lock over them.
//
// The lock is one for many readers, made of gates, each on a cache line of its own. A thread that
// looks something up goes through its own gate; who changes the table closes all gates. So threads
// that hit different entries write to no common line, and a hit costs one uncontended mutex.
// Changes happen around builds, which cost a thousand times more than closing the gates.

struct zepi_build_gate {
    // Reading the table takes one, changing it takes all, in order. No callback, destroy function,
    // store or wait happens under it.
    _Alignas(64) struct zepi_mutex mutex;
    // What lookups through this gate counted; guarded by this one mutex.
    uint64_t hits;
    uint64_t waits;
};

// What one budget has been charged with, over all its caches. Changed with the gates closed, read
// by anyone.
struct zepi_build_charge {
    _Atomic uint64_t bytes;
    _Atomic uint64_t entries;
};

// One key in the table. The table holds one reference to the result.
struct zepi_build_entry {
    struct zepi_build_result result; // first: the last release of the result frees the entry
    // Guarded by the gates, but for lru.last_use.
    struct zepi_lru_node lru;
    UT_hash_handle hh;
    bool is_listed; // in the table
    // In the LRU order and charged, too: once the build is over. Read by anyone, as a hint.
    atomic_bool is_kept;
    struct zepi_build_entry *next_victim; // of those that took it out
    // Immutable.
    uint8_t key[];
};

struct zepi_build_table {
    struct zepi_build_gate gates[ZEPI_THREAD_SHARDS];
    // Read with one gate, changed with all.
    struct zepi_build_entry *entries; // uthash
    struct zepi_lru lru;              // of those that are kept
    uint64_t misses;
    uint64_t evictions;
    struct zepi_build_charge *charge; // borrowed, constant
    struct zepi_build_table *next;    // in its budget; guarded by the budget's mutex
};

// The table is in memory of whole cache lines.
void zepi_build_table_init(struct zepi_build_table *table, struct zepi_build_charge *charge);

// A placeholder for the key, in progress, built by the calling thread, with one reference; or NULL.
struct zepi_build_entry *zepi_build_entry_create(const struct zepi_key *key);

// Adds the placeholder and returns its result (whose initial reference stays the caller's), unless
// the key has an entry by now: then that is a hit, as in zepi_build_table_find. Returns NULL if the
// table could not grow.
struct zepi_build_result *zepi_build_table_find_or_add(struct zepi_build_table *table,
                                                       const struct zepi_key *key,
                                                       struct zepi_build_entry *placeholder);

// The build of a placeholder is over: keeps it from now on, or drops it. Either is without effect
// if it was taken out of the table meanwhile.
void zepi_build_table_keep(struct zepi_build_table *table, struct zepi_build_entry *entry,
                           uint64_t cost_bytes);
void zepi_build_table_drop(struct zepi_build_table *table, struct zepi_build_entry *entry);

// Entries taken out of tables, on their way to zepi_build_victims_release, which drops the table's
// reference of each and must be called under no lock. All zeroes is an empty list.
struct zepi_build_victims {
    struct zepi_build_entry *first;
    size_t count;
};
void zepi_build_victims_release(struct zepi_build_victims *victims);

// Takes one key out of the table, or all that are asked for.
void zepi_build_table_take_key(struct zepi_build_table *table, const struct zepi_key *key,
                               struct zepi_build_victims *victims);
enum zepi_build_take {
    ZEPI_BUILD_TAKE_ALL,
    ZEPI_BUILD_TAKE_UNUSED, // counts as eviction
};
void zepi_build_table_take(struct zepi_build_table *table, enum zepi_build_take which,
                           struct zepi_build_victims *victims);

// The stamp of the unused entry whose last use is oldest, UINT64_MAX if there is none. Who uses an
// entry while this looks at it is taken to use it now.
uint64_t zepi_build_table_oldest(struct zepi_build_table *table);
// Takes that entry out, as an eviction, unless it was used since. Returns whether it did.
bool zepi_build_table_take_oldest(struct zepi_build_table *table, uint64_t stamp,
                                  struct zepi_build_victims *victims);

struct zepi_build_table_counters {
    uint64_t hits;
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions;
    uint64_t bytes;
    uint64_t entries;
};
struct zepi_build_table_counters zepi_build_table_count(struct zepi_build_table *table);

// ---- The path of a hit, compiled into its caller ----

static inline struct zepi_build_gate *zepi_build_gate(struct zepi_build_table *table)
{
    return &table->gates[zepi_thread_shard()];
}

static inline struct zepi_build_entry *
zepi_build_table_find_locked(const struct zepi_build_table *table, const struct zepi_key *key)
{
    struct zepi_build_entry *entry;
    HASH_FIND_BYHASHVALUE(hh, table->entries, key->bytes, key->size, (unsigned)key->hash, entry);
    return entry;
}

// A lookup through `gate` that found this entry: counts it and its use, and returns a new
// reference.
static inline struct zepi_build_result *zepi_build_table_hit_locked(struct zepi_build_gate *gate,
                                                                    struct zepi_build_entry *entry)
{
    gate->hits++;
    zepi_lru_touch(&entry->lru);
    // Relaxed: the gates order.
    if (!atomic_load_explicit(&entry->is_kept, memory_order_relaxed))
        gate->waits++;
    return zepi_build_result_retain(&entry->result);
}

// Returns a new reference to the key's result, in whatever state, as just used; or NULL, and then
// counts nothing.
static inline struct zepi_build_result *zepi_build_table_find(struct zepi_build_table *table,
                                                              const struct zepi_key *key)
{
    struct zepi_build_result *result = NULL;
    struct zepi_build_gate *gate = zepi_build_gate(table);
    zepi_mutex_lock(&gate->mutex);
    struct zepi_build_entry *entry = zepi_build_table_find_locked(table, key);
    if (entry)
        result = zepi_build_table_hit_locked(gate, entry);
    zepi_mutex_unlock(&gate->mutex);
    return result;
}

#endif
