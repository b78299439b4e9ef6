// SPDX-License-Identifier: MIT
#include "cache/build_budget.h"

#include "core/sys.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

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

// Takes the unused entry whose last use is oldest. NULL: there is none.
static struct zepi_build_result *budget_take_oldest_locked(struct zepi_build_budget *budget)
{
    for (uint64_t left = budget->entries; left > 0; left--) {
        struct zepi_build_entry *oldest = budget->by_use;
        if (entry_is_unused_locked(oldest)) {
            oldest->cache->counters.evictions++;
            atomic_fetch_add_explicit(&evictions, 1, memory_order_relaxed);
            return zepi_build_entry_take_locked(oldest);
        }
        // Its use goes on.
        zepi_build_entry_use_locked(oldest);
    }
    return NULL;
}

static void budget_evict_down_to(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    struct zepi_build_result *victim;
    do {
        zepi_mutex_lock(&budget->mutex);
        victim =
            budget_is_exceeded_locked(budget, limits) ? budget_take_oldest_locked(budget) : NULL;
        zepi_mutex_unlock(&budget->mutex);
        // One at a time: the destruction of this one may make another one unused.
        zepi_build_result_release(victim);
    } while (victim);
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

// ---- Entries ----

static_assert(offsetof(struct zepi_build_entry, result) == 0,
              "the last release of a result frees the entry");

struct zepi_build_entry *zepi_build_entry_create(struct zepi_build_cache *cache,
                                                 const struct zepi_key *key)
{
    struct zepi_build_entry *entry = zepi_sys_allocate_lines(sizeof(*entry) + key->size);
    if (!entry)
        return NULL;
    memset(entry, 0, sizeof(*entry));
    zepi_build_result_init(&entry->result);
    entry->cache = cache;
    memcpy(entry->key, key->bytes, key->size);
    return entry;
}

bool zepi_build_entry_add_locked(struct zepi_build_entry *entry, const struct zepi_key *key)
{
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, entry->cache->entries, entry->key, key->size,
                                (unsigned)key->hash, entry);
    if (!zepi_hash_was_added(&entry->hh))
        return false;
    entry->is_listed = true;
    zepi_build_result_retain(&entry->result);
    return true;
}

// NOLINTBEGIN(clang-analyzer-core.NullDereference): a member of a list has neighbours
void zepi_build_entry_keep_locked(struct zepi_build_entry *entry, uint64_t cost_bytes)
{
    struct zepi_build_cache *cache = entry->cache;
    struct zepi_build_budget *budget = cache->budget;
    DL_APPEND2(budget->by_use, entry, previous, next);
    entry->cost_bytes = cost_bytes;
    budget->bytes += cost_bytes;
    budget->entries++;
    cache->counters.bytes += cost_bytes;
    cache->counters.entries++;
    entry->is_kept = true;
}

struct zepi_build_result *zepi_build_entry_take_locked(struct zepi_build_entry *entry)
{
    struct zepi_build_cache *cache = entry->cache;
    struct zepi_build_budget *budget = cache->budget;
    assert(entry->is_listed);
    HASH_DEL(cache->entries, entry);
    entry->is_listed = false;
    if (entry->is_kept) {
        entry->is_kept = false;
        DL_DELETE2(budget->by_use, entry, previous, next);
        budget->bytes -= entry->cost_bytes;
        budget->entries--;
        cache->counters.bytes -= entry->cost_bytes;
        cache->counters.entries--;
    }
    return &entry->result;
}
// NOLINTEND(clang-analyzer-core.NullDereference)
