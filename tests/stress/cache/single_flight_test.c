// SPDX-License-Identifier: MIT
//
// Many threads, one key: one build at a time, one result for all, and no other thread waits.
#include "cache_fixture.h"
#include "test_env.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 16, ROUNDS = 100, SPURIOUS = 5 };

#define CHECK(condition) TEST_EXPECT(condition, "not so: " #condition)

static struct fixture_cache both;

static struct crowd {
    pthread_barrier_t start;
    uint64_t key;
    struct fixture_build *build;
    struct zepi_build_result *results[THREADS];
    enum zepi_build_lookup lookups[THREADS];
    pthread_t threads[THREADS];
} crowd;

static void *ask(void *argument)
{
    size_t number = (size_t)(uintptr_t)argument;
    pthread_barrier_wait(&crowd.start);
    crowd.lookups[number] = fixture_ask(both.cache, crowd.key, crowd.build, &crowd.results[number]);
    return NULL;
}

// All threads ask for the key at once.
static void ask_at_once(uint64_t key, struct fixture_build *build)
{
    crowd.key = key;
    crowd.build = build;
    pthread_barrier_init(&crowd.start, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&crowd.threads[i], NULL, ask, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(crowd.threads[i], NULL);
    pthread_barrier_destroy(&crowd.start);
}

static void release_results(void)
{
    for (int i = 0; i < THREADS; i++)
        zepi_build_result_release(crowd.results[i]);
}

static void sixteen_threads_share_one_build(void)
{
    struct zepi_build_counters before = fixture_counters(both.cache);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct fixture_build build = {.text = "shared", .log = "log", .duration_ms = round % 3};
        ask_at_once(round, &build);
        CHECK(build.builds == 1);
        for (int i = 0; i < THREADS; i++) {
            CHECK(crowd.lookups[i] == ZEPI_LOOKUP_SUCCEEDED);
            CHECK(crowd.results[i] == crowd.results[0]);
            CHECK(strcmp(fixture_text(crowd.results[i]), "shared") == 0);
            CHECK(strcmp(zepi_build_result_log(crowd.results[i]), "log") == 0);
        }
        release_results();
    }
    struct zepi_build_counters after = fixture_counters(both.cache);
    CHECK(after.misses - before.misses == ROUNDS);
    CHECK(after.hits - before.hits == (uint64_t)ROUNDS * (THREADS - 1));
    CHECK(after.waits - before.waits <= after.hits - before.hits);
    CHECK(after.waits > before.waits);
}

static void sixteen_threads_share_one_refusal(void)
{
    struct fixture_build build = {
        .status = ZEPI_BUILD_FAILED, .code = 77, .log = "error: no", .duration_ms = 5};
    ask_at_once(1000, &build);
    CHECK(build.builds == 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK(crowd.lookups[i] == ZEPI_LOOKUP_FAILED);
        CHECK(crowd.results[i]->output.code == 77);
        CHECK(strcmp(zepi_build_result_log(crowd.results[i]), "error: no") == 0);
    }
    release_results();
}

// Each spurious failure goes to the one thread whose build it was; the others try, one at a time.
static void waiters_of_a_spurious_failure_try_one_at_a_time(void)
{
    for (uint64_t round = 0; round < 10; round++) {
        struct zepi_build_counters before = fixture_counters(both.cache);
        struct fixture_build build = {.early_builds = SPURIOUS,
                                      .early_status = ZEPI_BUILD_SPURIOUS,
                                      .code = 5,
                                      .text = "at last",
                                      .duration_ms = 3};
        ask_at_once(2000 + round, &build);
        struct zepi_build_counters after = fixture_counters(both.cache);
        int failed = 0;
        for (int i = 0; i < THREADS; i++) {
            if (crowd.lookups[i] == ZEPI_LOOKUP_FAILED)
                failed++;
            else
                CHECK(strcmp(fixture_text(crowd.results[i]), "at last") == 0);
        }
        CHECK(failed == SPURIOUS);
        CHECK(build.builds == SPURIOUS + 1);
        CHECK(build.most_running == 1);
        CHECK(after.misses - before.misses == SPURIOUS + 1);
        // Each call is a lookup, and each wait that ended in a spurious failure one more.
        uint64_t lookups = after.hits + after.misses - before.hits - before.misses;
        CHECK(lookups >= THREADS);
        CHECK(lookups <= THREADS + SPURIOUS * (THREADS - 1));
        CHECK(after.failures - before.failures == SPURIOUS);
        release_results();
    }
}

static void threads_out_of_memory_each_get_an_answer(void)
{
    struct fixture_build build = {.status = ZEPI_BUILD_OUT_OF_MEMORY, .code = 1};
    ask_at_once(3000, &build);
    for (int i = 0; i < THREADS; i++)
        CHECK(crowd.lookups[i] == ZEPI_LOOKUP_FAILED);
    CHECK(build.builds == 2 * THREADS);
    CHECK(build.most_running == 1);
    release_results();
}

static struct fixture_build slow_build = {.text = "slow", .duration_ms = 1500};

static void *build_slowly(void *argument)
{
    (void)argument;
    CHECK(fixture_use(both.cache, 4000, &slow_build));
    return NULL;
}

static void a_slow_build_delays_nobody_else(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, build_slowly, NULL) == 0);
    while (slow_build.running == 0)
        usleep(1000);
    // Hits, misses, failures, changes of limits, counters: all of it while the build runs.
    for (uint64_t key = 5000; key < 5100; key++) {
        struct fixture_build build = {.text = "quick"};
        CHECK(fixture_use(both.cache, key, &build));
        CHECK(fixture_use(both.cache, key, &build));
    }
    zepi_build_budget_trim(both.budget, 1);
    zepi_build_budget_set_limits(both.budget, zepi_build_budget_limits(both.budget));
    fixture_counters(both.cache);
    CHECK(slow_build.running == 1);
    pthread_join(thread, NULL);
    CHECK(slow_build.builds == 1);
}

int main(void)
{
    both = fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, NULL);
    sixteen_threads_share_one_build();
    sixteen_threads_share_one_refusal();
    waiters_of_a_spurious_failure_try_one_at_a_time();
    threads_out_of_memory_each_get_an_answer();
    a_slow_build_delays_nobody_else();
    fixture_cache_destroy(&both);
    CHECK(fixture_alive() == 0);
    return 0;
}
