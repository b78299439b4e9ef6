// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_CACHE_H
#define ZEPI_CACHE_BUILD_CACHE_H

#include "cache/build_result.h"
#include "cache/build_store.h"
#include "cache/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Budgets ----

// A limit: 0 keeps nothing (builds are still shared while they run).
#define ZEPI_BUILD_UNLIMITED UINT64_MAX

struct zepi_build_limits {
    uint64_t bytes;
    uint64_t entries;
};

// Limits in bytes and entries over one or more caches, and one order of eviction over all of them:
// README.md says which entries go. An entry costs the bytes that its builder stated, plus its log
// and its key. Thread-safe. A budget is created before its caches and destroyed after them.
struct zepi_build_budget; // opaque

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

// ---- Caches ----

// Key bytes to reference-counted results, through a build callback. For each key at most one build
// runs at a time; a thread that asks meanwhile waits for that build and for nothing else.
// Thread-safe. No lock is held while a callback, a destroy function or a store runs, so all of
// these may use any cache.
//
// One result may depend on another (a kernel handle on its module): the dependent's payload holds a
// reference to the other's result and releases it when destroyed.
struct zepi_build_cache; // opaque

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

// Builds the result for the key. Runs on the thread that asked, may take long, may ask any cache
// for other keys, in an order that has no circle. May be called twice for one lookup, with a zeroed
// output each time: after ZEPI_BUILD_OUT_OF_MEMORY.
typedef enum zepi_build_status zepi_build_fn(void *user, struct zepi_build_output *output);

enum zepi_build_lookup {
    ZEPI_LOOKUP_SUCCEEDED,     // the result has a payload
    ZEPI_LOOKUP_FAILED,        // the result has a code and a log
    ZEPI_LOOKUP_OUT_OF_MEMORY, // no result: the cache itself found no memory, not even after
                               // evicting
    ZEPI_LOOKUP_RECURSIVE,     // no result: the calling thread is building this key
};

// Returns an owned cache, or NULL without memory. `budget` is borrowed and outlives the cache.
// `store` is copied; NULL: one level only.
struct zepi_build_cache *zepi_build_cache_create(struct zepi_build_budget *budget,
                                                 const struct zepi_build_store *store);

// No thread may be inside another function of this cache. Results still in use live on. NULL is
// fine.
void zepi_build_cache_destroy(struct zepi_build_cache *cache);

// A new reference to the key's result if its build has succeeded, else NULL: builds nothing and
// waits for nothing. Only the former is counted.
struct zepi_build_result *zepi_build_cache_find(struct zepi_build_cache *cache,
                                                const struct zepi_key *key);

// Finds the result of a sealed key, or builds it, or waits for a build in progress (README.md has
// the states). `user` is borrowed for the call. On ZEPI_LOOKUP_SUCCEEDED and ZEPI_LOOKUP_FAILED
// *out_result is a new reference that the caller releases; otherwise NULL. A hit takes the budget's
// lock for one look, and makes no system call unless it is contended. Without a key (NULL) the
// result is built for the caller alone, and is in no cache.
enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      const struct zepi_key *key,
                                                      zepi_build_fn *build, void *user,
                                                      struct zepi_build_result **out_result);

// Forgets a key here and in the store: for a result that proved useless (a driver refused the
// binary).
void zepi_build_cache_remove(struct zepi_build_cache *cache, const struct zepi_key *key);

// Forgets all entries. Builds in progress finish, reach the threads that wait for them, and are not
// kept. Not counted as evictions. The store is left alone.
void zepi_build_cache_clear(struct zepi_build_cache *cache);

// All numbers are of one moment.
void zepi_build_cache_get_counters(struct zepi_build_cache *cache,
                                   struct zepi_build_counters *out_counters);

#endif
