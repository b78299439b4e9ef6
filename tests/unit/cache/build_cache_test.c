// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"
#include "cache_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct fixture_cache both;

static void create(void)
{
    both = fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, NULL);
    cr_assert_not_null(both.cache);
}

// After each test every payload that was made has been destroyed.
static void destroy(void)
{
    fixture_cache_destroy(&both);
    cr_assert_eq(fixture_alive(), 0);
}

TestSuite(build_cache, .init = create, .fini = destroy, .timeout = 30);

static struct zepi_build_result *ask(uint64_t number, struct fixture_build *build,
                                     enum zepi_build_lookup expected)
{
    struct zepi_build_result *result;
    cr_assert_eq(fixture_ask(both.cache, number, build, &result), expected);
    return result;
}

Test(build_cache, builds_once_for_a_thousand_lookups)
{
    struct fixture_build build = {.text = "kernel", .log = "warning"};
    struct zepi_build_result *first = ask(1, &build, ZEPI_LOOKUP_SUCCEEDED);
    cr_assert_eq(fixture_origin(), FIXTURE_BUILT);
    for (int i = 1; i < 1000; i++) {
        struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_SUCCEEDED);
        cr_assert_eq(result, first);
        cr_assert_eq(fixture_origin(), FIXTURE_FROM_MEMORY);
        cr_assert_str_eq(fixture_text(result), "kernel");
        cr_assert_str_eq(zepi_build_result_log(result), "warning");
        zepi_build_result_release(result);
    }
    zepi_build_result_release(first);
    cr_assert_eq(build.builds, 1);
}

Test(build_cache, tells_keys_apart)
{
    char texts[100][8];
    struct zepi_build_result *results[100];
    for (int i = 0; i < 100; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%d", i);
        struct fixture_build build = {.text = texts[i]};
        // In each byte of a number.
        results[i] = ask((uint64_t)i << i % 8 * 8, &build, ZEPI_LOOKUP_SUCCEEDED);
    }
    for (int i = 0; i < 100; i++) {
        cr_assert_str_eq(fixture_text(results[i]), texts[i]);
        zepi_build_result_release(results[i]);
    }
}

Test(build_cache, compares_whole_keys_not_hashes)
{
    struct fixture_build builds[] = {{.text = "one"}, {.text = "other"}};
    struct zepi_build_result *results[2];
    struct zepi_key keys[2];
    for (int i = 0; i < 2; i++) {
        fixture_key(&keys[i], (uint64_t)i);
        keys[i].hash = 0; // a collision of all bits
        zepi_build_cache_find_or_build(both.cache, &keys[i], fixture_run_build, &builds[i],
                                       &results[i]);
    }
    cr_assert_str_eq(fixture_text(results[0]), "one");
    cr_assert_str_eq(fixture_text(results[1]), "other");
    zepi_build_result_release(results[0]);
    zepi_build_result_release(results[1]);
}

Test(build_cache, keeps_a_deterministic_failure_with_code_and_log)
{
    struct fixture_build build = {
        .status = ZEPI_BUILD_FAILED, .code = -42, .log = "error: no such function"};
    for (int i = 0; i < 5; i++) {
        struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_FAILED);
        cr_assert_eq(result->output.code, -42);
        cr_assert_str_eq(zepi_build_result_log(result), "error: no such function");
        zepi_build_result_release(result);
    }
    cr_assert_eq(build.builds, 1);
    struct zepi_build_counters counters = fixture_counters(both.cache);
    cr_assert_eq(counters.failures, 1);
    cr_assert_eq(counters.hits, 4);
    zepi_build_cache_clear(both.cache);
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_FAILED));
    cr_assert_eq(build.builds, 2, "a cleared failure is built again");
}

static struct zepi_build_result *find(uint64_t number)
{
    struct zepi_key key;
    fixture_key(&key, number);
    return zepi_build_cache_find(both.cache, &key);
}

Test(build_cache, finds_what_was_built_and_no_failure)
{
    struct fixture_build good = {.text = "good"};
    struct fixture_build bad = {.status = ZEPI_BUILD_FAILED, .code = -42};
    cr_assert_null(find(1));
    cr_assert_eq(fixture_counters(both.cache).misses, 0);
    struct zepi_build_result *built = ask(1, &good, ZEPI_LOOKUP_SUCCEEDED);
    struct zepi_build_result *found = find(1);
    cr_assert_eq(found, built);
    zepi_build_result_release(found);
    zepi_build_result_release(built);
    zepi_build_result_release(ask(2, &bad, ZEPI_LOOKUP_FAILED));
    cr_assert_null(find(2));
    cr_assert_eq(fixture_counters(both.cache).hits, 1);
}

Test(build_cache, does_not_keep_a_spurious_failure)
{
    struct fixture_build build = {
        .early_builds = 2, .early_status = ZEPI_BUILD_SPURIOUS, .code = 9, .text = "third time"};
    for (int i = 0; i < 2; i++) {
        struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_FAILED);
        cr_assert_eq(result->output.code, 9);
        zepi_build_result_release(result);
    }
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
    cr_assert_eq(build.builds, 3);
    struct zepi_build_counters counters = fixture_counters(both.cache);
    cr_assert_eq(counters.misses, 3);
    cr_assert_eq(counters.hits, 1);
    cr_assert_eq(counters.failures, 2);
    cr_assert_eq(counters.builds, 3);
}

Test(build_cache, evicts_what_is_unused_and_tries_once_more_when_out_of_memory)
{
    struct fixture_build filler = {.text = "filler", .cost_bytes = 100};
    for (uint64_t i = 10; i < 20; i++)
        fixture_use(both.cache, i, &filler);
    struct zepi_build_result *in_use = ask(30, &filler, ZEPI_LOOKUP_SUCCEEDED);

    struct fixture_build build = {
        .early_builds = 1, .early_status = ZEPI_BUILD_OUT_OF_MEMORY, .text = "fits now"};
    struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_SUCCEEDED);
    cr_assert_eq(build.builds, 2);
    cr_assert_str_eq(fixture_text(result), "fits now");
    cr_assert_eq(fixture_destroyed(), 10);
    struct zepi_build_counters counters = fixture_counters(both.cache);
    cr_assert_eq(counters.evictions, 10);
    cr_assert_eq(counters.entries, 2);
    cr_assert_eq(counters.builds, 11 + 2);
    cr_assert_eq(counters.failures, 0);
    zepi_build_result_release(in_use);
    zepi_build_result_release(result);
}

Test(build_cache, gives_up_after_the_second_time_out_of_memory)
{
    struct fixture_build build = {.status = ZEPI_BUILD_OUT_OF_MEMORY, .code = 3};
    struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_FAILED);
    cr_assert_eq(result->output.code, 3);
    cr_assert_eq(build.builds, 2);
    zepi_build_result_release(result);
    build.status = ZEPI_BUILD_SUCCEEDED;
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
    cr_assert_eq(build.builds, 3, "it was not kept");
}

static struct fixture_build nested_build = {.text = "nested"};

static void ask_for_another_key(void *user)
{
    struct zepi_build_result *result = ask(*(uint64_t *)user, &nested_build, ZEPI_LOOKUP_SUCCEEDED);
    cr_assert_str_eq(fixture_text(result), "nested");
    zepi_build_result_release(result);
}

Test(build_cache, lets_a_build_ask_for_another_key)
{
    uint64_t other = 2;
    struct fixture_build build = {.text = "outer", .inside = ask_for_another_key, .user = &other};
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
    cr_assert_eq(nested_build.builds, 1);
    cr_assert(fixture_has(both.cache, 1));
    cr_assert(fixture_has(both.cache, 2));
}

static void ask_for_the_key_under_construction(void *user)
{
    struct zepi_build_result *result = ask(*(uint64_t *)user, &nested_build, ZEPI_LOOKUP_RECURSIVE);
    cr_assert_null(result);
}

Test(build_cache, answers_a_build_that_asks_for_its_own_key)
{
    uint64_t same = 1;
    struct fixture_build build = {.inside = ask_for_the_key_under_construction, .user = &same};
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
    cr_assert_eq(nested_build.builds, 0);
    cr_assert_eq(build.builds, 1);
}

static void ask_through_another_key(void *user)
{
    static uint64_t first = 1;
    struct fixture_build middle = {.inside = ask_for_the_key_under_construction, .user = &first};
    zepi_build_result_release(ask(*(uint64_t *)user, &middle, ZEPI_LOOKUP_SUCCEEDED));
}

Test(build_cache, answers_a_build_that_asks_for_its_own_key_through_another)
{
    uint64_t other = 2;
    struct fixture_build build = {.inside = ask_through_another_key, .user = &other};
    zepi_build_result_release(ask(1, &build, ZEPI_LOOKUP_SUCCEEDED));
}

static void clear_cache(void *user)
{
    (void)user;
    zepi_build_cache_clear(both.cache);
}

Test(build_cache, does_not_keep_what_was_in_progress_when_it_was_cleared)
{
    struct fixture_build build = {.text = "late", .inside = clear_cache};
    struct zepi_build_result *result = ask(1, &build, ZEPI_LOOKUP_SUCCEEDED);
    cr_assert_str_eq(fixture_text(result), "late");
    cr_assert_eq(fixture_counters(both.cache).entries, 0);
    cr_assert_not(fixture_has(both.cache, 1));
    zepi_build_result_release(result);
    cr_assert_eq(fixture_alive(), 0);
}

Test(build_cache, clears_everything_and_leaves_results_in_use_alive)
{
    struct fixture_build build = {.text = "used"};
    struct zepi_build_result *in_use = ask(1, &build, ZEPI_LOOKUP_SUCCEEDED);
    for (uint64_t i = 2; i < 10; i++)
        fixture_use(both.cache, i, &build);
    zepi_build_cache_clear(both.cache);
    cr_assert_eq(fixture_alive(), 1);
    cr_assert_str_eq(fixture_text(in_use), "used");
    struct zepi_build_counters counters = fixture_counters(both.cache);
    cr_assert_eq(counters.entries, 0);
    cr_assert_eq(counters.bytes, 0);
    cr_assert_eq(counters.evictions, 0);
    cr_assert_eq(fixture_counters(both.cache).bytes, 0);
    zepi_build_result_release(in_use);
    cr_assert_eq(fixture_alive(), 0);
}

Test(build_cache, removes_one_key)
{
    struct fixture_build build = {.text = "x"};
    struct zepi_key key;
    fixture_use(both.cache, 1, &build);
    fixture_use(both.cache, 2, &build);
    fixture_key(&key, 1);
    zepi_build_cache_remove(both.cache, &key);
    zepi_build_cache_remove(both.cache, &key);
    cr_assert_not(fixture_has(both.cache, 1));
    cr_assert(fixture_has(both.cache, 2));
}

Test(build_cache, counts_what_adds_up)
{
    struct fixture_build good = {.text = "good", .cost_bytes = 1000, .log = "12345"};
    struct fixture_build bad = {.status = ZEPI_BUILD_FAILED, .log = "123"};
    struct fixture_build flaky = {.status = ZEPI_BUILD_SPURIOUS};
    struct fixture_build slow = {.text = "slow", .duration_ms = 30};
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 4; i++)
            fixture_use(both.cache, i, &good);
        fixture_use(both.cache, 10, &bad);
        fixture_use(both.cache, 11, &flaky);
    }
    fixture_use(both.cache, 12, &slow);
    struct zepi_build_counters counters = fixture_counters(both.cache);
    cr_assert_eq(counters.hits + counters.misses, 3 * 6 + 1, "lookups");
    cr_assert_eq(counters.misses, 4 + 1 + 3 + 1);
    cr_assert_eq(counters.builds, counters.misses);
    cr_assert_eq(counters.failures, 1 + 3);
    cr_assert_eq(counters.waits, 0);
    cr_assert_eq(counters.entries, 4 + 1 + 1);
    cr_assert_eq(counters.bytes, 4 * 1005 + 3 + 6 * fixture_key_cost());
    cr_assert_geq(counters.build_ns, UINT64_C(30) * 1000 * 1000);
    cr_assert_lt(counters.build_ns, UINT64_C(20) * 1000 * 1000 * 1000);
}

// The second use case of the issue: kernels of one program, each made through a look at the
// program.
static struct fixture_build program_build = {.text = "program"};

static void ask_for_program(void *user)
{
    (void)user;
    fixture_use(both.cache, 1000, &program_build);
}

Test(build_cache, builds_one_program_for_twenty_kernels)
{
    struct fixture_build kernel_build = {.text = "kernel", .inside = ask_for_program};
    for (uint64_t kernel = 0; kernel < 20; kernel++)
        cr_assert(fixture_use(both.cache, kernel, &kernel_build));
    cr_assert_eq(program_build.builds, 1);
    cr_assert_eq(kernel_build.builds, 20);
}
