// SPDX-License-Identifier: MIT
#include "cache/build_cache.h"
#include "cache_fixture.h"

#include <criterion/criterion.h>

// Two caches under one budget, as modules and kernels of a context are.
static struct zepi_build_budget *budget;
static struct zepi_build_cache *modules;
static struct zepi_build_cache *kernels;

static void create(uint64_t bytes, uint64_t entries)
{
    budget = zepi_build_budget_create((struct zepi_build_limits){bytes, entries});
    modules = zepi_build_cache_create(budget, NULL);
    kernels = zepi_build_cache_create(budget, NULL);
    cr_assert_not_null(budget);
    cr_assert_not_null(modules);
    cr_assert_not_null(kernels);
}

static void destroy(void)
{
    zepi_build_cache_destroy(kernels);
    zepi_build_cache_destroy(modules);
    zepi_build_budget_destroy(budget);
    cr_assert_eq(fixture_alive(), 0);
}

TestSuite(build_budget, .fini = destroy, .timeout = 30);

static void use(struct zepi_build_cache *cache, uint64_t number, uint64_t cost_bytes)
{
    struct fixture_build build = {.text = "x", .cost_bytes = cost_bytes};
    cr_assert(fixture_use(cache, number, &build));
}

static struct zepi_build_result *hold(struct zepi_build_cache *cache, uint64_t number,
                                      uint64_t cost_bytes)
{
    struct fixture_build build = {.text = "held", .cost_bytes = cost_bytes};
    struct zepi_build_result *result;
    cr_assert_eq(fixture_ask(cache, number, &build, &result), ZEPI_LOOKUP_SUCCEEDED);
    return result;
}

// The entries and bytes of both caches.
static struct zepi_build_limits kept(void)
{
    const struct zepi_build_counters of_modules = fixture_counters(modules);
    const struct zepi_build_counters of_kernels = fixture_counters(kernels);
    return (struct zepi_build_limits){of_modules.bytes + of_kernels.bytes,
                                      of_modules.entries + of_kernels.entries};
}

// Returns how many entries went.
static uint64_t trim(uint64_t bytes)
{
    const uint64_t before = kept().entries;
    zepi_build_budget_trim(budget, bytes);
    return before - kept().entries;
}

Test(build_budget, evicts_the_least_recently_used_by_entries)
{
    create(ZEPI_BUILD_UNLIMITED, 3);
    use(modules, 1, 0);
    use(modules, 2, 0);
    use(modules, 3, 0);
    use(modules, 1, 0); // 2 is the oldest now
    use(modules, 4, 0);
    cr_assert_eq(kept().entries, 3);
    cr_assert(fixture_has(modules, 1));
    cr_assert(fixture_has(modules, 3));
    cr_assert(fixture_has(modules, 4));
    cr_assert_not(fixture_has(modules, 2));
    cr_assert_eq(fixture_counters(modules).evictions, 1);
}

Test(build_budget, evicts_the_least_recently_used_by_bytes)
{
    uint64_t key = fixture_key_cost();
    create(1000 + 3 * key, ZEPI_BUILD_UNLIMITED);
    use(modules, 1, 400);
    use(modules, 2, 300);
    use(modules, 3, 300);
    cr_assert_eq(kept().bytes, 1000 + 3 * key);
    use(modules, 1, 400);
    use(modules, 4, 500); // 2 and 3 must go: 400 + 500
    cr_assert(fixture_has(modules, 1));
    cr_assert(fixture_has(modules, 4));
    cr_assert_not(fixture_has(modules, 2));
    cr_assert_not(fixture_has(modules, 3));
    cr_assert_eq(kept().bytes, 900 + 2 * key);
}

Test(build_budget, has_one_order_over_its_caches)
{
    create(ZEPI_BUILD_UNLIMITED, 6);
    for (uint64_t i = 0; i < 3; i++) {
        use(modules, i, 0);
        use(kernels, i, 0);
    }
    use(modules, 0, 0);
    // Oldest first: kernel 0, module 1, kernel 1, module 2, kernel 2, module 0.
    use(kernels, 10, 0);
    cr_assert_not(fixture_has(kernels, 0));
    use(kernels, 11, 0);
    cr_assert_eq(fixture_counters(modules).evictions, 1);
    use(kernels, 12, 0);
    cr_assert_eq(fixture_counters(kernels).evictions, 2);
    use(modules, 13, 0);
    cr_assert_eq(fixture_counters(modules).evictions, 2);
    cr_assert(fixture_has(modules, 0));
    cr_assert(fixture_has(kernels, 2));
    cr_assert_not(fixture_has(modules, 1));
    cr_assert_not(fixture_has(modules, 2));
    cr_assert_not(fixture_has(kernels, 1));
}

Test(build_budget, keeps_the_order_over_many_entries)
{
    enum { LIMIT = 100 };
    create(ZEPI_BUILD_UNLIMITED, LIMIT);
    for (uint64_t i = 0; i < UINT64_C(5) * LIMIT; i++)
        use(i % 2 == 0 ? modules : kernels, i, 0);
    for (uint64_t i = UINT64_C(4) * LIMIT; i < UINT64_C(5) * LIMIT; i++)
        cr_assert(fixture_has(i % 2 == 0 ? modules : kernels, i), "%d", (int)i);
    cr_assert_eq(fixture_alive(), LIMIT);
}

Test(build_budget, never_evicts_what_is_in_use)
{
    struct zepi_build_result *held[5];
    create(ZEPI_BUILD_UNLIMITED, 2);
    for (uint64_t i = 0; i < 5; i++)
        held[i] = hold(modules, i, 0);
    cr_assert_eq(kept().entries, 5);
    use(modules, 100, 0); // in use itself while it is put in
    cr_assert_eq(fixture_counters(modules).evictions, 0);
    for (int i = 0; i < 5; i++) {
        cr_assert_str_eq(fixture_text(held[i]), "held");
        zepi_build_result_release(held[i]);
    }
    use(modules, 101, 0);
    cr_assert_eq(kept().entries, 2, "what they left is evicted");
    cr_assert_eq(fixture_alive(), 2);
}

Test(build_budget, evicts_the_one_unused_entry_among_many_in_use)
{
    struct zepi_build_result *held[20];
    create(ZEPI_BUILD_UNLIMITED, 20);
    for (uint64_t i = 0; i < 20; i++)
        held[i] = hold(modules, i, 0);
    zepi_build_result_release(held[13]);
    use(kernels, 100, 0);
    cr_assert_not(fixture_has(modules, 13));
    cr_assert_eq(fixture_counters(modules).evictions, 1);
    for (uint64_t i = 0; i < 20; i++) {
        if (i != 13)
            zepi_build_result_release(held[i]);
    }
}

Test(build_budget, frees_an_entry_in_use_at_its_last_release)
{
    create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED);
    struct zepi_build_result *result = hold(modules, 1, 10);
    zepi_build_result_retain(result);
    zepi_build_cache_clear(modules);
    cr_assert_eq(kept().bytes, 0);
    cr_assert_eq(fixture_destroyed(), 0);
    zepi_build_result_release(result);
    cr_assert_eq(fixture_destroyed(), 0);
    zepi_build_result_release(result);
    cr_assert_eq(fixture_destroyed(), 1);
}

Test(build_budget, does_not_empty_itself_for_an_entry_that_never_fits)
{
    create(1000, ZEPI_BUILD_UNLIMITED);
    use(modules, 1, 100);
    use(modules, 2, 100);
    struct zepi_build_result *large = hold(modules, 3, 5000);
    cr_assert_str_eq(fixture_text(large), "held");
    zepi_build_result_release(large);
    cr_assert_not(fixture_has(modules, 3));
    cr_assert(fixture_has(modules, 1));
    cr_assert(fixture_has(modules, 2));
}

Test(build_budget, of_nothing_keeps_nothing)
{
    create(ZEPI_BUILD_UNLIMITED, 0);
    use(modules, 1, 0);
    cr_assert_not(fixture_has(modules, 1));
    zepi_build_budget_set_limits(budget, (struct zepi_build_limits){0, ZEPI_BUILD_UNLIMITED});
    use(modules, 1, 0);
    cr_assert_not(fixture_has(modules, 1));
    cr_assert_eq(fixture_alive(), 0);
}

Test(build_budget, enforces_new_limits_at_once)
{
    create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED);
    for (uint64_t i = 0; i < 10; i++)
        use(i < 5 ? modules : kernels, i, 100);
    zepi_build_budget_set_limits(budget, (struct zepi_build_limits){ZEPI_BUILD_UNLIMITED, 4});
    cr_assert_eq(fixture_alive(), 4);
    cr_assert_eq(zepi_build_budget_limits(budget).entries, 4);
    zepi_build_budget_set_limits(
        budget, (struct zepi_build_limits){2 * (100 + fixture_key_cost()), ZEPI_BUILD_UNLIMITED});
    cr_assert_eq(fixture_alive(), 2);
    cr_assert(fixture_has(kernels, 9));
    cr_assert(fixture_has(kernels, 8));
}

Test(build_budget, trims_oldest_first_down_to_the_bytes_asked_for)
{
    create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED);
    uint64_t cost = 100 + fixture_key_cost();
    for (uint64_t i = 0; i < 10; i++)
        use(i % 2 == 0 ? modules : kernels, i, 100);
    cr_assert_eq(trim(3 * cost + 1), 7);
    cr_assert_eq(kept().bytes, 3 * cost);
    for (uint64_t i = 7; i < 10; i++)
        cr_assert(fixture_has(i % 2 == 0 ? modules : kernels, i));
    cr_assert_eq(trim(3 * cost), 0);
    cr_assert_eq(trim(0), 3);
    cr_assert_eq(fixture_alive(), 0);
}

// A kernel whose payload holds a reference to its module's result.
static enum zepi_build_status build_kernel(void *user, struct zepi_build_output *output)
{
    uint64_t module = *(uint64_t *)user;
    output->payload = hold(modules, module, 100);
    output->destroy = (void (*)(void *))zepi_build_result_release;
    output->cost_bytes = 1;
    return ZEPI_BUILD_SUCCEEDED;
}

static void use_kernel(uint64_t kernel, uint64_t module)
{
    struct zepi_build_result *result;
    struct zepi_key key;
    fixture_key(&key, kernel);
    cr_assert_eq(zepi_build_cache_find_or_build(kernels, &key, build_kernel, &module, &result),
                 ZEPI_LOOKUP_SUCCEEDED);
    zepi_build_result_release(result);
}

Test(build_budget, keeps_a_module_as_long_as_one_of_its_kernels)
{
    create(ZEPI_BUILD_UNLIMITED, 3);
    use_kernel(1, 50); // module 50 and kernel 1
    use_kernel(2, 50);
    use_kernel(1, 50);
    use(modules, 51, 100); // kernel 2 goes, not the module that is older
    cr_assert(fixture_has(modules, 50));
    cr_assert(fixture_has(kernels, 1));
    cr_assert_not(fixture_has(kernels, 2));
}

Test(build_budget, evicts_a_module_after_its_kernels_in_one_trim)
{
    create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED);
    for (uint64_t kernel = 0; kernel < 5; kernel++)
        use_kernel(kernel, 50);
    cr_assert_eq(trim(1), 6);
    cr_assert_eq(kept().entries, 0);
    for (uint64_t kernel = 0; kernel < 5; kernel++)
        use_kernel(kernel, 50);
    cr_assert_eq(trim(0), 6);
    cr_assert_eq(fixture_alive(), 0);
}
