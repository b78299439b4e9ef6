// SPDX-License-Identifier: MIT
//
// Error paths walked by loops: the n-th allocation or file operation fails, n = 1, 2, 3 ... until a
// round gets by without a failure. After each round everything that was made has been destroyed
// (and the sanitizers find no leak).
#include "cache_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <errno.h>

enum { MOST_ROUNDS = 2000, KEYS = 12 };

TestSuite(cache_fault, .timeout = 60);

static const int file_errors[] = {EIO, ENOSPC, EACCES, EMFILE, ENOENT, EPERM, ELOOP};

// A large key: its bytes are allocated, too.
static bool make_large_key(struct zepi_key *key, uint64_t number)
{
    static const char filler[ZEPI_KEY_INLINE_BYTES];
    zepi_key_init(key, 1);
    zepi_key_add_u64(key, 1, number);
    zepi_key_add_bytes(key, 2, filler, sizeof(filler));
    return zepi_key_seal(key);
}

static enum zepi_build_lookup ask_large(struct zepi_build_cache *cache, uint64_t number,
                                        struct zepi_build_result **out_result)
{
    struct fixture_build build = {.text = "text", .log = "log", .cost_bytes = 10};
    enum zepi_build_lookup lookup = ZEPI_LOOKUP_OUT_OF_MEMORY;
    struct zepi_key key;
    *out_result = NULL;
    if (make_large_key(&key, number))
        lookup = zepi_build_cache_find_or_build(cache, &key, fixture_run_build, &build, out_result);
    zepi_key_finish(&key);
    return lookup;
}

// Every answer is a right result, a failure that a build made of lack of memory, or no memory.
static void use_cache(struct zepi_build_cache *cache)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        struct zepi_build_result *result;
        enum zepi_build_lookup lookup = ask_large(cache, i % (KEYS - 2), &result);
        if (lookup == ZEPI_LOOKUP_SUCCEEDED) {
            cr_assert_str_eq(fixture_text(result), "text");
            cr_assert_str_eq(zepi_build_result_log(result), "log");
        } else if (lookup == ZEPI_LOOKUP_FAILED) {
            cr_assert_eq(zepi_build_result_status(result), ZEPI_BUILD_OUT_OF_MEMORY);
        } else {
            cr_assert_eq(lookup, ZEPI_LOOKUP_OUT_OF_MEMORY);
            cr_assert_null(result);
        }
        zepi_build_result_release(result);
    }
    struct zepi_build_counters counters = fixture_counters(cache);
    cr_assert_leq(counters.hits + counters.misses, KEYS);
    cr_assert_leq(counters.entries, KEYS - 2);
}

static void use_everything(const char *folder)
{
    struct zepi_disk *disk = zepi_disk_create(folder, 5000);
    struct zepi_build_store store = fixture_disk_store(disk);
    struct fixture_cache both = fixture_cache_create(100000, 5, disk ? &store : NULL);
    if (both.cache)
        use_cache(both.cache);
    if (disk) {
        struct zepi_disk_report report;
        struct zepi_disk_tally removed;
        struct zepi_key key;
        fixture_key(&key, 1);
        zepi_disk_unclaim(zepi_disk_claim(disk, &key, 0), ZEPI_DISK_CLAIM_ABANDONED);
        zepi_disk_count(disk, ZEPI_DISK_READ, &report);
        zepi_disk_trim(disk, 3000, &removed);
    }
    fixture_cache_destroy(&both);
    zepi_disk_destroy(disk);
    cr_assert_eq(fixture_alive(), 0);
}

// After any failure each file in the folder is good, or there is none.
static void expect_sound_folder(const char *folder)
{
    struct zepi_disk *disk = zepi_disk_create(folder, UINT64_MAX);
    struct zepi_disk_report report;
    struct zepi_disk_tally removed;
    zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].files, 0);
    // Leftovers, if the unlink failed, have no writer and can be swept.
    zepi_disk_trim(disk, UINT64_MAX, &removed);
    zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_TEMPORARY].files, 0);
    zepi_disk_destroy(disk);
}

static void walk(unsigned mask, int error, enum fixture_fault_length length)
{
    const char *folder = test_env_scratch_path("cache");
    int n = 1;
    for (; n < MOST_ROUNDS; n++) {
        fixture_fault(mask, n, error, length);
        use_everything(folder);
        bool has_failed = fixture_fault_end();
        expect_sound_folder(folder);
        if (!has_failed)
            break;
    }
    cr_assert_gt(n, 20, "the calls are counted");
    cr_assert_lt(n, MOST_ROUNDS);
}

Test(cache_fault, the_nth_allocation_fails)
{
    walk(FIXTURE_FAULT_ALLOCATIONS, ENOMEM, FIXTURE_FAULT_ONCE);
}

Test(cache_fault, every_allocation_from_the_nth_on_fails)
{
    walk(FIXTURE_FAULT_ALLOCATIONS, ENOMEM, FIXTURE_FAULT_FOREVER);
}

Test(cache_fault, the_nth_file_operation_fails)
{
    for (size_t i = 0; i < sizeof(file_errors) / sizeof(file_errors[0]); i++)
        walk(FIXTURE_FAULT_FILES, file_errors[i], FIXTURE_FAULT_ONCE);
}

Test(cache_fault, every_file_operation_from_the_nth_on_fails)
{
    for (size_t i = 0; i < sizeof(file_errors) / sizeof(file_errors[0]); i++)
        walk(FIXTURE_FAULT_FILES, file_errors[i], FIXTURE_FAULT_FOREVER);
}

Test(cache_fault, no_file_error_fails_a_build)
{
    const char *folder = test_env_scratch_path("cache");
    bool has_failed = true;
    for (int n = 1; has_failed && n < MOST_ROUNDS; n++) {
        struct zepi_disk *disk = zepi_disk_create(folder, 5000);
        struct zepi_build_store store = fixture_disk_store(disk);
        struct fixture_cache both = fixture_cache_create(100000, 5, &store);
        fixture_fault(FIXTURE_FAULT_FILES, n, EIO, FIXTURE_FAULT_FOREVER);
        for (uint64_t i = 0; i < KEYS; i++) {
            struct zepi_build_result *result;
            cr_assert_eq(ask_large(both.cache, i, &result), ZEPI_LOOKUP_SUCCEEDED);
            zepi_build_result_release(result);
        }
        has_failed = fixture_fault_end();
        fixture_cache_destroy(&both);
        zepi_disk_destroy(disk);
    }
    cr_assert_not(has_failed);
}

Test(cache_fault, one_failed_allocation_is_recovered_by_evicting)
{
    // Enough for the hash table to grow several times; its growth is among some 4000 allocations,
    // of which the later ones are alike.
    enum { ENTRIES = 2000 };
    for (int n = 1; n < 2 * ENTRIES; n += 1 + n / 20) {
        struct fixture_cache both =
            fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, NULL);
        struct fixture_build build = {.text = "text", .log = "log"};
        fixture_fault(FIXTURE_FAULT_ALLOCATIONS, n, ENOMEM, FIXTURE_FAULT_ONCE);
        for (uint64_t i = 0; i < ENTRIES; i++)
            cr_assert(fixture_use(both.cache, i, &build), "allocation %d", n);
        cr_assert(fixture_fault_end());
        cr_assert_leq(fixture_alive(), ENTRIES);
        fixture_cache_destroy(&both);
        cr_assert_eq(fixture_alive(), 0);
    }
}
