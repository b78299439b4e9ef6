// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"
#include "cache/build_entry.h"

#include <assert.h>
#include <string.h>
#include <time.h>

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
    const struct zepi_build_codec *codec = &store->codec;
    struct zepi_build_record record = {0};
    if (!store->ops || !store->ops->load(store->self, key, &record))
        return false;
    const enum zepi_build_taken taken =
        codec->deserialise(record.payload, record.payload_size, &out_build->output);
    const bool is_loaded =
        taken == ZEPI_BUILD_TAKEN &&
        zepi_build_output_set_log(&out_build->output, record.log, record.log_size);
    if (is_loaded)
        out_build->status = ZEPI_BUILD_SUCCEEDED;
    else
        zepi_build_output_finish(&out_build->output);
    if (taken == ZEPI_BUILD_UNWANTED)
        store->ops->remove(store->self, key);
    zepi_build_record_finish(&record);
    return is_loaded;
}

// The end of a build: stores its result, or lets the store know that there is none.
static void build_cache_save(struct zepi_build_cache *cache, const struct zepi_key *key,
                             const struct zepi_build_result *result)
{
    const struct zepi_build_store *store = &cache->store;
    const struct zepi_build_codec *codec = &store->codec;
    struct zepi_build_bytes bytes = {0};
    if (!store->ops)
        return;
    if (!zepi_build_result_has_succeeded(result) ||
        !codec->serialise(zepi_build_result_payload(result), &bytes)) {
        if (store->ops->abandon)
            store->ops->abandon(store->self, key);
        return;
    }
    const struct zepi_build_record record = {.payload = bytes.bytes,
                                             .payload_size = bytes.size,
                                             .log = zepi_build_result_log(result),
                                             .log_size = zepi_build_result_log_size(result)};
    store->ops->store(store->self, key, &record);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void build_cache_build(struct zepi_build_cache *cache,
                              const struct zepi_build_request *request, struct build *out_build)
{
    const uint64_t begin_ns = now_ns();
    out_build->calls = 1;
    out_build->status = request->build(request->user, &out_build->output);
    if (out_build->status == ZEPI_BUILD_OUT_OF_MEMORY) {
        zepi_build_output_finish(&out_build->output);
        zepi_build_budget_trim(cache->budget, 0);
        out_build->calls++;
        out_build->status = request->build(request->user, &out_build->output);
    }
    out_build->duration_ns = now_ns() - begin_ns;
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
    struct zepi_build_victims victims = {0};
    const uint64_t cost_bytes = build->output.cost_bytes + build->output.log_size + key->size;
    const bool is_final =
        build->status == ZEPI_BUILD_SUCCEEDED || build->status == ZEPI_BUILD_FAILED;
    zepi_mutex_lock(&budget->mutex);
    build_cache_count_locked(cache, build);
    if (entry->is_listed) {
        if (is_final && budget->limits.entries > 0 && cost_bytes <= budget->limits.bytes)
            zepi_build_entry_keep_locked(entry, cost_bytes);
        else
            zepi_build_entry_take_locked(entry, &victims);
    }
    zepi_mutex_unlock(&budget->mutex);
    zepi_build_victims_release(&victims);
}

// Fills the placeholder that the calling thread has put into the cache.
static void build_cache_fill(struct zepi_build_cache *cache, const struct zepi_key *key,
                             const struct zepi_build_request *request,
                             struct zepi_build_entry *entry)
{
    struct build build = {0};
    const bool is_loaded = build_cache_load(cache, key, &build);
    if (!is_loaded)
        build_cache_build(cache, request, &build);
    // Before the waiting threads wake: one that looks up anew after a spurious failure must not
    // find this entry again.
    build_cache_keep_or_drop(cache, key, entry, &build);
    zepi_build_result_publish(&entry->result, build.status, &build.output);
    zepi_build_budget_enforce(cache->budget);
    // After they woke: they need not wait for a file.
    if (!is_loaded)
        build_cache_save(cache, key, &entry->result);
}

// A lookup that found this entry: counts it and its use, and returns a new reference.
static struct zepi_build_result *build_cache_hit_locked(struct zepi_build_entry *entry)
{
    struct zepi_build_counters *counters = &entry->cache->counters;
    counters->hits++;
    zepi_build_entry_use_locked(entry);
    counters->waits += !entry->is_kept;
    return zepi_build_result_retain(&entry->result);
}

// A new reference to the key's result, in whatever state; or NULL, and then counts nothing.
static struct zepi_build_result *build_cache_find(struct zepi_build_cache *cache,
                                                  const struct zepi_key *key)
{
    struct zepi_mutex *mutex = &cache->budget->mutex;
    zepi_mutex_lock(mutex);
    struct zepi_build_entry *entry = zepi_build_entry_find_locked(cache, key);
    struct zepi_build_result *result = entry ? build_cache_hit_locked(entry) : NULL;
    zepi_mutex_unlock(mutex);
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
    struct zepi_build_entry *entry = zepi_build_entry_find_locked(cache, key);
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

// Everything but the hit on a finished result. `result` is that of the first lookup.
static enum zepi_build_lookup
build_cache_find_or_build_slowly(struct zepi_build_cache *cache, const struct zepi_key *key,
                                 const struct zepi_build_request *request,
                                 struct zepi_build_result *result,
                                 struct zepi_build_result **out_result)
{
    *out_result = NULL;
    for (;;) {
        struct zepi_build_entry *placeholder = NULL;
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
        result = build_cache_find(cache, key);
    }
}

struct zepi_build_result *zepi_build_cache_find(struct zepi_build_cache *cache,
                                                const struct zepi_key *key)
{
    assert(key->is_sealed);
    struct zepi_mutex *mutex = &cache->budget->mutex;
    zepi_mutex_lock(mutex);
    struct zepi_build_entry *entry = zepi_build_entry_find_locked(cache, key);
    struct zepi_build_result *result = entry && zepi_build_result_has_succeeded(&entry->result)
                                           ? build_cache_hit_locked(entry)
                                           : NULL;
    zepi_mutex_unlock(mutex);
    return result;
}

enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      const struct zepi_key *key,
                                                      const struct zepi_build_request *request,
                                                      struct zepi_build_result **out_result)
{
    assert(key->is_sealed);
    struct zepi_build_result *result = build_cache_find(cache, key);
    if (result && zepi_build_result_status(result) != ZEPI_BUILD_IN_PROGRESS)
        return build_cache_end_lookup(result, out_result);
    return build_cache_find_or_build_slowly(cache, key, request, result, out_result);
}

void zepi_build_cache_remove(struct zepi_build_cache *cache, const struct zepi_key *key)
{
    struct zepi_build_victims victims = {0};
    zepi_mutex_lock(&cache->budget->mutex);
    struct zepi_build_entry *entry = zepi_build_entry_find_locked(cache, key);
    if (entry)
        zepi_build_entry_take_locked(entry, &victims);
    zepi_mutex_unlock(&cache->budget->mutex);
    zepi_build_victims_release(&victims);
    if (cache->store.ops)
        cache->store.ops->remove(cache->store.self, key);
}

void zepi_build_cache_clear(struct zepi_build_cache *cache)
{
    struct zepi_build_victims victims = {0};
    struct zepi_build_entry *entry, *next;
    zepi_mutex_lock(&cache->budget->mutex);
    HASH_ITER(hh, cache->entries, entry, next)
    {
        zepi_build_entry_take_locked(entry, &victims);
    }
    zepi_mutex_unlock(&cache->budget->mutex);
    zepi_build_victims_release(&victims);
}

void zepi_build_cache_get_counters(struct zepi_build_cache *cache,
                                   struct zepi_build_counters *out_counters)
{
    zepi_mutex_lock(&cache->budget->mutex);
    *out_counters = cache->counters;
    zepi_mutex_unlock(&cache->budget->mutex);
}
