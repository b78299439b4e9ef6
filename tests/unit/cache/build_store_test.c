// SPDX-License-Identifier: MIT
//
// The second level below a build cache, with the disk as the store.
#include "cache/build_cache.h"
#include "cache_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct zepi_disk *disk;
static struct zepi_build_store store;

static void create(void)
{
    disk = zepi_disk_create(test_env_scratch_path("cache"), UINT64_MAX);
    cr_assert_not_null(disk);
    store = fixture_disk_store(disk);
}

static void destroy(void)
{
    zepi_disk_destroy(disk);
    cr_assert_eq(fixture_alive(), 0);
}

TestSuite(build_store, .init = create, .fini = destroy, .timeout = 30);

static struct fixture_cache new_process(void)
{
    struct fixture_cache both =
        fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, &store);
    cr_assert_not_null(both.cache);
    return both;
}

// Asks and compares. Returns where it came from.
static enum fixture_origin expect(struct fixture_cache both, struct fixture_build *build)
{
    struct zepi_build_result *result;
    enum zepi_build_lookup lookup = fixture_ask(both.cache, 1, build, &result);
    if (build->status == ZEPI_BUILD_SUCCEEDED) {
        cr_assert_eq(lookup, ZEPI_LOOKUP_SUCCEEDED);
        cr_assert_str_eq(fixture_text(result), build->text);
    } else {
        cr_assert_eq(lookup, ZEPI_LOOKUP_FAILED);
    }
    cr_assert_eq(result->output.code, build->code);
    cr_assert_eq(result->output.log_size, strlen(build->log));
    cr_assert_str_eq(zepi_build_result_log(result), build->log);
    zepi_build_result_release(result);
    return fixture_origin();
}

Test(build_store, gives_the_same_payload_and_log_cold_from_memory_and_from_disk)
{
    struct fixture_build build = {.text = "machine code", .log = "warning: unused variable\n"};
    struct fixture_cache first = new_process();
    cr_assert_eq(expect(first, &build), FIXTURE_BUILT);
    cr_assert_eq(expect(first, &build), FIXTURE_FROM_MEMORY);
    struct fixture_cache second = new_process();
    cr_assert_eq(expect(second, &build), FIXTURE_FROM_STORE);
    cr_assert_eq(expect(second, &build), FIXTURE_FROM_MEMORY);
    cr_assert_eq(build.builds, 1);
    struct zepi_build_counters counters = fixture_counters(second.cache);
    cr_assert_eq(counters.hits, 1);
    cr_assert_eq(counters.misses, 1);
    cr_assert_eq(counters.store_hits, 1);
    cr_assert_eq(counters.store_misses, 0);
    cr_assert_eq(counters.builds, 0);
    cr_assert_eq(counters.build_ns, 0);
    cr_assert_eq(fixture_counters(first.cache).store_misses, 1);
    fixture_cache_destroy(&first);
    fixture_cache_destroy(&second);
}

static void expect_built_in_each_process(struct fixture_build *build)
{
    for (int i = 1; i <= 2; i++) {
        struct fixture_cache both = new_process();
        cr_assert_eq(expect(both, build), FIXTURE_BUILT);
        fixture_cache_destroy(&both);
        cr_assert_eq(build->builds, i);
    }
}

Test(build_store, does_not_keep_refusals)
{
    struct fixture_build build = {.status = ZEPI_BUILD_FAILED, .code = 5, .log = "no"};
    expect_built_in_each_process(&build);
}

Test(build_store, does_not_keep_spurious_failures)
{
    struct fixture_build build = {.status = ZEPI_BUILD_SPURIOUS, .code = 5, .log = "lost"};
    expect_built_in_each_process(&build);
}

static bool refuse(struct zepi_build_output *output, const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    (void)output;
    return false;
}

Test(build_store, builds_what_is_no_payload_and_replaces_it)
{
    struct fixture_build build = {.text = "first", .log = ""};
    struct fixture_cache both = new_process();
    expect(both, &build);
    fixture_cache_destroy(&both);

    build.text = "second";
    store.make_payload = refuse;
    both = new_process();
    cr_assert_eq(expect(both, &build), FIXTURE_BUILT);
    fixture_cache_destroy(&both);

    store.make_payload = fixture_make_payload;
    both = new_process();
    cr_assert_eq(expect(both, &build), FIXTURE_FROM_STORE);
    fixture_cache_destroy(&both);
}

// A store that has nothing, and a claim for each load.
static int next_claim, told_claim;
static bool is_told_of_payload;

static bool claiming_load(void *self, const struct zepi_key *key,
                          struct zepi_build_record *out_record)
{
    (void)self;
    (void)key;
    out_record->claim = ++next_claim;
    return false;
}

static void claiming_store(void *self, const struct zepi_key *key,
                           const struct zepi_build_record *record)
{
    (void)self;
    (void)key;
    told_claim = record->claim;
    is_told_of_payload = record->payload != NULL;
}

Test(build_store, is_told_of_each_build_with_the_claim_of_its_load)
{
    static const struct zepi_build_store_ops ops = {.load = claiming_load, .store = claiming_store};
    const enum zepi_build_status states[] = {ZEPI_BUILD_SUCCEEDED, ZEPI_BUILD_FAILED,
                                             ZEPI_BUILD_SPURIOUS};
    store.ops = &ops;
    struct fixture_cache both = new_process();
    for (int i = 0; i < 3; i++) {
        struct fixture_build build = {.status = states[i], .text = "code"};
        fixture_use(both.cache, (uint64_t)i, &build);
        cr_assert_eq(told_claim, i + 1);
        cr_assert_eq(is_told_of_payload, states[i] == ZEPI_BUILD_SUCCEEDED);
    }
    fixture_cache_destroy(&both);
}

static bool note_file(void *user, const struct zepi_disk_file *file)
{
    *(struct zepi_disk_file *)user = *file;
    return true;
}

static struct zepi_disk_file the_file(void)
{
    struct zepi_disk_file file = {0};
    zepi_disk_for_each(disk, ZEPI_DISK_LIST, note_file, &file);
    return file;
}

// While it is built anew nothing is removed, so that a build that fails leaves the record there.
Test(build_store, keeps_what_there_was_no_memory_to_load)
{
    struct fixture_build build = {.text = "x", .log = "a log"};
    struct fixture_cache both = new_process();
    expect(both, &build);
    fixture_cache_destroy(&both);
    const struct zepi_disk_file before = the_file();
    bool was_met = true;
    for (int n = 1; was_met; n++) {
        both = new_process();
        build.status = ZEPI_BUILD_SPURIOUS;
        fixture_fault(FIXTURE_FAULT_ALLOCATIONS, n, ENOMEM, FIXTURE_FAULT_ONCE);
        fixture_use(both.cache, 1, &build);
        was_met = fixture_fault_end();
        fixture_cache_destroy(&both);
        cr_assert_eq(the_file().size_bytes, before.size_bytes, "allocation %d", n);
    }
}

static atomic_int files;

static int count_files(enum zepi_sys_call call)
{
    if (call == ZEPI_SYS_RENAME)
        atomic_fetch_add(&files, 1);
    return 0;
}

Test(build_store, writes_what_was_built_and_not_what_was_loaded)
{
    struct fixture_build build = {.text = "x", .log = ""};
    zepi_sys_set_hook(count_files);
    for (int i = 0; i < 3; i++) {
        struct fixture_cache both = new_process();
        expect(both, &build);
        fixture_cache_destroy(&both);
    }
    zepi_sys_set_hook(NULL);
    cr_assert_eq(files, 1);
}

Test(build_store, forgets_a_key_that_is_removed)
{
    struct fixture_build build = {.text = "x", .log = ""};
    struct fixture_cache both = new_process();
    struct zepi_key key;
    fixture_key(&key, 1);
    expect(both, &build);
    zepi_build_cache_remove(both.cache, &key);
    cr_assert_eq(expect(both, &build), FIXTURE_BUILT);
    fixture_cache_destroy(&both);
}
