// SPDX-License-Identifier: MIT
#include "cache_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FORMAT = 7, TAG_NUMBER = 1 };

enum { PAYLOAD_ALIVE = 0x600d, PAYLOAD_DEAD = 0xdead };

struct payload {
    atomic_uint state;
    char text[];
};

static atomic_int alive;
static atomic_int destroyed;

static struct payload *payload_create(const char *text, size_t size)
{
    struct payload *payload = malloc(sizeof(*payload) + size + 1);
    if (!payload)
        return NULL;
    atomic_init(&payload->state, PAYLOAD_ALIVE);
    memcpy(payload->text, text, size);
    payload->text[size] = '\0';
    atomic_fetch_add(&alive, 1);
    return payload;
}

static void payload_destroy(void *memory)
{
    struct payload *payload = memory;
    if (atomic_exchange(&payload->state, PAYLOAD_DEAD) != PAYLOAD_ALIVE) {
        fputs("a payload was destroyed twice\n", stderr);
        abort();
    }
    atomic_fetch_sub(&alive, 1);
    atomic_fetch_add(&destroyed, 1);
    free(payload);
}

bool fixture_make_payload(struct zepi_build_output *output, const void *bytes, size_t size)
{
    struct payload *payload = payload_create(bytes, size);
    output->payload = payload;
    output->destroy = payload_destroy;
    output->cost_bytes = size;
    output->stored = payload ? payload->text : NULL;
    output->stored_size = size;
    return payload;
}

int fixture_alive(void)
{
    return atomic_load(&alive);
}

int fixture_destroyed(void)
{
    return atomic_load(&destroyed);
}

const char *fixture_text(const struct zepi_build_result *result)
{
    const struct payload *payload = zepi_build_result_payload(result);
    if (payload->state != PAYLOAD_ALIVE)
        abort();
    return payload->text;
}

static void sleep_ms(unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

enum zepi_build_status fixture_run_build(void *user, struct zepi_build_output *output)
{
    struct fixture_build *build = user;
    int number = atomic_fetch_add(&build->builds, 1);
    int running = atomic_fetch_add(&build->running, 1) + 1;
    int most = atomic_load(&build->most_running);
    while (running > most && !atomic_compare_exchange_weak(&build->most_running, &most, running))
        continue;
    if (build->inside)
        build->inside(build->user);
    if (build->duration_ms > 0)
        sleep_ms(build->duration_ms);

    enum zepi_build_status status =
        number < build->early_builds ? build->early_status : build->status;
    if (status == ZEPI_BUILD_SUCCEEDED) {
        const char *text = build->text ? build->text : "";
        if (!fixture_make_payload(output, text, strlen(text)))
            status = ZEPI_BUILD_OUT_OF_MEMORY;
        output->cost_bytes = build->cost_bytes;
    } else {
        output->code = build->code;
    }
    if (build->log && !zepi_build_output_set_log(output, build->log, strlen(build->log)))
        status = ZEPI_BUILD_OUT_OF_MEMORY;
    atomic_fetch_sub(&build->running, 1);
    return status;
}

void fixture_key(struct zepi_key *key, uint64_t number)
{
    zepi_key_init(key, FORMAT);
    zepi_key_add_u64(key, TAG_NUMBER, number);
    zepi_key_seal(key);
}

uint64_t fixture_key_cost(void)
{
    struct zepi_key key;
    fixture_key(&key, 0);
    return key.size;
}

static _Thread_local enum fixture_origin last_origin;

enum fixture_origin fixture_origin(void)
{
    return last_origin;
}

enum zepi_build_lookup fixture_ask(struct zepi_build_cache *cache, uint64_t number,
                                   struct fixture_build *build,
                                   struct zepi_build_result **out_result)
{
    struct zepi_key key;
    fixture_key(&key, number);
    const int builds = atomic_load(&build->builds);
    const uint64_t store_hits = fixture_counters(cache).store_hits;
    const enum zepi_build_lookup lookup =
        zepi_build_cache_find_or_build(cache, &key, fixture_run_build, build, out_result);
    if (atomic_load(&build->builds) > builds)
        last_origin = FIXTURE_BUILT;
    else if (fixture_counters(cache).store_hits > store_hits)
        last_origin = FIXTURE_FROM_STORE;
    else
        last_origin = FIXTURE_FROM_MEMORY;
    return lookup;
}

bool fixture_use(struct zepi_build_cache *cache, uint64_t number, struct fixture_build *build)
{
    struct zepi_build_result *result;
    enum zepi_build_lookup lookup = fixture_ask(cache, number, build, &result);
    zepi_build_result_release(result);
    return lookup == ZEPI_LOOKUP_SUCCEEDED;
}

bool fixture_has(struct zepi_build_cache *cache, uint64_t number)
{
    // A build that fails spuriously leaves nothing behind.
    struct fixture_build probe = {.status = ZEPI_BUILD_SPURIOUS};
    struct zepi_build_result *result;
    fixture_ask(cache, number, &probe, &result);
    zepi_build_result_release(result);
    return atomic_load(&probe.builds) == 0;
}

struct fixture_cache fixture_cache_create(uint64_t limit_bytes, uint64_t limit_entries,
                                          const struct zepi_build_store *store)
{
    const struct zepi_build_limits limits = {.bytes = limit_bytes, .entries = limit_entries};
    struct fixture_cache both = {.budget = zepi_build_budget_create(limits)};
    if (both.budget)
        both.cache = zepi_build_cache_create(both.budget, store);
    return both;
}

void fixture_cache_destroy(struct fixture_cache *both)
{
    zepi_build_cache_destroy(both->cache);
    zepi_build_budget_destroy(both->budget);
}

struct zepi_build_counters fixture_counters(struct zepi_build_cache *cache)
{
    struct zepi_build_counters counters;
    zepi_build_cache_get_counters(cache, &counters);
    return counters;
}

struct zepi_build_store fixture_disk_store(struct zepi_disk *disk)
{
    return (struct zepi_build_store){
        .ops = &zepi_disk_store_ops, .self = disk, .make_payload = fixture_make_payload};
}

// Set before the hook is, so that every thread sees them.
static unsigned fault_mask;
static int fault_error;
static enum fixture_fault_length fault_length;
static atomic_int calls_to_fault;
static atomic_bool has_faulted;

static int fault_hook(enum zepi_sys_call call)
{
    if ((fault_mask & 1u << call) == 0)
        return 0;
    int left = atomic_fetch_sub(&calls_to_fault, 1);
    if (left != 1 && !(left < 1 && fault_length == FIXTURE_FAULT_FOREVER))
        return 0;
    atomic_store(&has_faulted, true);
    return fault_error;
}

void fixture_fault(unsigned mask, int n, int error, enum fixture_fault_length length)
{
    fault_mask = n > 0 ? mask : 0;
    fault_error = error;
    fault_length = length;
    atomic_store(&calls_to_fault, n);
    atomic_store(&has_faulted, false);
    zepi_sys_set_hook(fault_hook);
}

bool fixture_fault_end(void)
{
    zepi_sys_set_hook(NULL);
    return atomic_load(&has_faulted);
}
