// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"

#include "core/sys.h"

#include <assert.h>

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

// Fills the output with the store's record of the key. Returns false, with the store's claim, if
// there is none.
static bool build_cache_load(struct zepi_build_cache *cache, const struct zepi_key *key,
                             struct zepi_build_output *out_output, int *out_claim)
{
    const struct zepi_build_store *store = &cache->store;
    struct zepi_build_record record = {.claim = -1};
    const bool is_found = store->ops && store->ops->load(store->self, key, &record);
    const bool is_loaded = is_found &&
                           store->make_payload(out_output, record.payload, record.payload_size) &&
                           zepi_build_output_set_log(out_output, record.log, record.log_size);
    if (!is_loaded)
        zepi_build_output_finish(out_output);
    *out_claim = is_found ? -1 : record.claim;
    zepi_build_record_finish(&record);
    return is_loaded;
}

// The end of a build: stores its result, or lets the store know that there is none.
static void build_cache_save(struct zepi_build_cache *cache, const struct zepi_key *key,
                             const struct zepi_build_output *output, int claim)
{
    const struct zepi_build_record record = {.payload = output->stored,
                                             .payload_size = output->stored_size,
                                             .log = output->log,
                                             .log_size = output->log_size,
                                             .claim = claim};
    if (cache->store.ops)
        cache->store.ops->store(cache->store.self, key, &record);
}

static void build_cache_build(struct zepi_build_cache *cache, zepi_build_fn *build_function,
                              void *user, struct build *out_build)
{
    const uint64_t begin_ns = zepi_clock_ns();
    out_build->calls = 1;
    out_build->status = build_function(user, &out_build->output);
    if (out_build->status == ZEPI_BUILD_OUT_OF_MEMORY) {
        zepi_build_output_finish(&out_build->output);
        zepi_build_budget_trim(cache->budget, 0);
        out_build->calls++;
        out_build->status = build_function(user, &out_build->output);
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
                                     struct zepi_build_entry *entry, const struct build *build)
{
    struct zepi_build_budget *budget = cache->budget;
    struct zepi_build_result *dropped = NULL;
    const uint64_t cost_bytes = build->output.cost_bytes + build->output.log_size + key->size;
    const bool is_final =
        build->status == ZEPI_BUILD_SUCCEEDED || build->status == ZEPI_BUILD_FAILED;
    zepi_mutex_lock(&budget->mutex);
    build_cache_count_locked(cache, build);
    if (entry->is_listed) {
        if (is_final && budget->limits.entries > 0 && cost_bytes <= budget->limits.bytes)
            zepi_build_entry_keep_locked(entry, cost_bytes);
        else
            dropped = zepi_build_entry_take_locked(entry);
    }
    zepi_mutex_unlock(&budget->mutex);
    zepi_build_result_release(dropped);
}

// Fills the placeholder that the calling thread has put into the cache.
static void build_cache_fill(struct zepi_build_cache *cache, const struct zepi_key *key,
                             zepi_build_fn *build_function, void *user,
                             struct zepi_build_entry *entry)
{
    struct build build = {.status = ZEPI_BUILD_SUCCEEDED};
    int claim;
    const bool is_loaded = build_cache_load(cache, key, &build.output, &claim);
    if (!is_loaded)
        build_cache_build(cache, build_function, user, &build);
    // Before the waiting threads wake: one that looks up anew after a spurious failure must not
    // find this entry again.
    build_cache_keep_or_drop(cache, key, entry, &build);
    zepi_build_result_publish(&entry->result, build.status, &build.output);
    zepi_build_budget_enforce(cache->budget);
    // After they woke: they need not wait for a file.
    if (!is_loaded)
        build_cache_save(cache, key, &entry->result.output, claim);
}

static struct zepi_build_entry *entry_find_locked(const struct zepi_build_cache *cache,
                                                  const struct zepi_key *key)
{
    struct zepi_build_entry *entry;
    HASH_FIND_BYHASHVALUE(hh, cache->entries, key->bytes, key->size, (unsigned)key->hash, entry);
    return entry;
}

// A lookup that found this entry: counts it and its use, and returns a new reference.
static inline struct zepi_build_result *build_cache_hit_locked(struct zepi_build_entry *entry)
{
    struct zepi_build_counters *counters = &entry->cache->counters;
    counters->hits++;
    zepi_build_entry_use_locked(entry);
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
    struct zepi_build_entry *entry = entry_find_locked(cache, key);
    if (entry && (!wants_success || zepi_build_result_has_succeeded(&entry->result)))
        result = build_cache_hit_locked(entry);
    zepi_mutex_unlock(&cache->budget->mutex);
    return result;
}

// The entry's result, or that of a placeholder that the caller fills: *out_placeholder then.
// NULL without memory.
static struct zepi_build_result *build_cache_find_or_add(struct zepi_build_cache *cache,
                                                         const struct zepi_key *key,
                                                         struct zepi_build_entry **out_placeholder)
{
    struct zepi_build_result *result = NULL;
    struct zepi_build_entry *placeholder = zepi_build_entry_create(cache, key);
    if (!placeholder)
        return NULL;
    zepi_mutex_lock(&cache->budget->mutex);
    struct zepi_build_entry *entry = entry_find_locked(cache, key);
    if (entry) {
        result = build_cache_hit_locked(entry);
    } else if (zepi_build_entry_add_locked(placeholder, key)) {
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

// Keeps and counts nothing.
static enum zepi_build_lookup build_cache_build_alone(struct zepi_build_cache *cache,
                                                      zepi_build_fn *build_function, void *user,
                                                      struct zepi_build_result **out_result)
{
    struct build build = {0};
    struct zepi_build_result *result = zepi_sys_allocate_lines(sizeof(*result));
    if (!result)
        return ZEPI_LOOKUP_OUT_OF_MEMORY;
    zepi_build_result_init(result);
    build_cache_build(cache, build_function, user, &build);
    zepi_build_result_publish(result, build.status, &build.output);
    return build_cache_end_lookup(result, out_result);
}

struct zepi_build_result *zepi_build_cache_find(struct zepi_build_cache *cache,
                                                const struct zepi_key *key)
{
    return build_cache_find(cache, key, true);
}

enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      struct zepi_key *key, zepi_build_fn *build,
                                                      void *user,
                                                      struct zepi_build_result **out_result)
{
    *out_result = NULL;
    if (!key)
        return build_cache_build_alone(cache, build, user, out_result);
    if (!key->is_sealed && !zepi_key_seal(key))
        return ZEPI_LOOKUP_OUT_OF_MEMORY;
    for (;;) {
        struct zepi_build_result *result = build_cache_find(cache, key, false);
        if (!result) {
            struct zepi_build_entry *placeholder = NULL;
            result = build_cache_find_or_add(cache, key, &placeholder);
            if (!result) {
                zepi_build_budget_trim(cache->budget, 0);
                result = build_cache_find_or_add(cache, key, &placeholder);
            }
            if (!result)
                return ZEPI_LOOKUP_OUT_OF_MEMORY;
            if (placeholder) {
                build_cache_fill(cache, key, build, user, placeholder);
                return build_cache_end_lookup(result, out_result);
            }
        }
        const bool is_over = zepi_build_result_status(result) != ZEPI_BUILD_IN_PROGRESS ||
                             zepi_build_result_wait(result);
        if (is_over && !result_is_spurious(result))
            return build_cache_end_lookup(result, out_result);
        zepi_build_result_release(result);
        if (!is_over)
            return ZEPI_LOOKUP_RECURSIVE;
    }
}

void zepi_build_cache_remove(struct zepi_build_cache *cache, const struct zepi_key *key)
{
    zepi_mutex_lock(&cache->budget->mutex);
    struct zepi_build_entry *entry = entry_find_locked(cache, key);
    struct zepi_build_result *taken = entry ? zepi_build_entry_take_locked(entry) : NULL;
    zepi_mutex_unlock(&cache->budget->mutex);
    zepi_build_result_release(taken);
    if (cache->store.ops)
        cache->store.ops->remove(cache->store.self, key);
}

void zepi_build_cache_clear(struct zepi_build_cache *cache)
{
    zepi_mutex_lock(&cache->budget->mutex);
    unsigned left = HASH_COUNT(cache->entries);
    zepi_mutex_unlock(&cache->budget->mutex);
    // The table begins with its oldest entry: those that come meanwhile stay.
    for (; left > 0; left--) {
        zepi_mutex_lock(&cache->budget->mutex);
        struct zepi_build_entry *oldest = cache->entries;
        struct zepi_build_result *taken = oldest ? zepi_build_entry_take_locked(oldest) : NULL;
        zepi_mutex_unlock(&cache->budget->mutex);
        zepi_build_result_release(taken);
    }
}

void zepi_build_cache_get_counters(struct zepi_build_cache *cache,
                                   struct zepi_build_counters *out_counters)
{
    zepi_mutex_lock(&cache->budget->mutex);
    *out_counters = cache->counters;
    zepi_mutex_unlock(&cache->budget->mutex);
}
