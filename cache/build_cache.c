// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"

#include "cache/hash.h"
#include "core/mutex.h"
#include "core/sys.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

// One lock, the budget's, is over all caches of a budget: a hit holds it for a look into a hash
// table, a change around a build for little more.

struct zepi_build_budget {
    // Guards all members below, and the entries and counters of the budget's caches.
    // Under it: allocation of hash buckets, and no callback, destroy function, store or wait.
    struct zepi_mutex mutex;
    struct zepi_build_limits limits;
    uint64_t bytes; // of the kept entries, their costs
    uint64_t entries;
    struct entry *by_use; // the kept entries of all caches, oldest use first; utlist
};

struct zepi_build_cache {
    struct zepi_build_budget *budget; // borrowed
    struct zepi_build_store store;    // store.ops is NULL if there is none
    // Guarded by the budget's mutex.
    struct entry *entries; // uthash
    struct zepi_build_counters counters;
};

// One key of a cache. The cache holds one reference to the result.
struct entry {
    struct zepi_build_result result; // first: the last release of the result frees the entry
    struct zepi_build_cache *cache;  // borrowed, constant
    // Guarded by the budget's mutex.
    UT_hash_handle hh;
    struct entry *next; // by use, while kept; else of the victims
    struct entry *previous;
    uint64_t cost_bytes;
    bool is_listed; // in the cache
    bool is_kept;   // in the order of use, and charged: once the build is over
    uint8_t key[];  // constant
};

// ---- Entries ----

static_assert(offsetof(struct entry, result) == 0, "the last release of a result frees the entry");

// A placeholder for the key, in progress, built by the calling thread, with one reference; or NULL.
static struct entry *entry_create(struct zepi_build_cache *cache, const struct zepi_key *key)
{
    struct entry *entry = zepi_sys_allocate_lines(sizeof(*entry) + key->size);
    if (!entry)
        return NULL;
    memset(entry, 0, sizeof(*entry));
    zepi_build_result_init(&entry->result);
    entry->cache = cache;
    memcpy(entry->key, key->bytes, key->size);
    return entry;
}

// Puts a placeholder into its cache. Returns false if the table could not grow.
static bool entry_add_locked(struct entry *entry, const struct zepi_key *key)
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
// A kept entry is used now: it becomes the last in the order of use. Without effect on one whose
// build is not over.
static void entry_use_locked(struct entry *entry)
{
    struct zepi_build_budget *budget = entry->cache->budget;
    if (!entry->next)
        return;
    DL_DELETE2(budget->by_use, entry, previous, next);
    DL_APPEND2(budget->by_use, entry, previous, next);
}

// Keeps an entry of a cache, as just used.
static void entry_keep_locked(struct entry *entry, uint64_t cost_bytes)
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

static struct entry *entry_find_locked(const struct zepi_build_cache *cache,
                                       const struct zepi_key *key)
{
    struct entry *entry;
    HASH_FIND_BYHASHVALUE(hh, cache->entries, key->bytes, key->size, (unsigned)key->hash, entry);
    return entry;
}

// Takes an entry that is in its cache out of it. `victims` are then released under no lock.
static void entry_take_locked(struct entry *entry, struct entry **victims)
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
    LL_PREPEND(*victims, entry);
}
// NOLINTEND(clang-analyzer-core.NullDereference)

// Drops the cache's reference of each.
static void release_victims(struct entry *victims)
{
    while (victims) {
        struct entry *entry = victims;
        victims = entry->next;
        zepi_build_result_release(&entry->result);
    }
}

// ---- Budgets ----

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
static bool entry_is_unused_locked(const struct entry *entry)
{
    // Acquire: pairs with the release of the last holder.
    return atomic_load_explicit(&entry->result.references, memory_order_acquire) == 1;
}

// Takes the unused entry whose last use is oldest. Returns false if there is none.
static bool budget_take_oldest_locked(struct zepi_build_budget *budget, struct entry **victims)
{
    for (uint64_t left = budget->entries; left > 0; left--) {
        struct entry *oldest = budget->by_use;
        if (entry_is_unused_locked(oldest)) {
            oldest->cache->counters.evictions++;
            atomic_fetch_add_explicit(&evictions, 1, memory_order_relaxed);
            entry_take_locked(oldest, victims);
            return true;
        }
        // Its use goes on.
        entry_use_locked(oldest);
    }
    return false;
}

static void budget_evict_down_to(struct zepi_build_budget *budget, struct zepi_build_limits limits)
{
    bool is_found = true;
    while (is_found) {
        struct entry *victims = NULL;
        zepi_mutex_lock(&budget->mutex);
        is_found = budget_is_exceeded_locked(budget, limits) &&
                   budget_take_oldest_locked(budget, &victims);
        zepi_mutex_unlock(&budget->mutex);
        // One at a time: the destruction of this one may make another one unused.
        release_victims(victims);
    }
}

// Evicts until the limits hold. Called under no lock.
static void budget_enforce(struct zepi_build_budget *budget)
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

// ---- Builds ----

// A build on its way into the result.
struct build {
    enum zepi_build_status status;
    struct zepi_build_output output;
    uint64_t calls; // of the callback; 0: the store had it
    uint64_t duration_ns;
};

struct zepi_build_cache *zepi_build_cache_create(struct zepi_build_budget *budget,
                                                 const struct zepi_build_store *store)
{
    struct zepi_build_cache *cache = zepi_sys_allocate_lines(sizeof(*cache));
    if (!cache)
        return NULL;
    *cache = (struct zepi_build_cache){.budget = budget};
    if (store)
        cache->store = *store;
    return cache;
}

void zepi_build_cache_destroy(struct zepi_build_cache *cache)
{
    if (!cache)
        return;
    zepi_build_cache_clear(cache);
    zepi_sys_free(cache);
}

static bool build_cache_load(struct zepi_build_cache *cache, const struct zepi_key *key,
                             struct build *out_build)
{
    const struct zepi_build_store *store = &cache->store;
    struct zepi_build_record record = {0};
    if (!store->ops || !store->ops->load(store->self, key, &record))
        return false;
    const bool is_loaded =
        store->make_payload(&out_build->output, record.payload, record.payload_size) &&
        zepi_build_output_set_log(&out_build->output, record.log, record.log_size);
    if (is_loaded)
        out_build->status = ZEPI_BUILD_SUCCEEDED;
    else
        zepi_build_output_finish(&out_build->output);
    zepi_build_record_finish(&record);
    return is_loaded;
}

// The end of a build: stores its result, or lets the store know that there is none.
static void build_cache_save(struct zepi_build_cache *cache, const struct zepi_key *key,
                             const struct zepi_build_result *result)
{
    const struct zepi_build_store *store = &cache->store;
    const struct zepi_build_record record = {.payload = zepi_build_result_stored(result),
                                             .payload_size = zepi_build_result_stored_size(result),
                                             .log = zepi_build_result_log(result),
                                             .log_size = zepi_build_result_log_size(result)};
    if (!store->ops)
        return;
    if (!record.payload) {
        if (store->ops->abandon)
            store->ops->abandon(store->self, key);
        return;
    }
    store->ops->store(store->self, key, &record);
}

static void build_cache_build(struct zepi_build_cache *cache,
                              const struct zepi_build_request *request, struct build *out_build)
{
    const uint64_t begin_ns = zepi_clock_ns();
    out_build->calls = 1;
    out_build->status = request->build(request->user, &out_build->output);
    if (out_build->status == ZEPI_BUILD_OUT_OF_MEMORY) {
        zepi_build_output_finish(&out_build->output);
        zepi_build_budget_trim(cache->budget, 0);
        out_build->calls++;
        out_build->status = request->build(request->user, &out_build->output);
    }
    out_build->duration_ns = zepi_clock_ns() - begin_ns;
}

static void build_cache_count_locked(struct zepi_build_cache *cache, const struct build *build)
{
    struct zepi_build_counters *counters = &cache->counters;
    counters->builds += build->calls;
    counters->build_ns += build->duration_ns;
    counters->failures += build->status != ZEPI_BUILD_SUCCEEDED;
    if (cache->store.ops)
        *(build->calls == 0 ? &counters->store_hits : &counters->store_misses) += 1;
}

// The build of a placeholder is over: keeps it from now on, or takes it out. If it was taken out
// meanwhile, it stays so.
static void build_cache_keep_or_drop(struct zepi_build_cache *cache, const struct zepi_key *key,
                                     struct entry *entry, const struct build *build)
{
    struct zepi_build_budget *budget = cache->budget;
    struct entry *victims = NULL;
    const uint64_t cost_bytes = build->output.cost_bytes + build->output.log_size + key->size;
    const bool is_final =
        build->status == ZEPI_BUILD_SUCCEEDED || build->status == ZEPI_BUILD_FAILED;
    zepi_mutex_lock(&budget->mutex);
    build_cache_count_locked(cache, build);
    if (entry->is_listed) {
        if (is_final && budget->limits.entries > 0 && cost_bytes <= budget->limits.bytes)
            entry_keep_locked(entry, cost_bytes);
        else
            entry_take_locked(entry, &victims);
    }
    zepi_mutex_unlock(&budget->mutex);
    release_victims(victims);
}

// Fills the placeholder that the calling thread has put into the cache.
static void build_cache_fill(struct zepi_build_cache *cache, const struct zepi_key *key,
                             const struct zepi_build_request *request, struct entry *entry)
{
    struct build build = {0};
    const bool is_loaded = build_cache_load(cache, key, &build);
    if (!is_loaded)
        build_cache_build(cache, request, &build);
    // Before the waiting threads wake: one that looks up anew after a spurious failure must not
    // find this entry again.
    build_cache_keep_or_drop(cache, key, entry, &build);
    zepi_build_result_publish(&entry->result, build.status, &build.output);
    budget_enforce(cache->budget);
    // After they woke: they need not wait for a file.
    if (!is_loaded)
        build_cache_save(cache, key, &entry->result);
}

// A lookup that found this entry: counts it and its use, and returns a new reference.
static struct zepi_build_result *build_cache_hit_locked(struct entry *entry)
{
    struct zepi_build_counters *counters = &entry->cache->counters;
    counters->hits++;
    entry_use_locked(entry);
    counters->waits += !entry->is_kept;
    return zepi_build_result_retain(&entry->result);
}

// A new reference to the key's result, in whatever state or of a success alone; or NULL, and then
// counts nothing.
static struct zepi_build_result *build_cache_find(struct zepi_build_cache *cache,
                                                  const struct zepi_key *key, bool wants_success)
{
    struct zepi_build_result *result = NULL;
    assert(key->is_sealed);
    zepi_mutex_lock(&cache->budget->mutex);
    struct entry *entry = entry_find_locked(cache, key);
    if (entry && (!wants_success || zepi_build_result_has_succeeded(&entry->result)))
        result = build_cache_hit_locked(entry);
    zepi_mutex_unlock(&cache->budget->mutex);
    return result;
}

// The entry's result, or that of a placeholder that the caller fills: *out_placeholder then.
// NULL without memory.
static struct zepi_build_result *build_cache_find_or_add(struct zepi_build_cache *cache,
                                                         const struct zepi_key *key,
                                                         struct entry **out_placeholder)
{
    struct zepi_build_result *result = NULL;
    struct entry *placeholder = entry_create(cache, key);
    if (!placeholder)
        return NULL;
    zepi_mutex_lock(&cache->budget->mutex);
    struct entry *entry = entry_find_locked(cache, key);
    if (entry) {
        result = build_cache_hit_locked(entry);
    } else if (entry_add_locked(placeholder, key)) {
        cache->counters.misses++;
        result = &placeholder->result;
        *out_placeholder = placeholder;
    }
    zepi_mutex_unlock(&cache->budget->mutex);
    if (result != &placeholder->result)
        zepi_build_result_release(&placeholder->result);
    return result;
}

static enum zepi_build_lookup build_cache_end_lookup(struct zepi_build_result *result,
                                                     struct zepi_build_result **out_result)
{
    *out_result = result;
    return zepi_build_result_has_succeeded(result) ? ZEPI_LOOKUP_SUCCEEDED : ZEPI_LOOKUP_FAILED;
}

// Whether a result that another thread built is none: each waiting thread looks up anew.
static bool result_is_spurious(const struct zepi_build_result *result)
{
    const enum zepi_build_status status = zepi_build_result_status(result);
    return status == ZEPI_BUILD_SPURIOUS || status == ZEPI_BUILD_OUT_OF_MEMORY;
}

// Everything but the hit on a finished result. `result` is that of the first lookup.
static enum zepi_build_lookup
build_cache_find_or_build_slowly(struct zepi_build_cache *cache, const struct zepi_key *key,
                                 const struct zepi_build_request *request,
                                 struct zepi_build_result *result,
                                 struct zepi_build_result **out_result)
{
    *out_result = NULL;
    for (;;) {
        struct entry *placeholder = NULL;
        if (!result)
            result = build_cache_find_or_add(cache, key, &placeholder);
        if (!result) {
            zepi_build_budget_trim(cache->budget, 0);
            result = build_cache_find_or_add(cache, key, &placeholder);
        }
        if (!result)
            return ZEPI_LOOKUP_OUT_OF_MEMORY;
        if (placeholder) {
            build_cache_fill(cache, key, request, placeholder);
            return build_cache_end_lookup(result, out_result);
        }
        const bool is_over = zepi_build_result_wait(result);
        if (is_over && !result_is_spurious(result))
            return build_cache_end_lookup(result, out_result);
        zepi_build_result_release(result);
        if (!is_over)
            return ZEPI_LOOKUP_RECURSIVE;
        result = build_cache_find(cache, key, false);
    }
}

// Keeps and counts nothing.
static enum zepi_build_lookup build_cache_build_alone(struct zepi_build_cache *cache,
                                                      const struct zepi_build_request *request,
                                                      struct zepi_build_result **out_result)
{
    struct build build = {0};
    struct zepi_build_result *result = zepi_sys_allocate_lines(sizeof(*result));
    *out_result = NULL;
    if (!result)
        return ZEPI_LOOKUP_OUT_OF_MEMORY;
    zepi_build_result_init(result);
    build_cache_build(cache, request, &build);
    zepi_build_result_publish(result, build.status, &build.output);
    return build_cache_end_lookup(result, out_result);
}

struct zepi_build_result *zepi_build_cache_find(struct zepi_build_cache *cache,
                                                const struct zepi_key *key)
{
    return build_cache_find(cache, key, true);
}

enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      const struct zepi_key *key,
                                                      const struct zepi_build_request *request,
                                                      struct zepi_build_result **out_result)
{
    if (!key)
        return build_cache_build_alone(cache, request, out_result);
    struct zepi_build_result *result = build_cache_find(cache, key, false);
    if (result && zepi_build_result_status(result) != ZEPI_BUILD_IN_PROGRESS &&
        !result_is_spurious(result))
        return build_cache_end_lookup(result, out_result);
    return build_cache_find_or_build_slowly(cache, key, request, result, out_result);
}

void zepi_build_cache_remove(struct zepi_build_cache *cache, const struct zepi_key *key)
{
    struct entry *victims = NULL;
    zepi_mutex_lock(&cache->budget->mutex);
    struct entry *entry = entry_find_locked(cache, key);
    if (entry)
        entry_take_locked(entry, &victims);
    zepi_mutex_unlock(&cache->budget->mutex);
    release_victims(victims);
    if (cache->store.ops)
        cache->store.ops->remove(cache->store.self, key);
}

void zepi_build_cache_clear(struct zepi_build_cache *cache)
{
    struct entry *victims = NULL;
    struct entry *entry, *next;
    zepi_mutex_lock(&cache->budget->mutex);
    HASH_ITER(hh, cache->entries, entry, next)
    {
        entry_take_locked(entry, &victims);
    }
    zepi_mutex_unlock(&cache->budget->mutex);
    release_victims(victims);
}

void zepi_build_cache_get_counters(struct zepi_build_cache *cache,
                                   struct zepi_build_counters *out_counters)
{
    zepi_mutex_lock(&cache->budget->mutex);
    *out_counters = cache->counters;
    zepi_mutex_unlock(&cache->budget->mutex);
}
