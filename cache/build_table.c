// SPDX-License-Identifier: MIT
#include "cache/build_table.h"

#include <assert.h>
#include <string.h>

static_assert(offsetof(struct zepi_build_entry, result) == 0,
              "the last release of a result frees the entry");
static_assert(sizeof(struct zepi_build_gate) == 64, "a gate has a cache line of its own");

static void close_gates(struct zepi_build_table *table)
{
    for (int i = 0; i < ZEPI_THREAD_SHARDS; i++)
        zepi_mutex_lock(&table->gates[i].mutex);
}

static void open_gates(struct zepi_build_table *table)
{
    for (int i = ZEPI_THREAD_SHARDS - 1; i >= 0; i--)
        zepi_mutex_unlock(&table->gates[i].mutex);
}

void zepi_build_table_init(struct zepi_build_table *table, struct zepi_build_charge *charge)
{
    *table = (struct zepi_build_table){.charge = charge};
}

struct zepi_build_entry *zepi_build_entry_create(const struct zepi_key *key)
{
    struct zepi_build_entry *entry = zepi_seam_allocate_lines(sizeof(*entry) + key->size);
    if (!entry)
        return NULL;
    memset(entry, 0, sizeof(*entry));
    zepi_build_result_init(&entry->result);
    memcpy(entry->key, key->bytes, key->size);
    return entry;
}

static struct zepi_build_entry *entry_of_node(struct zepi_lru_node *node)
{
    return (struct zepi_build_entry *)((char *)node - offsetof(struct zepi_build_entry, lru));
}

static bool add_locked(struct zepi_build_table *table, const struct zepi_key *key,
                       struct zepi_build_entry *entry)
{
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, table->entries, entry->key, key->size, (unsigned)key->hash,
                                entry);
    if (!zepi_hash_was_added(&entry->hh))
        return false;
    entry->is_listed = true;
    zepi_build_result_retain(&entry->result);
    return true;
}

struct zepi_build_result *zepi_build_table_find_or_add(struct zepi_build_table *table,
                                                       const struct zepi_key *key,
                                                       struct zepi_build_entry *placeholder)
{
    struct zepi_build_result *result = NULL;
    close_gates(table);
    struct zepi_build_entry *entry = zepi_build_table_find_locked(table, key);
    if (entry) {
        result = zepi_build_table_hit_locked(&table->gates[0], entry);
    } else if (add_locked(table, key, placeholder)) {
        table->misses++;
        result = &placeholder->result;
    }
    open_gates(table);
    return result;
}

static void take_locked(struct zepi_build_table *table, struct zepi_build_entry *entry,
                        struct zepi_build_victims *victims)
{
    assert(entry->is_listed);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what is listed is in the table
    HASH_DEL(table->entries, entry);
    entry->is_listed = false;
    // Relaxed, here and below: the gates order.
    if (atomic_load_explicit(&entry->is_kept, memory_order_relaxed)) {
        atomic_store_explicit(&entry->is_kept, false, memory_order_relaxed);
        zepi_lru_remove(&table->lru, &entry->lru);
        // Relaxed: the sums are read as numbers only.
        atomic_fetch_sub_explicit(&table->charge->bytes, entry->lru.cost_bytes,
                                  memory_order_relaxed);
        atomic_fetch_sub_explicit(&table->charge->entries, 1, memory_order_relaxed);
    }
    entry->next_victim = victims->first;
    victims->first = entry;
    victims->count++;
}

void zepi_build_victims_release(struct zepi_build_victims *victims)
{
    struct zepi_build_entry *entry = victims->first;
    *victims = (struct zepi_build_victims){0};
    while (entry) {
        struct zepi_build_entry *next = entry->next_victim;
        zepi_build_result_release(&entry->result);
        entry = next;
    }
}

void zepi_build_table_keep(struct zepi_build_table *table, struct zepi_build_entry *entry,
                           uint64_t cost_bytes)
{
    close_gates(table);
    if (entry->is_listed) {
        atomic_store_explicit(&entry->is_kept, true, memory_order_relaxed);
        zepi_lru_add(&table->lru, &entry->lru, cost_bytes);
        atomic_fetch_add_explicit(&table->charge->bytes, cost_bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&table->charge->entries, 1, memory_order_relaxed);
    }
    open_gates(table);
}

void zepi_build_table_drop(struct zepi_build_table *table, struct zepi_build_entry *entry)
{
    struct zepi_build_victims victims = {0};
    close_gates(table);
    if (entry->is_listed)
        take_locked(table, entry, &victims);
    open_gates(table);
    zepi_build_victims_release(&victims);
}

void zepi_build_table_take_key(struct zepi_build_table *table, const struct zepi_key *key,
                               struct zepi_build_victims *victims)
{
    close_gates(table);
    struct zepi_build_entry *entry = zepi_build_table_find_locked(table, key);
    if (entry)
        take_locked(table, entry, victims);
    open_gates(table);
}

// Nobody but the table holds the result. Stays so while the gates are closed: new references come
// from the table, or from a holder, and there is none.
static bool is_unused_locked(const struct zepi_build_entry *entry)
{
    // Acquire: pairs with the release of the last holder.
    return atomic_load_explicit(&entry->is_kept, memory_order_relaxed) &&
           atomic_load_explicit(&entry->result.references, memory_order_acquire) == 1;
}

void zepi_build_table_take(struct zepi_build_table *table, enum zepi_build_take which,
                           struct zepi_build_victims *victims)
{
    struct zepi_build_entry *entry, *next;
    close_gates(table);
    HASH_ITER(hh, table->entries, entry, next)
    {
        if (which == ZEPI_BUILD_TAKE_UNUSED && !is_unused_locked(entry))
            continue;
        take_locked(table, entry, victims);
        if (which == ZEPI_BUILD_TAKE_UNUSED)
            table->evictions++;
    }
    open_gates(table);
}

static struct zepi_build_entry *oldest_unused_locked(struct zepi_build_table *table)
{
    uint64_t now = zepi_lru_stamp();
    struct zepi_lru_node *node;
    while ((node = zepi_lru_oldest(&table->lru)) && node->placed <= now) {
        struct zepi_build_entry *entry = entry_of_node(node);
        if (is_unused_locked(entry))
            return entry;
        // Its use goes on. Behind all that this search has not seen.
        atomic_store_explicit(&node->last_use, now + 1, memory_order_relaxed);
    }
    return NULL;
}

uint64_t zepi_build_table_oldest(struct zepi_build_table *table)
{
    close_gates(table);
    const struct zepi_build_entry *entry = oldest_unused_locked(table);
    uint64_t stamp = entry ? entry->lru.placed : UINT64_MAX;
    open_gates(table);
    return stamp;
}

bool zepi_build_table_take_oldest(struct zepi_build_table *table, uint64_t stamp,
                                  struct zepi_build_victims *victims)
{
    close_gates(table);
    struct zepi_build_entry *entry = oldest_unused_locked(table);
    bool is_same = entry && entry->lru.placed <= stamp;
    if (is_same) {
        take_locked(table, entry, victims);
        table->evictions++;
    }
    open_gates(table);
    return is_same;
}

struct zepi_build_table_counters zepi_build_table_count(struct zepi_build_table *table)
{
    struct zepi_build_table_counters counters = {0};
    close_gates(table);
    for (int i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        counters.hits += table->gates[i].hits;
        counters.waits += table->gates[i].waits;
    }
    counters.misses = table->misses;
    counters.evictions = table->evictions;
    counters.bytes = table->lru.bytes;
    counters.entries = table->lru.entries;
    open_gates(table);
    return counters;
}
