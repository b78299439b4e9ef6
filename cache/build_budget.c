// SPDX-License-Identifier: MIT
#include "cache/build_budget.h"
#include "cache/build_budget_members.h"

#include <assert.h>
#include <pthread.h>

struct zepi_build_budget {
    _Atomic uint64_t limit_bytes;
    _Atomic uint64_t limit_entries;
    struct zepi_build_charge charge;
    void (*reclaim)(void *user); // NULL: there is nothing
    void *reclaim_user;
    // Guards the list of tables and lets one thread at a time choose a victim, so that two of them
    // do not both answer one excess. Gates of the tables are taken under it, those of one table at
    // a time; victims are destroyed after it.
    pthread_mutex_t mutex;
    struct zepi_build_table *tables; // borrowed
};

struct zepi_build_budget *zepi_build_budget_create(struct zepi_build_limits limits)
{
    struct zepi_build_budget *budget = zepi_seam_allocate_lines(sizeof(*budget));
    if (!budget)
        return NULL;
    if (pthread_mutex_init(&budget->mutex, NULL) != 0) {
        zepi_seam_free(budget);
        return NULL;
    }
    atomic_init(&budget->limit_bytes, limits.bytes);
    atomic_init(&budget->limit_entries, limits.entries);
    atomic_init(&budget->charge.bytes, 0);
    atomic_init(&budget->charge.entries, 0);
    budget->reclaim = NULL;
    budget->tables = NULL;
    return budget;
}

void zepi_build_budget_set_reclaim(struct zepi_build_budget *budget, void (*reclaim)(void *user),
                                   void *user)
{
    budget->reclaim = reclaim;
    budget->reclaim_user = user;
}

static void reclaim(const struct zepi_build_budget *budget)
{
    if (budget->reclaim)
        budget->reclaim(budget->reclaim_user);
}

void zepi_build_budget_destroy(struct zepi_build_budget *budget)
{
    if (!budget)
        return;
    assert(!budget->tables);
    pthread_mutex_destroy(&budget->mutex);
    zepi_seam_free(budget);
}

void zepi_build_budget_join(struct zepi_build_budget *budget, struct zepi_build_table *table)
{
    zepi_build_table_init(table, &budget->charge);
    pthread_mutex_lock(&budget->mutex);
    table->next = budget->tables;
    budget->tables = table;
    pthread_mutex_unlock(&budget->mutex);
}

void zepi_build_budget_leave(struct zepi_build_budget *budget, struct zepi_build_table *table)
{
    assert(!table->entries);
    pthread_mutex_lock(&budget->mutex);
    struct zepi_build_table **at = &budget->tables;
    while (*at != table)
        at = &(*at)->next;
    *at = table->next;
    pthread_mutex_unlock(&budget->mutex);
}

// All numbers below are read relaxed: each is right by itself, and a limit that is overrun for a
// moment is caught by whoever overran it.
struct zepi_build_limits zepi_build_budget_limits(const struct zepi_build_budget *budget)
{
    return (struct zepi_build_limits){
        .bytes = atomic_load_explicit(&budget->limit_bytes, memory_order_relaxed),
        .entries = atomic_load_explicit(&budget->limit_entries, memory_order_relaxed),
    };
}

uint64_t zepi_build_budget_bytes(const struct zepi_build_budget *budget)
{
    return atomic_load_explicit(&budget->charge.bytes, memory_order_relaxed);
}

uint64_t zepi_build_budget_entries(const struct zepi_build_budget *budget)
{
    return atomic_load_explicit(&budget->charge.entries, memory_order_relaxed);
}

bool zepi_build_budget_admits(const struct zepi_build_budget *budget, uint64_t cost_bytes)
{
    struct zepi_build_limits limits = zepi_build_budget_limits(budget);
    return limits.entries > 0 && cost_bytes <= limits.bytes;
}

static bool is_exceeded(const struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    return zepi_build_budget_bytes(budget) > limits.bytes ||
           zepi_build_budget_entries(budget) > limits.entries;
}

// Takes the unused entry whose last use is oldest. Returns false if there is none.
static bool take_oldest_locked(struct zepi_build_budget *budget, struct zepi_build_victims *victims)
{
    for (;;) {
        struct zepi_build_table *oldest_table = NULL;
        uint64_t oldest = UINT64_MAX;
        for (struct zepi_build_table *table = budget->tables; table; table = table->next) {
            uint64_t stamp = zepi_build_table_oldest(table);
            if (stamp < oldest) {
                oldest = stamp;
                oldest_table = table;
            }
        }
        if (!oldest_table)
            return false;
        if (zepi_build_table_take_oldest(oldest_table, oldest, victims))
            return true;
        // It was used between the two looks: choose again.
    }
}

static size_t evict_down_to(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    size_t evicted = 0;
    // Cheap and usual: nothing to do, no lock.
    if (!is_exceeded(budget, limits))
        return 0;
    reclaim(budget);
    while (is_exceeded(budget, limits)) {
        struct zepi_build_victims victims = {0};
        pthread_mutex_lock(&budget->mutex);
        bool found = is_exceeded(budget, limits) && take_oldest_locked(budget, &victims);
        pthread_mutex_unlock(&budget->mutex);
        if (!found)
            break;
        evicted += victims.count;
        // One at a time: the destruction of this one may make another one unused.
        zepi_build_victims_release(&victims);
    }
    return evicted;
}

static size_t evict_all_unused(struct zepi_build_budget *budget)
{
    size_t evicted = 0;
    reclaim(budget);
    for (;;) {
        struct zepi_build_victims victims = {0};
        pthread_mutex_lock(&budget->mutex);
        for (struct zepi_build_table *table = budget->tables; table; table = table->next)
            zepi_build_table_take(table, ZEPI_BUILD_TAKE_UNUSED, &victims);
        pthread_mutex_unlock(&budget->mutex);
        if (victims.count == 0)
            return evicted;
        evicted += victims.count;
        zepi_build_victims_release(&victims);
    }
}

void zepi_build_budget_enforce(struct zepi_build_budget *budget)
{
    evict_down_to(budget, zepi_build_budget_limits(budget));
}

void zepi_build_budget_set_limits(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    atomic_store_explicit(&budget->limit_bytes, limits.bytes, memory_order_relaxed);
    atomic_store_explicit(&budget->limit_entries, limits.entries, memory_order_relaxed);
    evict_down_to(budget, limits);
}

size_t zepi_build_budget_trim(struct zepi_build_budget *budget, uint64_t bytes)
{
    if (bytes == 0)
        return evict_all_unused(budget);
    return evict_down_to(
        budget, (struct zepi_build_limits){.bytes = bytes, .entries = ZEPI_BUILD_UNLIMITED});
}
