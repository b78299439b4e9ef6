// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_ENTRY_H
#define ZEPI_CACHE_BUILD_ENTRY_H

#include "cache/build_limits.h"
#include "cache/build_result.h"
#include "cache/build_store.h"
#include "cache/hash.h"
#include "cache/key.h"
#include "core/mutex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Private to the build cache: the structures of a budget, a cache and an entry, and the steps that
// keep the three in agreement. One lock, the budget's, is over all caches of a budget: a hit holds
// it for a look into a hash table, a change around a build for little more.

struct zepi_build_budget {
    // Guards all members below, and the entries and counters of the budget's caches.
    // Under it: allocation of hash buckets, and no callback, destroy function, store or wait.
    struct zepi_mutex mutex;
    struct zepi_build_limits limits;
    uint64_t bytes; // of the kept entries, their costs
    uint64_t entries;
    struct zepi_build_entry *by_use; // the kept entries of all caches, oldest use first; utlist
};

struct zepi_build_cache {
    struct zepi_build_budget *budget; // borrowed
    struct zepi_build_store store;    // store.ops is NULL if there is none
    // Guarded by the budget's mutex.
    struct zepi_build_entry *entries; // uthash
    struct zepi_build_counters counters;
};

// One key of a cache. The cache holds one reference to the result.
struct zepi_build_entry {
    struct zepi_build_result result; // first: the last release of the result frees the entry
    struct zepi_build_cache *cache;  // borrowed, constant
    // Guarded by the budget's mutex.
    UT_hash_handle hh;
    struct zepi_build_entry *next; // by use, while kept; else of the victims
    struct zepi_build_entry *previous;
    uint64_t cost_bytes;
    bool is_listed; // in the cache
    bool is_kept;   // in the order of use, and charged: once the build is over
    uint8_t key[];  // constant
};

// A placeholder for the key, in progress, built by the calling thread, with one reference; or NULL.
struct zepi_build_entry *zepi_build_entry_create(struct zepi_build_cache *cache,
                                                 const struct zepi_key *key);

// Puts a placeholder into its cache. Returns false if the table could not grow.
bool zepi_build_entry_add_locked(struct zepi_build_entry *entry, const struct zepi_key *key);

static inline struct zepi_build_entry *
zepi_build_entry_find_locked(const struct zepi_build_cache *cache, const struct zepi_key *key)
{
    struct zepi_build_entry *entry;
    HASH_FIND_BYHASHVALUE(hh, cache->entries, key->bytes, key->size, (unsigned)key->hash, entry);
    return entry;
}

// A kept entry is used now: it becomes the last in the order of use. Without effect on one
// whose build is not over.
void zepi_build_entry_use_locked(struct zepi_build_entry *entry);

// Keeps an entry of a cache, as just used.
void zepi_build_entry_keep_locked(struct zepi_build_entry *entry, uint64_t cost_bytes);

// Entries taken out of caches, on their way to zepi_build_victims_release, which drops the cache's
// reference of each and is called under no lock. NULL is an empty list.
struct zepi_build_victims {
    struct zepi_build_entry *first;
};
void zepi_build_victims_release(struct zepi_build_victims *victims);

// Takes an entry that is in its cache out of it.
void zepi_build_entry_take_locked(struct zepi_build_entry *entry,
                                  struct zepi_build_victims *victims);

// Evicts until the limits hold. Called under no lock.
void zepi_build_budget_enforce(struct zepi_build_budget *budget);

#endif
