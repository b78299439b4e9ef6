// SPDX-License-Identifier: MIT
#include "cache/build_entry.h"

#include "core/sys.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

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
void zepi_build_entry_use_locked(struct zepi_build_entry *entry)
{
    struct zepi_build_budget *budget = entry->cache->budget;
    if (!entry->next)
        return;
    DL_DELETE2(budget->by_use, entry, previous, next);
    DL_APPEND2(budget->by_use, entry, previous, next);
}

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
