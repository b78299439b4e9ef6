// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_CACHE_H
#define ZEPI_CACHE_BUILD_CACHE_H

#include "cache/build_budget.h"
#include "cache/build_result.h"
#include "cache/build_store.h"
#include "cache/key.h"

// Key bytes to reference-counted results, through a build callback. For each key at most one build
// runs at a time; a thread that asks meanwhile waits for that build and for nothing else.
// Thread-safe. No lock is held while a callback, a destroy function or a store runs, so all of
// these may use any cache.
//
// One result may depend on another (a kernel handle on its module): the dependent's payload holds a
// reference to the other's result and releases it when destroyed.
struct zepi_build_cache; // opaque

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

// Finds the result of a key, which is sealed here if it is not yet, or builds it, or waits for a
// build in progress (README.md has the states). `user` is borrowed for the call. On
// ZEPI_LOOKUP_SUCCEEDED and ZEPI_LOOKUP_FAILED *out_result is a new reference that the caller
// releases; otherwise NULL. A hit takes the budget's lock for one look, and makes no system call
// unless it is contended. Without a key (NULL) the result is built for the caller alone, and is in
// no cache.
enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      struct zepi_key *key, zepi_build_fn *build,
                                                      void *user,
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
