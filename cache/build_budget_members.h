// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_BUDGET_MEMBERS_H
#define ZEPI_CACHE_BUILD_BUDGET_MEMBERS_H

#include "cache/build_budget.h"
#include "cache/build_table.h"

#include <stdbool.h>

// Private to the build cache: what a cache and its budget know of each other.

// Initialises a table as a member of the budget.
void zepi_build_budget_join(struct zepi_build_budget *budget, struct zepi_build_table *table);
// Leaves it again and finishes the table, which must be empty.
void zepi_build_budget_leave(struct zepi_build_budget *budget, struct zepi_build_table *table);

// Whether an entry of this cost is worth keeping at all.
bool zepi_build_budget_admits(const struct zepi_build_budget *budget, uint64_t cost_bytes);

// Evicts until the limits hold. Called under no lock.
void zepi_build_budget_enforce(struct zepi_build_budget *budget);

#endif
