// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_BUDGET_H
#define ZEPI_CACHE_BUILD_BUDGET_H

#include "cache/build_limits.h"

// Limits in bytes and entries over one or more caches, and one order of eviction over all of them:
// the victim is the unused entry whose last use is oldest, in whichever cache it is. *Unused* means
// that only the cache holds its result; a use lasts until the result is released. Entries in
// use are never victims: while they alone exceed a limit, the limit is exceeded; the excess
// is evicted, once they are released, at the next insertion, trim or change of limits.
//
// An entry costs the bytes that its builder stated, plus its log and its key. An entry that alone
// costs more than the limit in bytes is given to its callers and not kept, so that it does not
// empty the cache.
//
// Thread-safe. A budget is created before its caches and destroyed after them.

struct zepi_build_budget; // opaque
struct zepi_build_cache;

// Returns an owned budget, or NULL without memory.
struct zepi_build_budget *zepi_build_budget_create(struct zepi_build_limits limits);

// NULL is fine.
void zepi_build_budget_destroy(struct zepi_build_budget *budget);

// Takes effect at once: evicts down to the new limits before it returns. Destroy functions run on
// the calling thread.
void zepi_build_budget_set_limits(struct zepi_build_budget *budget,
                                  struct zepi_build_limits limits);
struct zepi_build_limits zepi_build_budget_limits(struct zepi_build_budget *budget);

// The entries and bytes kept now, in the terms of the limits.
struct zepi_build_limits zepi_build_budget_kept(struct zepi_build_budget *budget);

// Evicts unused entries, oldest use first, until at most `bytes` are kept or all that is left is in
// use. An entry that became unused because its dependent was destroyed (a module after its last
// cached kernel) counts too. 0 evicts everything unused.
void zepi_build_budget_trim(struct zepi_build_budget *budget, uint64_t bytes);

// How many entries all budgets of the process have evicted.
uint64_t zepi_build_budget_evictions(void);

#endif
