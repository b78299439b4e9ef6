// SPDX-License-Identifier: MIT
#include "cache/build_budget.h"
#include "cache/build_entry.h"

#include <assert.h>

struct zepi_build_budget *zepi_build_budget_create(struct zepi_build_limits limits)
{
    struct zepi_build_budget *budget = zepi_sys_allocate_lines(sizeof(*budget));
    if (budget)
        *budget = (struct zepi_build_budget){.limits = limits};
    return budget;
}

void zepi_build_budget_destroy(struct zepi_build_budget *budget)
{
    if (!budget)
        return;
    assert(!budget->by_use);
    zepi_sys_free(budget);
}

struct zepi_build_limits zepi_build_budget_limits(struct zepi_build_budget *budget)
{
    zepi_mutex_lock(&budget->mutex);
    const struct zepi_build_limits limits = budget->limits;
    zepi_mutex_unlock(&budget->mutex);
    return limits;
}

struct zepi_build_limits zepi_build_budget_kept(struct zepi_build_budget *budget)
{
    zepi_mutex_lock(&budget->mutex);
    const struct zepi_build_limits kept = {.bytes = budget->bytes, .entries = budget->entries};
    zepi_mutex_unlock(&budget->mutex);
    return kept;
}

static bool budget_is_exceeded_locked(const struct zepi_build_budget *budget,
                                      struct zepi_build_limits limits)
{
    return budget->bytes > limits.bytes || budget->entries > limits.entries;
}

static atomic_uint_fast64_t evictions; // of all budgets

// Only the cache holds the result. It stays so while the lock is held: a reference is made by the
// cache, or by a holder, and there is none.
static bool entry_is_unused_locked(const struct zepi_build_entry *entry)
{
    // Acquire: pairs with the release of the last holder.
    return atomic_load_explicit(&entry->result.references, memory_order_acquire) == 1;
}

// Takes the unused entry whose last use is oldest. Returns false if there is none.
static bool budget_take_oldest_locked(struct zepi_build_budget *budget,
                                      struct zepi_build_victims *victims)
{
    for (uint64_t left = budget->entries; left > 0; left--) {
        struct zepi_build_entry *oldest = budget->by_use;
        if (entry_is_unused_locked(oldest)) {
            oldest->cache->counters.evictions++;
            atomic_fetch_add_explicit(&evictions, 1, memory_order_relaxed);
            zepi_build_entry_take_locked(oldest, victims);
            return true;
        }
        // Its use goes on.
        zepi_build_entry_use_locked(oldest);
    }
    return false;
}

static void budget_evict_down_to(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    bool is_found = true;
    while (is_found) {
        struct zepi_build_victims victims = {0};
        zepi_mutex_lock(&budget->mutex);
        is_found = budget_is_exceeded_locked(budget, limits) &&
                   budget_take_oldest_locked(budget, &victims);
        zepi_mutex_unlock(&budget->mutex);
        // One at a time: the destruction of this one may make another one unused.
        zepi_build_victims_release(&victims);
    }
}

void zepi_build_budget_enforce(struct zepi_build_budget *budget)
{
    budget_evict_down_to(budget, zepi_build_budget_limits(budget));
}

void zepi_build_budget_set_limits(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    zepi_mutex_lock(&budget->mutex);
    budget->limits = limits;
    zepi_mutex_unlock(&budget->mutex);
    budget_evict_down_to(budget, limits);
}

void zepi_build_budget_trim(struct zepi_build_budget *budget, uint64_t bytes)
{
    // An entry may cost nothing.
    const uint64_t entries = bytes > 0 ? ZEPI_BUILD_UNLIMITED : 0;
    budget_evict_down_to(budget, (struct zepi_build_limits){.bytes = bytes, .entries = entries});
}

uint64_t zepi_build_budget_evictions(void)
{
    return atomic_load_explicit(&evictions, memory_order_relaxed);
}
