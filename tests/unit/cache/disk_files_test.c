// SPDX-License-Identifier: MIT
#include "cache/disk/atomic_file.h"
#include "cache/disk/disk.h"
#include "cache_fixture.h"
#include "core/sys.h"
#include "test_env.h"
#include "tools/zepi/cache/disk_files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAYLOAD_BYTES = 1000 };

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

TestSuite(disk_files, .init = create, .fini = destroy, .timeout = 30);

static void store(uint64_t number)
{
    static const char payload[PAYLOAD_BYTES];
    const struct zepi_build_record record = {.payload = payload, .payload_size = sizeof(payload)};
    struct zepi_key key;
    fixture_key(&key, number);
    zepi_disk_store_ops.store(disk, &key, &record);
}

static int make_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "cache/%s", name);
    int fd = open(test_env_scratch_path(path), O_CREAT | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "12345", 5), 5);
    return fd;
}

#define SOME_DIGEST "0123456789abcdef0123456789abcdef"

// Three results, one of them damaged, a file of another version, a leftover, a file being written.
static int fill(void)
{
    for (uint64_t i = 0; i < 2; i++)
        store(i);
    close(make_file(SOME_DIGEST ".zepi1"));
    close(make_file(SOME_DIGEST ".zepi2"));
    close(make_file(ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "dead"));
    int writer = make_file(ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "alive");
    cr_assert_eq(flock(writer, LOCK_EX), 0);
    return writer;
}

struct seen {
    int kinds[3];
    int stop_after;
};

static bool see(void *user, const struct zepi_disk_file *file)
{
    struct seen *seen = user;
    seen->kinds[file->kind]++;
    cr_assert_gt(strlen(file->name), 0);
    cr_assert_geq(file->size_bytes, 5);
    cr_assert_lt(llabs((long long)file->last_use_ns / 1000000000 - (long long)time(NULL)), 60);
    return --seen->stop_after != 0;
}

Test(disk_files, shows_every_file)
{
    struct seen seen = {0};
    struct seen two = {.stop_after = 2};
    int writer = fill();
    cr_assert_eq(zepi_disk_for_each(disk, ZEPI_DISK_LIST, see, &seen), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_RESULT], 3);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_OTHER_VERSION], 1);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_TEMPORARY], 2);
    cr_assert_eq(zepi_disk_for_each(disk, ZEPI_DISK_LIST, see, &two), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(two.kinds[0] + two.kinds[1] + two.kinds[2], 2, "the visitor said stop");
    close(writer);
}

static bool note_contents(void *user, const struct zepi_disk_file *file)
{
    unsigned *count = user;
    const bool is_sound = file->kind == ZEPI_DISK_FILE_RESULT;
    cr_assert_eq(!!file->bytes, is_sound, "%s", file->name);
    cr_assert_eq(!!file->key, is_sound);
    *count += 1;
    return true;
}

Test(disk_files, shows_the_contents_of_sound_files_alone)
{
    unsigned count = 0;
    int writer = fill();
    zepi_disk_for_each(disk, ZEPI_DISK_REMOVE_BAD, note_contents, &count);
    cr_assert_eq(count, 6);
    close(writer);
}

Test(disk_files, verifies_every_file_and_removes_the_bad_if_asked)
{
    struct zepi_disk_report report;
    int writer = fill();
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(zepi_disk_count(disk, ZEPI_DISK_READ, &report), ZEPI_CACHE_FOLDER_USABLE);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_RESULT].files, 2);
        cr_assert_gt(report.of[ZEPI_DISK_FILE_RESULT].bytes, UINT64_C(2) * PAYLOAD_BYTES);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].files, 1);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].bytes, 5);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_OTHER_VERSION].files, 1);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_TEMPORARY].files, 2);
        cr_assert_eq(report.of[ZEPI_DISK_FILE_UNREADABLE].files, 0);
    }
    zepi_disk_count(disk, ZEPI_DISK_REMOVE_BAD, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].files, 1);
    zepi_disk_count(disk, ZEPI_DISK_REMOVE_BAD, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].files, 0);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_RESULT].files, 2);
    close(writer);
}

Test(disk_files, does_not_condemn_what_it_cannot_read_now)
{
    struct zepi_disk_report report;
    store(1);
    // The folder and the list succeed, the file does not open.
    fixture_fault(1u << ZEPI_SYS_OPEN, 2, EMFILE, FIXTURE_FAULT_FOREVER);
    zepi_disk_count(disk, ZEPI_DISK_REMOVE_BAD, &report);
    cr_assert(fixture_fault_end());
    cr_assert_eq(report.of[ZEPI_DISK_FILE_UNREADABLE].files, 1);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_BAD].files, 0);
    zepi_disk_count(disk, ZEPI_DISK_REMOVE_BAD, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_RESULT].files, 1);
}

static bool note_last_use(void *user, const struct zepi_disk_file *file)
{
    *(int64_t *)user = file->last_use_ns;
    return true;
}

Test(disk_files, is_no_use_of_a_file)
{
    struct zepi_disk_report report;
    int64_t before_ns = 0;
    int64_t after_ns = 0;
    store(1);
    zepi_disk_for_each(disk, ZEPI_DISK_LIST, note_last_use, &before_ns);
    zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    zepi_disk_for_each(disk, ZEPI_DISK_LIST, note_last_use, &after_ns);
    cr_assert_gt(before_ns, 0);
    cr_assert_eq(before_ns, after_ns);
}

Test(disk_files, trims_oldest_first_and_sweeps_what_the_dead_left)
{
    struct zepi_disk_tally removed;
    struct zepi_disk_report report;
    int writer = fill();
    cr_assert_eq(zepi_disk_trim(disk, UINT64_MAX, &removed), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(removed.files, 1, "the leftover");
    cr_assert_eq(removed.bytes, 5);
    store(10);
    cr_assert_eq(zepi_disk_trim(disk, PAYLOAD_BYTES + 200, &removed), ZEPI_CACHE_FOLDER_USABLE);
    zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_RESULT].files, 1);
    cr_assert_eq(report.of[ZEPI_DISK_FILE_TEMPORARY].files, 1, "its writer is alive");
    close(writer);
}

static int stats_until_use;
static char used_file[200];

// Another process uses the file just before it would be unlinked.
static int use_file_at_nth_stat(enum zepi_sys_call call)
{
    if (call == ZEPI_SYS_STAT && --stats_until_use == 0)
        utimensat(AT_FDCWD, used_file, NULL, 0);
    return 0;
}

Test(disk_files, passes_over_a_file_that_is_used_while_it_trims)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char hex[ZEPI_DIGEST_HEX_LENGTH + 1];
    struct zepi_disk_tally removed;
    struct zepi_key key;
    store(1);
    store(2);
    store(3);
    fixture_key(&key, 1);
    zepi_digest_to_hex(zepi_key_digest(&key), hex);
    snprintf(used_file, sizeof(used_file), "%s/%s.zepi1", zepi_disk_path(disk), hex);
    cr_assert_eq(utimensat(AT_FDCWD, used_file, long_ago, 0), 0);
    // The folder, the three files listed, then the oldest before it is unlinked.
    stats_until_use = 5;
    zepi_sys_set_hook(use_file_at_nth_stat);
    zepi_disk_trim(disk, UINT64_C(2) * (PAYLOAD_BYTES + 200), &removed);
    zepi_sys_set_hook(NULL);
    cr_assert_eq(removed.files, 1);
    cr_assert_eq(access(used_file, F_OK), 0);
}

Test(disk_files, clears_every_version)
{
    struct zepi_disk_tally removed;
    struct seen seen = {0};
    int writer = fill();
    close(make_file("fedcba9876543210fedcba9876543210.zepi1"));
    cr_assert_eq(zepi_disk_trim(disk, 0, &removed), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(removed.files, 6);
    zepi_disk_for_each(disk, ZEPI_DISK_LIST, see, &seen);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_RESULT], 0);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_OTHER_VERSION], 0);
    cr_assert_eq(seen.kinds[ZEPI_DISK_FILE_TEMPORARY], 1);
    close(writer);
    zepi_disk_trim(disk, 0, &removed);
    cr_assert_eq(removed.files, 1);
}

Test(disk_files, clears_empty_files_too)
{
    struct zepi_disk_tally removed;
    store(1);
    close(open(test_env_scratch_path("cache/" SOME_DIGEST ".zepi1"), O_CREAT | O_WRONLY, 0600));
    zepi_disk_trim(disk, 0, &removed);
    cr_assert_eq(removed.files, 2);
}

Test(disk_files, says_why_a_folder_is_not_used)
{
    struct zepi_disk_tally removed;
    struct zepi_disk_report report;
    struct seen seen = {0};
    const char *path = test_env_scratch_path("cache");
    cr_assert_eq(zepi_disk_state(disk), ZEPI_CACHE_FOLDER_MISSING);
    cr_assert_eq(zepi_disk_count(disk, ZEPI_DISK_READ, &report), ZEPI_CACHE_FOLDER_MISSING);
    store(1);
    cr_assert_eq(zepi_disk_state(disk), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(chmod(path, 0777), 0);
    cr_assert_eq(zepi_disk_state(disk), ZEPI_CACHE_FOLDER_WRITABLE);
    cr_assert_eq(zepi_disk_trim(disk, 0, &removed), ZEPI_CACHE_FOLDER_WRITABLE);
    cr_assert_eq(zepi_disk_for_each(disk, ZEPI_DISK_LIST, see, &seen), ZEPI_CACHE_FOLDER_WRITABLE);
    cr_assert_eq(removed.files, 0);
    cr_assert_eq(seen.kinds[0], 0);
}

// ---- Sound files, here and elsewhere ----

struct taken {
    struct zepi_disk *other;
    int count;
    int limit;
};

static bool take(void *user, const struct zepi_disk_file *file)
{
    struct taken *taken = user;
    bool is_sound;
    if (!file->bytes)
        return true;
    cr_assert(zepi_disk_import(taken->other, file->bytes, file->size_bytes, &is_sound));
    cr_assert(is_sound);
    return ++taken->count < taken->limit;
}

static bool has(struct zepi_disk *in, uint64_t number)
{
    struct zepi_build_record record;
    struct zepi_key key;
    fixture_key(&key, number);
    const bool is_there = zepi_disk_store_ops.load(in, &key, &record);
    if (is_there)
        zepi_sys_free(record.storage);
    return is_there;
}

Test(disk_files, sound_files_are_taken_to_another_folder)
{
    struct taken taken = {zepi_disk_create(test_env_scratch_path("other"), UINT64_MAX), 0, 100};
    for (uint64_t i = 0; i < 3; i++)
        store(i);
    close(make_file(SOME_DIGEST ".zepi1")); // damaged
    cr_assert_eq(zepi_disk_for_each(disk, ZEPI_DISK_READ, take, &taken), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(taken.count, 3);
    for (uint64_t i = 0; i < 3; i++)
        cr_assert(has(taken.other, i));
    cr_assert_not(has(taken.other, 3));
    taken = (struct taken){taken.other, 0, 2};
    zepi_disk_for_each(disk, ZEPI_DISK_READ, take, &taken);
    cr_assert_eq(taken.count, 2, "a visit that wants no more gets no more");
    zepi_disk_destroy(taken.other);
}

static bool keep_damaged(void *user, const struct zepi_disk_file *file)
{
    struct zepi_disk *other = user;
    bool is_sound;
    unsigned char *copy = malloc(file->size_bytes);
    for (size_t i = 0; i < file->size_bytes; i += 7) {
        memcpy(copy, file->bytes, file->size_bytes);
        copy[i] ^= 1;
        cr_assert_not(zepi_disk_import(other, copy, file->size_bytes, &is_sound));
        cr_assert_not(is_sound, "byte %zu", i);
        cr_assert_not(zepi_disk_import(other, file->bytes, i, &is_sound));
        cr_assert_not(is_sound, "%zu bytes", i);
    }
    free(copy);
    return true;
}

Test(disk_files, damaged_files_are_not_imported)
{
    struct zepi_disk *other = zepi_disk_create(test_env_scratch_path("other"), UINT64_MAX);
    store(1);
    zepi_disk_for_each(disk, ZEPI_DISK_READ, keep_damaged, other);
    cr_assert_eq(zepi_disk_state(other), ZEPI_CACHE_FOLDER_MISSING);
    zepi_disk_destroy(other);
}

static bool is_refused(void *user, const struct zepi_disk_file *file)
{
    bool is_sound;
    cr_assert_not(zepi_disk_import(user, file->bytes, file->size_bytes, &is_sound));
    cr_assert(is_sound);
    return true;
}

Test(disk_files, nothing_is_imported_into_a_folder_that_is_not_trusted)
{
    struct zepi_disk *other = zepi_disk_create(test_env_scratch_path("open"), UINT64_MAX);
    store(1);
    cr_assert_eq(mkdir(zepi_disk_path(other), 0700), 0);
    cr_assert_eq(chmod(zepi_disk_path(other), 0777), 0);
    zepi_disk_for_each(disk, ZEPI_DISK_READ, is_refused, other);
    cr_assert_eq(rmdir(zepi_disk_path(other)), 0, "it is still empty");
    zepi_disk_destroy(other);
}
