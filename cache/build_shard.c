// SPDX-License-Identifier: MIT
#include "cache/build_shard.h"

#include <assert.h>
#include <string.h>

static_assert(offsetof(struct zepi_build_entry, result) == 0,
              "the last release of a result frees the entry");

bool zepi_build_shard_init(struct zepi_build_shard *shard, struct zepi_build_charge *charge)
{
    pthread_mutexattr_t attributes;
    *shard = (struct zepi_build_shard){.charge = charge};
    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    int error = pthread_mutex_init(&shard->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error == 0;
}

void zepi_build_shard_finish(struct zepi_build_shard *shard)
{
    assert(!shard->table);
    pthread_mutex_destroy(&shard->mutex);
}

struct zepi_build_entry *zepi_build_entry_create(const struct zepi_key *key, uint64_t owner)
{
    struct zepi_build_entry *entry = zepi_seam_allocate_lines(sizeof(*entry) + key->size);
    if (!entry)
        return NULL;
    memset(entry, 0, sizeof(*entry));
    if (!zepi_build_result_init(&entry->result)) {
        zepi_seam_free(entry);
        return NULL;
    }
    entry->owner = owner;
    memcpy(entry->key, key->bytes, key->size);
    return entry;
}

static struct zepi_build_entry *entry_of_node(struct zepi_lru_node *node)
{
    return (struct zepi_build_entry *)((char *)node - offsetof(struct zepi_build_entry, lru));
}

static struct zepi_build_entry *find_locked(struct zepi_build_shard *shard,
                                            const struct zepi_key *key)
{
    struct zepi_build_entry *entry;
    HASH_FIND_BYHASHVALUE(hh, shard->table, key->bytes, key->size, zepi_key_table_bits(key), entry);
    return entry;
}

// A lookup that found this entry.
static struct zepi_build_result *hit_locked(struct zepi_build_shard *shard,
                                            struct zepi_build_entry *entry)
{
    shard->hits++;
    if (entry->is_kept)
        zepi_lru_touch(&shard->lru, &entry->lru);
    // Relaxed: this is about the count alone; who uses the result looks at the status again.
    if (atomic_load_explicit(&entry->result.status, memory_order_relaxed) == ZEPI_BUILD_IN_PROGRESS)
        shard->waits++;
    return zepi_build_result_retain(&entry->result);
}

struct zepi_build_result *zepi_build_shard_find(struct zepi_build_shard *shard,
                                                const struct zepi_key *key)
{
    struct zepi_build_result *result = NULL;
    pthread_mutex_lock(&shard->mutex);
    struct zepi_build_entry *entry = find_locked(shard, key);
    if (entry)
        result = hit_locked(shard, entry);
    pthread_mutex_unlock(&shard->mutex);
    return result;
}

static bool add_locked(struct zepi_build_shard *shard, const struct zepi_key *key,
                       struct zepi_build_entry *entry)
{
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, shard->table, entry->key, key->size, zepi_key_table_bits(key),
                                entry);
    if (!zepi_hash_was_added(&entry->hh))
        return false;
    entry->is_listed = true;
    zepi_build_result_retain(&entry->result);
    return true;
}

struct zepi_build_result *zepi_build_shard_find_or_add(struct zepi_build_shard *shard,
                                                       const struct zepi_key *key,
                                                       struct zepi_build_entry *placeholder)
{
    struct zepi_build_result *result = NULL;
    pthread_mutex_lock(&shard->mutex);
    struct zepi_build_entry *entry = find_locked(shard, key);
    if (entry) {
        result = hit_locked(shard, entry);
    } else if (add_locked(shard, key, placeholder)) {
        shard->misses++;
        result = &placeholder->result;
    }
    pthread_mutex_unlock(&shard->mutex);
    return result;
}

static void take_locked(struct zepi_build_shard *shard, struct zepi_build_entry *entry,
                        struct zepi_build_victims *victims)
{
    assert(entry->is_listed);
    HASH_DEL(shard->table, entry);
    entry->is_listed = false;
    if (entry->is_kept) {
        entry->is_kept = false;
        zepi_lru_remove(&shard->lru, &entry->lru);
        // Relaxed: the sums are read as numbers only.
        atomic_fetch_sub_explicit(&shard->charge->bytes, entry->lru.cost_bytes,
                                  memory_order_relaxed);
        atomic_fetch_sub_explicit(&shard->charge->entries, 1, memory_order_relaxed);
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

void zepi_build_shard_keep(struct zepi_build_shard *shard, struct zepi_build_entry *entry,
                           uint64_t cost_bytes)
{
    pthread_mutex_lock(&shard->mutex);
    if (entry->is_listed) {
        entry->is_kept = true;
        zepi_lru_add(&shard->lru, &entry->lru, cost_bytes);
        atomic_fetch_add_explicit(&shard->charge->bytes, cost_bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&shard->charge->entries, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&shard->mutex);
}

void zepi_build_shard_drop(struct zepi_build_shard *shard, struct zepi_build_entry *entry)
{
    struct zepi_build_victims victims = {0};
    pthread_mutex_lock(&shard->mutex);
    if (entry->is_listed)
        take_locked(shard, entry, &victims);
    pthread_mutex_unlock(&shard->mutex);
    zepi_build_victims_release(&victims);
}

void zepi_build_shard_take_key(struct zepi_build_shard *shard, const struct zepi_key *key,
                               struct zepi_build_victims *victims)
{
    pthread_mutex_lock(&shard->mutex);
    struct zepi_build_entry *entry = find_locked(shard, key);
    if (entry)
        take_locked(shard, entry, victims);
    pthread_mutex_unlock(&shard->mutex);
}

// Nobody but the table holds the result. Stays so while the mutex is held: new references come from
// the table, or from a holder, and there is none.
static bool is_unused_locked(const struct zepi_build_entry *entry)
{
    // Acquire: pairs with the release of the last holder.
    return entry->is_kept &&
           atomic_load_explicit(&entry->result.references, memory_order_acquire) == 1;
}

static bool is_asked_for_locked(const struct zepi_build_entry *entry, enum zepi_build_take which,
                                uint64_t owner)
{
    switch (which) {
    case ZEPI_BUILD_TAKE_ALL:
        return true;
    case ZEPI_BUILD_TAKE_OWNER:
        return entry->owner == owner;
    case ZEPI_BUILD_TAKE_UNUSED:
        return is_unused_locked(entry);
    }
    return false;
}

void zepi_build_shard_take(struct zepi_build_shard *shard, enum zepi_build_take which,
                           uint64_t owner, struct zepi_build_victims *victims)
{
    struct zepi_build_entry *entry, *next;
    pthread_mutex_lock(&shard->mutex);
    HASH_ITER(hh, shard->table, entry, next)
    {
        if (!is_asked_for_locked(entry, which, owner))
            continue;
        take_locked(shard, entry, victims);
        if (which == ZEPI_BUILD_TAKE_UNUSED)
            shard->evictions++;
    }
    pthread_mutex_unlock(&shard->mutex);
}

static struct zepi_build_entry *oldest_unused_locked(const struct zepi_build_shard *shard)
{
    for (struct zepi_lru_node *node = shard->lru.oldest; node; node = node->newer) {
        struct zepi_build_entry *entry = entry_of_node(node);
        if (is_unused_locked(entry))
            return entry;
    }
    return NULL;
}

uint64_t zepi_build_shard_oldest(struct zepi_build_shard *shard)
{
    pthread_mutex_lock(&shard->mutex);
    const struct zepi_build_entry *entry = oldest_unused_locked(shard);
    uint64_t stamp = entry ? entry->lru.stamp : UINT64_MAX;
    pthread_mutex_unlock(&shard->mutex);
    return stamp;
}

bool zepi_build_shard_take_oldest(struct zepi_build_shard *shard, uint64_t stamp,
                                  struct zepi_build_victims *victims)
{
    pthread_mutex_lock(&shard->mutex);
    struct zepi_build_entry *entry = oldest_unused_locked(shard);
    bool is_same = entry && entry->lru.stamp <= stamp;
    if (is_same) {
        take_locked(shard, entry, victims);
        shard->evictions++;
    }
    pthread_mutex_unlock(&shard->mutex);
    return is_same;
}
