// SPDX-License-Identifier: MIT
//
// Everything at once: threads look up, evict, clear, trim and change limits of two caches
// under one budget with a disk below one of them, kernels holding on to their modules. Every result
// is the right one, nothing is destroyed twice or left over, and the counters add up.
#include "cache_fixture.h"
#include "test_env.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 8, SECONDS = 3, MODULES = 12, KERNELS = 60, HELD = 4 };

#define CHECK(condition) TEST_EXPECT(condition, "not so: " #condition)

static struct zepi_build_budget *budget;
static struct zepi_build_cache *modules;
static struct zepi_build_cache *kernels;
static struct zepi_disk *disk;
static char texts[MODULES][32];
static atomic_uint_fast64_t module_lookups;
static atomic_uint_fast64_t kernel_lookups;
static atomic_uint_fast64_t operations;
static atomic_bool is_over;

static struct zepi_build_result *ask_for_module(uint64_t number, unsigned random)
{
    struct fixture_build build = {.text = texts[number],
                                  .log = texts[number],
                                  .cost_bytes = 100 + 10 * number,
                                  .early_builds = random % 7 == 0,
                                  .early_status = random % 2 == 0 ? ZEPI_BUILD_SPURIOUS
                                                                  : ZEPI_BUILD_OUT_OF_MEMORY};
    struct zepi_build_result *result;
    enum zepi_build_lookup lookup = fixture_ask(modules, number, &build, &result);
    atomic_fetch_add(&module_lookups, 1);
    if (lookup == ZEPI_LOOKUP_FAILED) {
        CHECK(zepi_build_result_status(result) == ZEPI_BUILD_SPURIOUS);
        zepi_build_result_release(result);
        return NULL;
    }
    CHECK(lookup == ZEPI_LOOKUP_SUCCEEDED);
    CHECK(strcmp(fixture_text(result), texts[number]) == 0);
    CHECK(strcmp(zepi_build_result_log(result), texts[number]) == 0);
    return result;
}

struct kernel_request {
    uint64_t module;
    unsigned random;
};

static enum zepi_build_status build_kernel(void *user, struct zepi_build_output *output)
{
    const struct kernel_request *request = user;
    struct zepi_build_result *module = ask_for_module(request->module, request->random);
    if (!module)
        return ZEPI_BUILD_SPURIOUS;
    output->payload = module;
    output->destroy = (void (*)(void *))zepi_build_result_release;
    output->cost_bytes = 16;
    return ZEPI_BUILD_SUCCEEDED;
}

static struct zepi_build_result *ask_for_kernel(uint64_t number, unsigned random)
{
    struct kernel_request kernel = {.module = number % MODULES, .random = random};
    struct zepi_build_result *result;
    struct zepi_key key;
    fixture_key(&key, number);
    enum zepi_build_lookup lookup =
        zepi_build_cache_find_or_build(kernels, &key, build_kernel, &kernel, &result);
    atomic_fetch_add(&kernel_lookups, 1);
    if (lookup != ZEPI_LOOKUP_SUCCEEDED) {
        zepi_build_result_release(result);
        return NULL;
    }
    const struct zepi_build_result *module = zepi_build_result_payload(result);
    CHECK(strcmp(fixture_text(module), texts[kernel.module]) == 0);
    return result;
}

static void disturb(unsigned random)
{
    struct zepi_build_counters counters;
    struct zepi_key key;
    switch (random % 8) {
    case 0:
        zepi_build_cache_clear(random % 16 == 0 ? modules : kernels);
        break;
    case 1:
        zepi_build_budget_trim(budget, (uint64_t)(random % 3) * 500);
        break;
    case 2:
        zepi_build_budget_set_limits(budget, (struct zepi_build_limits){200 + random % 3000, 40});
        break;
    case 3:
        fixture_key(&key, random / 8 % MODULES);
        zepi_build_cache_remove(modules, &key);
        break;
    default:
        zepi_build_cache_get_counters(kernels, &counters);
        CHECK(counters.hits + counters.misses >= counters.waits);
    }
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    struct zepi_build_result *held[HELD] = {0};
    while (!atomic_load(&is_over)) {
        unsigned random = (unsigned)rand_r(&seed);
        struct zepi_build_result **slot = &held[random % HELD];
        unsigned choice = (unsigned)rand_r(&seed) % 100;
        zepi_build_result_release(*slot);
        *slot = NULL;
        if (choice < 30)
            *slot = ask_for_module(random / HELD % MODULES, random / 1000);
        else if (choice < 95)
            *slot = ask_for_kernel(random / HELD % KERNELS, random / 1000);
        else
            disturb(random);
        atomic_fetch_add(&operations, 1);
    }
    for (int i = 0; i < HELD; i++)
        zepi_build_result_release(held[i]);
    return NULL;
}

// Every call is at least one lookup; the rest are new lookups after spurious failures, each of
// which was a wait.
static void check_counters(struct zepi_build_cache *cache, uint64_t calls)
{
    struct zepi_build_counters counters = fixture_counters(cache);
    uint64_t lookups = counters.hits + counters.misses;
    CHECK(lookups >= calls);
    CHECK(lookups - calls <= counters.waits);
    CHECK(counters.waits <= counters.hits);
    CHECK(counters.evictions <= counters.misses);
    printf("%llu lookups: %llu hits (%llu waits), %llu misses, %llu builds, %llu failures, "
           "%llu evictions, %llu from the store\n",
           (unsigned long long)lookups, (unsigned long long)counters.hits,
           (unsigned long long)counters.waits, (unsigned long long)counters.misses,
           (unsigned long long)counters.builds, (unsigned long long)counters.failures,
           (unsigned long long)counters.evictions, (unsigned long long)counters.store_hits);
}

int main(void)
{
    pthread_t threads[THREADS];
    const struct timespec duration = {.tv_sec = SECONDS};
    for (int i = 0; i < MODULES; i++)
        snprintf(texts[i], sizeof(texts[i]), "module %d", i);
    disk = zepi_disk_create(test_env_scratch_path("cache"), 3000);
    const struct zepi_build_store store = fixture_disk_store(disk);
    budget = zepi_build_budget_create((struct zepi_build_limits){1500, 40});
    modules = zepi_build_cache_create(budget, &store);
    kernels = zepi_build_cache_create(budget, NULL);

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    nanosleep(&duration, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    check_counters(modules, module_lookups);
    check_counters(kernels, kernel_lookups);
    CHECK(operations > 100);
    zepi_build_budget_trim(budget, 0);
    CHECK(fixture_counters(modules).bytes == 0 && fixture_counters(modules).entries == 0);
    CHECK(fixture_counters(kernels).bytes == 0 && fixture_counters(kernels).entries == 0);
    CHECK(fixture_alive() == 0);
    zepi_build_cache_destroy(kernels);
    zepi_build_cache_destroy(modules);
    zepi_build_budget_destroy(budget);
    zepi_disk_destroy(disk);
    return 0;
}
