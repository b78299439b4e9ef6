// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_ENTRY_H
#define ZEPI_CACHE_BUILD_ENTRY_H

#include "cache/build_cache.h"
#include "cache/hash.h"
#include "core/mutex.h"

// Inside of the build cache: an entry in the table of its cache, and in its budget's order of use.
// One lock, the budget's, is over all caches of a budget: a hit holds it for a look into a hash
// table, a change around a build for little more.

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
    struct zepi_build_entry *next, *previous; // by use, while kept
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

// Keeps an entry of a cache, as just used.
void zepi_build_entry_keep_locked(struct zepi_build_entry *entry, uint64_t cost_bytes);

// A kept entry is used now: it becomes the last in the order of use. Without effect on one whose
// build is not over.
void zepi_build_entry_use_locked(struct zepi_build_entry *entry);

// Takes an entry that is in its cache out of it. Returns the cache's reference to its result, which
// the caller releases under no lock.
struct zepi_build_result *zepi_build_entry_take_locked(struct zepi_build_entry *entry);

#endif
