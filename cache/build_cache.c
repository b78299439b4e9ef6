// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"
#include "cache/build_budget_members.h"

#include <assert.h>
#include <string.h>
#include <time.h>

// Each is right by itself; nothing is derived from two of them.
struct counters {
    _Atomic uint64_t builds;
    _Atomic uint64_t failures;
    _Atomic uint64_t store_hits;
    _Atomic uint64_t store_misses;
    _Atomic uint64_t build_ns;
};

struct zepi_build_cache {
    struct zepi_build_table table;
    struct zepi_build_budget *budget; // borrowed
    struct zepi_build_store store;    // store.ops is NULL if there is none
    struct counters counters;
};

// What a build came to, on its way into the result.
struct build {
    enum zepi_build_status status;
    struct zepi_build_output output;
};

static void count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

struct zepi_build_cache *zepi_build_cache_create(struct zepi_build_budget *budget,
                                                 const struct zepi_build_store *store)
{
    struct zepi_build_cache *cache = zepi_seam_allocate_lines(sizeof(*cache));
    if (!cache)
        return NULL;
    memset(cache, 0, sizeof(*cache));
    cache->budget = budget;
    if (store)
        cache->store = *store;
    zepi_build_budget_join(budget, &cache->table);
    return cache;
}

void zepi_build_cache_destroy(struct zepi_build_cache *cache)
{
    if (!cache)
        return;
    zepi_build_cache_clear(cache);
    zepi_build_budget_leave(cache->budget, &cache->table);
    zepi_seam_free(cache);
}

static bool has_store(const struct zepi_build_cache *cache, const struct zepi_key *key)
{
    return cache->store.ops && !key->is_of_process;
}

static enum zepi_build_taken take_record(const struct zepi_build_store *store,
                                         const struct zepi_build_record *record,
                                         struct build *out_build)
{
    struct zepi_build_output *output = &out_build->output;
    const struct zepi_build_codec *codec = &store->codec;
    const enum zepi_build_taken taken =
        codec->deserialise(codec->user, record->payload, record->payload_size, output);
    if (taken != ZEPI_BUILD_TAKEN)
        return taken;
    out_build->status = ZEPI_BUILD_SUCCEEDED;
    return zepi_build_output_set_log(output, record->log, record->log_size)
               ? ZEPI_BUILD_TAKEN
               : ZEPI_BUILD_TAKE_NO_MEMORY;
}

static bool load(struct zepi_build_cache *cache, const struct zepi_key *key,
                 struct build *out_build)
{
    const struct zepi_build_store *store = &cache->store;
    struct zepi_build_record record = {0};
    if (!has_store(cache, key))
        return false;
    bool is_loaded = store->ops->load(store->self, key, &record);
    if (is_loaded) {
        const enum zepi_build_taken taken = take_record(store, &record, out_build);
        is_loaded = taken == ZEPI_BUILD_TAKEN;
        if (!is_loaded)
            zepi_build_output_finish(&out_build->output);
        if (taken == ZEPI_BUILD_UNWANTED)
            store->ops->remove(store->self, key);
    }
    zepi_build_record_finish(&record);
    count(is_loaded ? &cache->counters.store_hits : &cache->counters.store_misses, 1);
    return is_loaded;
}

static void save(struct zepi_build_cache *cache, const struct zepi_key *key,
                 const struct zepi_build_result *result)
{
    const struct zepi_build_store *store = &cache->store;
    const struct zepi_build_codec *codec = &store->codec;
    struct zepi_build_bytes bytes = {0};
    if (!has_store(cache, key) || !zepi_build_result_has_succeeded(result) ||
        !codec->serialise(codec->user, zepi_build_result_payload(result), &bytes))
        return;
    const struct zepi_build_record record = {.payload = bytes.bytes,
                                             .payload_size = bytes.size,
                                             .log = zepi_build_result_log(result),
                                             .log_size = zepi_build_result_log_size(result)};
    store->ops->store(store->self, key, &record);
    if (bytes.free)
        bytes.free((void *)bytes.bytes);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void run_build(struct zepi_build_cache *cache, const struct zepi_build_request *request,
                      struct build *out_build)
{
    uint64_t begin_ns = now_ns();
    uint64_t builds = 1;
    out_build->status = request->build(request->user, &out_build->output);
    if (out_build->status == ZEPI_BUILD_OUT_OF_MEMORY) {
        zepi_build_output_finish(&out_build->output);
        zepi_build_budget_trim(cache->budget, 0);
        builds++;
        out_build->status = request->build(request->user, &out_build->output);
    }
    count(&cache->counters.build_ns, now_ns() - begin_ns);
    count(&cache->counters.builds, builds);
    if (out_build->status != ZEPI_BUILD_SUCCEEDED)
        count(&cache->counters.failures, 1);
}

static void keep_or_drop(struct zepi_build_cache *cache, const struct zepi_key *key,
                         struct zepi_build_entry *entry, const struct build *build)
{
    uint64_t cost_bytes = build->output.cost_bytes + build->output.log_size + key->size;
    bool is_final = build->status == ZEPI_BUILD_SUCCEEDED || build->status == ZEPI_BUILD_FAILED;
    if (is_final && zepi_build_budget_admits(cache->budget, cost_bytes))
        zepi_build_table_keep(&cache->table, entry, cost_bytes);
    else
        zepi_build_table_drop(&cache->table, entry);
}

// Fills the placeholder that the calling thread has put into the table.
static void fill(struct zepi_build_cache *cache, const struct zepi_key *key,
                 const struct zepi_build_request *request, struct zepi_build_entry *entry)
{
    struct build build = {0};
    const bool is_loaded = load(cache, key, &build);
    if (!is_loaded)
        run_build(cache, request, &build);
    // Before the waiters wake: one that looks up anew after a spurious failure must not find this
    // entry again.
    keep_or_drop(cache, key, entry, &build);
    zepi_build_result_publish(&entry->result, build.status, &build.output);
    zepi_build_budget_enforce(cache->budget);
    // After they woke: they need not wait for a file.
    if (!is_loaded)
        save(cache, key, &entry->result);
}

// The result of the key, found or newly put into the table; then *out_placeholder is its entry.
// NULL without memory.
static struct zepi_build_result *find_or_add(struct zepi_build_cache *cache,
                                             const struct zepi_key *key,
                                             struct zepi_build_entry **out_placeholder)
{
    struct zepi_build_entry *entry = zepi_build_entry_create(key);
    if (!entry)
        return NULL;
    struct zepi_build_result *result = zepi_build_table_find_or_add(&cache->table, key, entry);
    if (result == &entry->result)
        *out_placeholder = entry;
    else
        zepi_build_result_release(&entry->result);
    return result;
}

static enum zepi_build_lookup answer(struct zepi_build_result *result,
                                     struct zepi_build_result **out_result)
{
    *out_result = result;
    return zepi_build_result_has_succeeded(result) ? ZEPI_LOOKUP_SUCCEEDED : ZEPI_LOOKUP_FAILED;
}

// Whether a result that was found is the answer, once it is over. If it is not, the reference is
// gone.
enum verdict_of_wait { WAIT_ANSWERS, WAIT_AGAIN, WAIT_NEVER_ENDS };

static enum verdict_of_wait wait_for(struct zepi_build_result *result)
{
    enum verdict_of_wait status = WAIT_ANSWERS;
    if (!zepi_build_result_wait(result))
        status = WAIT_NEVER_ENDS;
    else if (zepi_build_result_status(result) == ZEPI_BUILD_SPURIOUS ||
             zepi_build_result_status(result) == ZEPI_BUILD_OUT_OF_MEMORY)
        status = WAIT_AGAIN;
    if (status != WAIT_ANSWERS)
        zepi_build_result_release(result);
    return status;
}

// Everything but the hit on a finished result. `result` is what the first look found. Not inlined:
// the hit would save registers for it.
static __attribute__((noinline)) enum zepi_build_lookup
find_or_build_slowly(struct zepi_build_cache *cache, const struct zepi_key *key,
                     const struct zepi_build_request *request, struct zepi_build_result *result,
                     struct zepi_build_result **out_result)
{
    *out_result = NULL;
    for (;;) {
        struct zepi_build_entry *placeholder = NULL;
        if (!result)
            result = find_or_add(cache, key, &placeholder);
        if (!result) {
            zepi_build_budget_trim(cache->budget, 0);
            result = find_or_add(cache, key, &placeholder);
        }
        if (!result)
            return ZEPI_LOOKUP_OUT_OF_MEMORY;
        if (placeholder) {
            fill(cache, key, request, placeholder);
            return answer(result, out_result);
        }
        switch (wait_for(result)) {
        case WAIT_ANSWERS:
            return answer(result, out_result);
        case WAIT_NEVER_ENDS:
            return ZEPI_LOOKUP_RECURSIVE;
        case WAIT_AGAIN:
            result = zepi_build_table_find(&cache->table, key);
            break;
        }
    }
}

enum zepi_build_lookup zepi_build_cache_find_or_build(struct zepi_build_cache *cache,
                                                      const struct zepi_key *key,
                                                      const struct zepi_build_request *request,
                                                      struct zepi_build_result **out_result)
{
    assert(key->is_sealed);
    struct zepi_build_result *result = zepi_build_table_find(&cache->table, key);
    if (result && zepi_build_result_status(result) != ZEPI_BUILD_IN_PROGRESS)
        return answer(result, out_result);
    return find_or_build_slowly(cache, key, request, result, out_result);
}

bool zepi_build_cache_keeps(const struct zepi_build_result *result)
{
    // Relaxed: a limit or a removal beside this call came before or after.
    return atomic_load_explicit(&((const struct zepi_build_entry *)result)->is_kept,
                                memory_order_relaxed);
}

void zepi_build_cache_count_hit(struct zepi_build_cache *cache, struct zepi_build_result *result)
{
    struct zepi_build_gate *gate = zepi_build_gate(&cache->table);
    zepi_mutex_lock(&gate->mutex);
    gate->hits++;
    zepi_lru_touch(&((struct zepi_build_entry *)result)->lru);
    zepi_mutex_unlock(&gate->mutex);
}

void zepi_build_cache_remove(struct zepi_build_cache *cache, const struct zepi_key *key)
{
    struct zepi_build_victims victims = {0};
    zepi_build_table_take_key(&cache->table, key, &victims);
    zepi_build_victims_release(&victims);
    if (has_store(cache, key))
        cache->store.ops->remove(cache->store.self, key);
}

size_t zepi_build_cache_clear(struct zepi_build_cache *cache)
{
    struct zepi_build_victims victims = {0};
    zepi_build_table_take(&cache->table, ZEPI_BUILD_TAKE_ALL, &victims);
    size_t taken = victims.count;
    zepi_build_victims_release(&victims);
    return taken;
}

void zepi_build_cache_get_counters(struct zepi_build_cache *cache,
                                   struct zepi_build_counters *out_counters)
{
    const struct counters *counters = &cache->counters;
    struct zepi_build_table_counters table = zepi_build_table_count(&cache->table);
    *out_counters = (struct zepi_build_counters){
        .hits = table.hits,
        .misses = table.misses,
        .waits = table.waits,
        .evictions = table.evictions,
        .bytes = table.bytes,
        .entries = table.entries,
        .builds = atomic_load_explicit(&counters->builds, memory_order_relaxed),
        .failures = atomic_load_explicit(&counters->failures, memory_order_relaxed),
        .store_hits = atomic_load_explicit(&counters->store_hits, memory_order_relaxed),
        .store_misses = atomic_load_explicit(&counters->store_misses, memory_order_relaxed),
        .build_ns = atomic_load_explicit(&counters->build_ns, memory_order_relaxed),
    };
}
