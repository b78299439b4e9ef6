// SPDX-License-Identifier: MIT
#include "cache/disk/disk.h"
#include "cache_fixture.h"
#include "test_env.h"
#include "tools/zepi/cache/disk_files.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct zepi_disk *disk;

static void create(void)
{
    disk = zepi_disk_create(test_env_scratch_path("cache"), UINT64_MAX);
    cr_assert_not_null(disk);
}

static void destroy(void)
{
    zepi_disk_destroy(disk);
}

TestSuite(disk, .init = create, .fini = destroy, .timeout = 30);

static void store_bytes(uint64_t number, const void *bytes, size_t size)
{
    const struct zepi_build_record record = {
        .payload = bytes, .payload_size = size, .log = "log", .log_size = 3};
    struct zepi_key key;
    fixture_key(&key, number);
    zepi_disk_store_ops.store(disk, &key, &record);
}

static bool load(uint64_t number, struct zepi_build_record *out_record)
{
    struct zepi_key key;
    fixture_key(&key, number);
    return zepi_disk_store_ops.load(disk, &key, out_record);
}

static bool has(uint64_t number)
{
    struct zepi_build_record record = {0};
    bool is_there = load(number, &record);
    zepi_build_record_finish(&record);
    return is_there;
}

static const char *path_of(uint64_t number, const char *suffix)
{
    char hex[ZEPI_DIGEST_HEX_LENGTH + 1];
    char name[100];
    struct zepi_key key;
    fixture_key(&key, number);
    zepi_digest_to_hex(zepi_key_digest(&key), hex);
    snprintf(name, sizeof(name), "cache/%s%s", hex, suffix);
    return test_env_scratch_path(name);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void write_file(const char *path, size_t size)
{
    static char bytes[100000];
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

// Sets the last use of a file, in seconds before now.
static void age(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

Test(disk, gives_back_what_was_stored)
{
    struct zepi_build_record record;
    store_bytes(1, "payload", 7);
    cr_assert(load(1, &record));
    cr_assert_eq(record.payload_size, 7);
    cr_assert_arr_eq(record.payload, "payload", 7);
    cr_assert_eq((uintptr_t)record.payload % 16, 0);
    cr_assert_eq(record.log_size, 3);
    cr_assert_arr_eq(record.log, "log", 3);
    zepi_build_record_finish(&record);
    cr_assert_not(has(2));
}

Test(disk, keeps_empty_records_but_none_without_a_payload)
{
    struct zepi_build_record record = {0};
    struct zepi_key key;
    fixture_key(&key, 1);
    zepi_disk_store_ops.store(disk, &key, &record);
    cr_assert_not(has(1));
    record.payload = "";
    zepi_disk_store_ops.store(disk, &key, &record);
    cr_assert(load(1, &record));
    cr_assert_eq(record.payload_size, 0);
    cr_assert_eq(record.log_size, 0);
    zepi_build_record_finish(&record);
}

Test(disk, keeps_large_payloads_whole)
{
    enum { SIZE = 20 * 1000 * 1000 + 1 };
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    store_bytes(1, bytes, SIZE);
    struct zepi_build_record record;
    cr_assert(load(1, &record));
    cr_assert_eq(record.payload_size, SIZE);
    cr_assert_eq(memcmp(record.payload, bytes, SIZE), 0);
    zepi_build_record_finish(&record);
    free(bytes);
}

Test(disk, believes_the_key_in_the_file_not_its_name)
{
    store_bytes(1, "one", 3);
    cr_assert_eq(rename(path_of(1, ".zepi1"), path_of(2, ".zepi1")), 0);
    cr_assert_not(has(2));
    cr_assert_not(exists(path_of(2, ".zepi1")), "and takes the impostor away");
}

Test(disk, forgets_what_is_removed)
{
    struct zepi_key key;
    fixture_key(&key, 1);
    zepi_disk_store_ops.remove(disk, &key);
    store_bytes(1, "one", 3);
    store_bytes(2, "two", 3);
    zepi_disk_store_ops.remove(disk, &key);
    cr_assert_not(has(1));
    cr_assert(has(2));
}

Test(disk, evicts_the_least_recently_used_file_first)
{
    enum { SIZE = 10000 };
    static char bytes[SIZE];
    for (uint64_t i = 0; i < 8; i++) {
        store_bytes(i, bytes, SIZE);
        age(path_of(i, ".zepi1"), 1000 - (time_t)i);
    }
    cr_assert(has(0)); // a hit is a use
    zepi_disk_set_limit_bytes(disk, UINT64_C(8) * (SIZE + 200));
    store_bytes(8, bytes, SIZE);
    // Down to seven eighths of the limit.
    for (uint64_t i = 0; i < 9; i++)
        cr_assert_eq(exists(path_of(i, ".zepi1")), i == 0 || i >= 3, "%d", (int)i);
}

Test(disk, stays_within_its_limit_over_many_stores)
{
    enum { SIZE = 5000, LIMIT = 100 * 1000 };
    static char bytes[SIZE];
    struct zepi_disk_report report;
    zepi_disk_set_limit_bytes(disk, LIMIT);
    for (uint64_t i = 0; i < 100; i++) {
        store_bytes(i, bytes, SIZE);
        zepi_disk_count(disk, ZEPI_DISK_READ, &report);
        cr_assert_leq(report.of[ZEPI_DISK_FILE_RESULT].bytes, LIMIT);
        cr_assert(has(i), "the newest is there");
    }
    cr_assert_geq(report.of[ZEPI_DISK_FILE_RESULT].files, 15);
}

Test(disk, notices_in_time_what_another_process_stored)
{
    enum { SIZE = 1000, LIMIT = 200 * 1000 };
    static char bytes[SIZE];
    struct zepi_disk_report report;
    zepi_disk_set_limit_bytes(disk, LIMIT);
    store_bytes(0, bytes, SIZE);
    struct zepi_disk *mine = disk;
    disk = zepi_disk_create(zepi_disk_path(mine), UINT64_MAX);
    for (uint64_t i = 1000; i < 1400; i++)
        store_bytes(i, bytes, SIZE);
    zepi_disk_destroy(disk);
    disk = mine;
    for (uint64_t i = 1; i <= 64; i++)
        store_bytes(i, bytes, SIZE);
    zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    cr_assert_leq(report.of[ZEPI_DISK_FILE_RESULT].bytes, LIMIT);
}

Test(disk, stores_nothing_that_exceeds_its_limit)
{
    static char bytes[5000];
    zepi_disk_set_limit_bytes(disk, 10000);
    store_bytes(1, bytes, sizeof(bytes));
    zepi_disk_set_limit_bytes(disk, 5000);
    cr_assert_eq(zepi_disk_limit_bytes(disk), 5000);
    store_bytes(2, bytes, sizeof(bytes));
    cr_assert(has(1), "what is there is not sacrificed for it");
    cr_assert_not(has(2));
    zepi_disk_set_limit_bytes(disk, 0);
    store_bytes(3, "", 0);
    cr_assert_not(has(3));
}

Test(disk, leaves_the_files_of_another_version_alone)
{
    store_bytes(1, "one", 3);
    write_file(path_of(1, ".zepi2"), 10);
    write_file(path_of(2, ".zepi2"), 10);
    cr_assert(has(1));
    cr_assert_not(has(2));
    store_bytes(2, "two", 3);
    cr_assert(has(2));
    struct zepi_key key;
    fixture_key(&key, 2);
    zepi_disk_store_ops.remove(disk, &key);
    cr_assert(exists(path_of(1, ".zepi2")));
    cr_assert(exists(path_of(2, ".zepi2")));
}

Test(disk, lets_the_files_of_another_version_age_with_its_own)
{
    enum { SIZE = 10000 };
    static char bytes[SIZE];
    store_bytes(1, bytes, SIZE);
    write_file(path_of(2, ".zepi2"), SIZE);
    write_file(path_of(3, ".zepi17"), SIZE);
    age(path_of(1, ".zepi1"), 20);
    age(path_of(2, ".zepi2"), 30);
    age(path_of(3, ".zepi17"), 10);
    // A new process: it looks at the folder at its first store.
    zepi_disk_destroy(disk);
    disk = zepi_disk_create(test_env_scratch_path("cache"), UINT64_C(4) * SIZE);
    store_bytes(4, bytes, SIZE); // 40 kB and some more: one must go
    cr_assert_not(exists(path_of(2, ".zepi2")));
    cr_assert(exists(path_of(3, ".zepi17")));
    cr_assert(exists(path_of(1, ".zepi1")));
}

Test(disk, touches_no_file_that_is_not_its_own)
{
    static const char *const names[] = {"cache/README",
                                        "cache/.hidden",
                                        "cache/a.zepi1",
                                        "cache/0123456789abcdef0123456789abcdeF.zepi1",
                                        "cache/0123456789abcdef0123456789abcdef.zepi",
                                        "cache/0123456789abcdef0123456789abcdef.zepi1x",
                                        "cache/0123456789abcdef0123456789abcdef0.zepi1"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    struct zepi_disk_tally removed;
    store_bytes(1, "one", 3);
    for (int i = 0; i < COUNT; i++)
        write_file(test_env_scratch_path(names[i]), 100);
    cr_assert_eq(zepi_disk_trim(disk, 0, &removed), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(removed.files, 1);
    for (int i = 0; i < COUNT; i++)
        cr_assert(exists(test_env_scratch_path(names[i])), "%s", names[i]);
}

Test(disk, takes_a_relative_path_from_where_it_was_created)
{
    cr_assert_eq(chdir(test_env_scratch()), 0);
    struct zepi_disk *absolute = disk;
    disk = zepi_disk_create("cache", UINT64_MAX);
    cr_assert_eq(chdir("/"), 0);
    store_bytes(1, "one", 3);
    cr_assert(has(1));
    cr_assert_str_eq(zepi_disk_path(disk), zepi_disk_path(absolute));
    zepi_disk_destroy(disk);
    disk = absolute;
    cr_assert(has(1));
}
