// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_BUDGET_MEMBERS_H
#define ZEPI_CACHE_BUILD_BUDGET_MEMBERS_H

#include "cache/build_budget.h"
#include "cache/build_shard.h"

#include <stdbool.h>

// Private to the build cache: what a cache and its budget know of each other.

enum { ZEPI_BUILD_SHARDS = 32 };

// One cache's shards, as a member of its budget.
struct zepi_build_member {
    struct zepi_build_shard shards[ZEPI_BUILD_SHARDS];
    struct zepi_build_member *next; // guarded by the budget's mutex
};

// Initialises the shards and joins the budget. Returns false without resources (nothing to undo).
bool zepi_build_budget_join(struct zepi_build_budget *budget, struct zepi_build_member *member);
// Leaves it again. The shards must be empty.
void zepi_build_budget_leave(struct zepi_build_budget *budget, struct zepi_build_member *member);

// Whether an entry of this cost is worth keeping at all.
bool zepi_build_budget_admits(const struct zepi_build_budget *budget, uint64_t cost_bytes);

// Evicts until the limits hold. Called under no lock.
void zepi_build_budget_enforce(struct zepi_build_budget *budget);

#endif
