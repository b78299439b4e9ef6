// SPDX-License-Identifier: MIT
// Which tables a loader gets: those of the release whose functions it names. The loaders here are
// stand-ins; tests/runtime has the real ones.
#include "test_env.h"

#include "ur/layout/layout.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 12, SUCCESS = 0 };

static const unsigned char untouched[4096] = {0x5a, 0x5a, 0x5a, 0x5a};
static unsigned char table[sizeof(untouched)];
static void *adapter;

static void set_up(void)
{
    test_env_use_ze_cpu();
    unsetenv("ZEPI_UR_LAYOUT");
    adapter = dlopen(TEST_UR_ADAPTER, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(adapter, "%s", dlerror());
    memcpy(table, untouched, sizeof(table));
}

static void tear_down(void)
{
    dlclose(adapter);
}

TestSuite(loader, .init = set_up, .fini = tear_down);

typedef int getter_fn(uint32_t version, void *table);

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s", dlerror());
    return symbol;
}

// The result for the loader of that name that asks a library for a table.
static int ask_library(void *library, const char *name, const char *getter_name)
{
    char path[1024];
    int (*asks)(getter_fn *, uint32_t, void *);
    getter_fn *getter;
    void *symbol;
    snprintf(path, sizeof(path), TEST_LOADERS "/libstand_in_loader_%s.so", name);
    void *loader = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(loader, "%s", dlerror());
    symbol = find(loader, "stand_in_loader_ask");
    memcpy(&asks, &symbol, sizeof(symbol));
    symbol = find(library, getter_name);
    memcpy(&getter, &symbol, sizeof(symbol));
    return asks(getter, VERSION, table);
}

static int ask(const char *name, const char *getter_name)
{
    return ask_library(adapter, name, getter_name);
}

// A table of `count` functions.
static void expect_table(const char *loader, const char *name, size_t count)
{
    char getter[64];
    const size_t size = count * sizeof(void *);
    snprintf(getter, sizeof(getter), "urGet%sProcAddrTable", name);
    memcpy(table, untouched, sizeof(table));
    cr_assert_eq(ask(loader, getter), SUCCESS, "%s %s", loader, name);
    for (size_t at = 0; at < size; at += sizeof(void *))
        cr_expect_neq(memcmp(table + at, untouched + at, sizeof(void *)), 0, "%s %s", loader, name);
    cr_expect_eq(memcmp(table + size, untouched + size, sizeof(table) - size), 0, "%s %s", loader,
                 name);
}

// Each in a process of its own, as a process has one layout.
#define TABLE(name, first, count) expect_table(loader, #name, count);
#define LAYOUT_STORY(word, release)                                                                \
    Test(loader, of_##word##_gets_its_own_tables)                                                  \
    {                                                                                              \
        const char *loader = #word;                                                                \
        ZEPI_UR_PLACES_##word(TABLE)                                                               \
    }
ZEPI_UR_RELEASES(LAYOUT_STORY)

static void expect_refusal(const char *name)
{
    cr_expect_neq(ask(name, "urGetAdapterProcAddrTable"), SUCCESS, "%s", name);
    cr_expect_eq(memcmp(table, untouched, sizeof(table)), 0, "%s", name);
}

Test(loader, with_a_function_more_than_any_release_gets_nothing)
{
    expect_refusal("more");
}

Test(loader, with_a_function_less_than_a_release_gets_nothing)
{
    expect_refusal("less");
}

Test(loader, that_names_nothing_gets_nothing)
{
    expect_refusal("none");
}

Test(loader, of_another_release_than_the_first_gets_nothing)
{
    cr_assert_eq(ask("2026_2", "urGetAdapterProcAddrTable"), SUCCESS);
    memcpy(table, untouched, sizeof(table));
    expect_refusal("2026_1");
}

Test(loader, is_not_looked_at_where_a_release_is_named)
{
    setenv("ZEPI_UR_LAYOUT", "2026.2", 1);
    cr_expect_eq(ask("none", "urGetAdapterProcAddrTable"), SUCCESS);
}

// ---- Under the names of Intel's adapters ----

static void *open_name(const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), TEST_NAMES "/libur_adapter_%s.so.0", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s", dlerror());
    return library;
}

static void expect_first_alone(const char *first, const char *second)
{
    void *served = open_name(first);
    void *other = open_name(second);
    cr_expect_eq(ask_library(served, "2026_2", "urGetAdapterProcAddrTable"), SUCCESS);
    cr_expect_neq(memcmp(table, untouched, sizeof(table)), 0);
    memcpy(table, untouched, sizeof(table));
    cr_expect_neq(ask_library(other, "2026_2", "urGetAdapterProcAddrTable"), SUCCESS);
    cr_expect_eq(memcmp(table, untouched, sizeof(table)), 0);
    // The other tables come from the library behind the name, and a loader may begin again.
    cr_expect_eq(ask_library(served, "2026_2", "urGetKernelProcAddrTable"), SUCCESS);
    cr_expect_eq(ask_library(served, "2026_2", "urGetAdapterProcAddrTable"), SUCCESS);
    dlclose(other);
    dlclose(served);
}

Test(loader, that_asks_under_both_names_gets_tables_for_the_first)
{
    expect_first_alone("level_zero", "level_zero_v2");
}

Test(loader, that_asks_for_the_second_version_first_gets_its_tables)
{
    expect_first_alone("level_zero_v2", "level_zero");
}
