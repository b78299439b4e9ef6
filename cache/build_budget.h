// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_BUDGET_H
#define ZEPI_CACHE_BUILD_BUDGET_H

#include "cache/build_result.h"
#include "cache/build_store.h"
#include "cache/hash.h"
#include "cache/key.h"
#include "core/mutex.h"

#include <stdbool.h>
#include <stdint.h>
#include <utlist.h>

// A limit: 0 keeps nothing (builds are still shared while they run).
#define ZEPI_BUILD_UNLIMITED UINT64_MAX

struct zepi_build_limits {
    uint64_t bytes;
    uint64_t entries;
};

// Limits in bytes and entries over one or more caches, and one order of eviction over all of them:
// README.md says which entries go. An entry costs the bytes that its builder stated, plus its log
// and its key. Thread-safe. A budget is created before its caches and destroyed after them.
struct zepi_build_budget;

// Returns an owned budget, or NULL without memory.
struct zepi_build_budget *zepi_build_budget_create(struct zepi_build_limits limits);

// NULL is fine.
void zepi_build_budget_destroy(struct zepi_build_budget *budget);

// Takes effect at once: evicts down to the new limits before it returns. Destroy functions run on
// the calling thread.
void zepi_build_budget_set_limits(struct zepi_build_budget *budget,
                                  struct zepi_build_limits limits);
struct zepi_build_limits zepi_build_budget_limits(struct zepi_build_budget *budget);

// Evicts unused entries, oldest use first, until at most `bytes` are kept or all that is left is in
// use. 0 evicts everything unused.
void zepi_build_budget_trim(struct zepi_build_budget *budget, uint64_t bytes);

// How many entries all budgets of the process have evicted.
uint64_t zepi_build_budget_evictions(void);

// The counters of a cache.
struct zepi_build_counters {
    uint64_t hits;         // lookups that found a result or a build in progress
    uint64_t misses;       // lookups that began one; hits + misses is the number of lookups
    uint64_t waits;        // hits on a build in progress
    uint64_t builds;       // calls of a build callback
    uint64_t failures;     // builds that ended in failure of any kind
    uint64_t evictions;    // entries that limits, a trim or lack of memory pushed out
    uint64_t store_hits;   // misses that the store had
    uint64_t store_misses; // misses that it did not have
    uint64_t build_ns;     // spent in build callbacks, nested ones counted in each
    uint64_t bytes;        // kept now, as charged to the budget
    uint64_t entries;
};

// ---- For the cache ----

// An entry lies in the table of its cache, and in its budget's order of use. One lock, the
// budget's, is over all caches of a budget: a hit holds it for a look into a hash table, a change
// around a build for little more.

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

// Evicts until the limits hold. Called under no lock.
void zepi_build_budget_enforce(struct zepi_build_budget *budget);

// A placeholder for the key, in progress, built by the calling thread, with one reference; or NULL.
struct zepi_build_entry *zepi_build_entry_create(struct zepi_build_cache *cache,
                                                 const struct zepi_key *key);

// Puts a placeholder into its cache. Returns false if the table could not grow.
bool zepi_build_entry_add_locked(struct zepi_build_entry *entry, const struct zepi_key *key);

// Keeps an entry of a cache, as just used.
void zepi_build_entry_keep_locked(struct zepi_build_entry *entry, uint64_t cost_bytes);

// A kept entry is used now: it becomes the last in the order of use. Without effect on one whose
// build is not over.
static inline void zepi_build_entry_use_locked(struct zepi_build_entry *entry)
{
    struct zepi_build_budget *budget = entry->cache->budget;
    if (!entry->next)
        return;
    // NOLINTBEGIN(clang-analyzer-core.NullDereference): a member of a list has neighbours
    DL_DELETE2(budget->by_use, entry, previous, next);
    DL_APPEND2(budget->by_use, entry, previous, next);
    // NOLINTEND(clang-analyzer-core.NullDereference)
}

// Takes an entry that is in its cache out of it. Returns the cache's reference to its result, which
// the caller releases under no lock.
struct zepi_build_result *zepi_build_entry_take_locked(struct zepi_build_entry *entry);

#endif
