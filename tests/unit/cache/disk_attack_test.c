// SPDX-License-Identifier: MIT
//
// Faults of a folder and its files, seen through a build cache: the build succeeds all the same,
// and no bad file is trusted.
#include "cache/disk/disk_record.h"
#include "cache_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOOD_TEXT "machine code that can be told from any other"
#define GOOD_LOG "warning: something"

static const char *folder;
static char file[600]; // the one cache file

static void name_files(void)
{
    struct zepi_key key;
    char hex[ZEPI_DIGEST_HEX_LENGTH + 1];
    folder = test_env_scratch_path("cache");
    fixture_key(&key, 1);
    zepi_digest_to_hex(zepi_key_digest(&key), hex);
    snprintf(file, sizeof(file), "%s/%s.zepi1", folder, hex);
}

TestSuite(disk_attack, .init = name_files, .timeout = 60);

// Asks for the key in a new cache, as a new process would. It must get the right result, wherever
// from.
static enum fixture_origin ask(const char *path)
{
    struct fixture_build build = {.text = GOOD_TEXT, .log = GOOD_LOG};
    struct zepi_disk *disk = zepi_disk_create(path, UINT64_MAX);
    struct zepi_build_store store = fixture_disk_store(disk);
    struct fixture_cache both =
        fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, &store);
    struct zepi_build_result *result;
    cr_assert_eq(fixture_ask(both.cache, 1, &build, &result), ZEPI_LOOKUP_SUCCEEDED);
    cr_assert_str_eq(fixture_text(result), GOOD_TEXT);
    cr_assert_str_eq(zepi_build_result_log(result), GOOD_LOG);
    zepi_build_result_release(result);
    fixture_cache_destroy(&both);
    zepi_disk_destroy(disk);
    cr_assert_eq(fixture_alive(), 0);
    return fixture_origin();
}

static bool builds_again_and_again(const char *path)
{
    for (int i = 0; i < 3; i++) {
        if (ask(path) != FIXTURE_BUILT)
            return false;
    }
    return true;
}

static struct test_bytes make_good_file(void)
{
    cr_assert_eq(ask(folder), FIXTURE_BUILT);
    cr_assert_eq(ask(folder), FIXTURE_FROM_STORE);
    return test_env_read_file(file);
}

static void overwrite(const void *bytes, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *listing = opendir(path);
    if (!listing)
        return 0;
    for (const struct dirent *at; (at = readdir(listing));)
        count += strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0;
    closedir(listing);
    return count;
}

// The file is damaged now: that is noticed, and mended.
static void expect_rebuilt(const char *what, size_t where)
{
    cr_assert_eq(ask(folder), FIXTURE_BUILT, "%s at %zu went unnoticed", what, where);
    cr_assert_eq(ask(folder), FIXTURE_FROM_STORE, "%s at %zu was not mended", what, where);
}

Test(disk_attack, every_flipped_byte_is_noticed_and_mended)
{
    struct test_bytes good = make_good_file();
    cr_assert_gt(good.size_bytes, 64);
    for (size_t i = 0; i < good.size_bytes; i++) {
        good.data[i] ^= 0xff;
        overwrite(good.data, good.size_bytes);
        good.data[i] ^= 0xff;
        expect_rebuilt("a flipped byte", i);
    }
    free(good.data);
}

Test(disk_attack, every_flipped_bit_is_noticed)
{
    struct test_bytes good = make_good_file();
    struct zepi_disk_record_view view;
    cr_assert(zepi_disk_record_decode(good.data, good.size_bytes, &view));
    for (size_t i = 0; i < 8 * good.size_bytes; i++) {
        good.data[i / 8] ^= (uint8_t)(1u << i % 8);
        cr_assert_not(zepi_disk_record_decode(good.data, good.size_bytes, &view), "bit %zu", i);
        good.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    free(good.data);
}

Test(disk_attack, every_truncation_is_noticed_and_mended)
{
    struct test_bytes good = make_good_file();
    for (size_t size = 0; size < good.size_bytes; size++) {
        overwrite(good.data, size);
        expect_rebuilt("a truncation", size);
    }
    free(good.data);
}

// With a checksum that fits: an accident could not do this, but another program might.
Test(disk_attack, a_record_whose_lengths_do_not_add_up_is_noticed)
{
    struct test_bytes good = make_good_file();
    static const uint64_t steps[] = {1, 8, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX - 100};
    // Payload, log and key size are eight bytes each, then the checksum.
    for (size_t at = 24; at < 48; at += 8) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            struct zepi_disk_record_view view;
            uint64_t length;
            uint8_t *bytes = malloc(good.size_bytes);
            memcpy(bytes, good.data, good.size_bytes);
            memcpy(&length, bytes + at, sizeof(length));
            length += steps[i];
            memcpy(bytes + at, &length, sizeof(length));
            const struct zepi_digest_part parts[] = {{bytes, 48},
                                                     {bytes + 64, good.size_bytes - 64}};
            struct zepi_digest checksum = zepi_digest_of_parts(parts, 2);
            memcpy(bytes + 48, &checksum, sizeof(checksum));
            cr_assert_not(zepi_disk_record_decode(bytes, good.size_bytes, &view));
            free(bytes);
        }
    }
    free(good.data);
}

Test(disk_attack, a_bad_file_is_unlinked_at_once)
{
    struct test_bytes good = make_good_file();
    struct zepi_disk *disk = zepi_disk_create(folder, UINT64_MAX);
    struct zepi_build_record record;
    struct zepi_key key;
    fixture_key(&key, 1);
    overwrite(good.data, good.size_bytes - 1);
    cr_assert_not(zepi_disk_store_ops.load(disk, &key, &record));
    cr_assert_not(exists(file));
    zepi_disk_destroy(disk);
    free(good.data);
}

Test(disk_attack, appended_bytes_are_noticed)
{
    struct test_bytes good = make_good_file();
    int fd = open(file, O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, "", 1), 1);
    close(fd);
    expect_rebuilt("a byte more", good.size_bytes);
    free(good.data);
}

Test(disk_attack, a_file_that_is_a_link_is_replaced)
{
    struct test_bytes good = make_good_file();
    const char *target = test_env_scratch_path("elsewhere");
    cr_assert_eq(rename(file, target), 0);
    cr_assert_eq(symlink(target, file), 0);
    expect_rebuilt("a link", 0);
    cr_assert(exists(target), "its target is not ours to unlink");
    free(good.data);
}

Test(disk_attack, a_file_that_others_may_write_is_replaced)
{
    struct test_bytes good = make_good_file();
    cr_assert_eq(chmod(file, 0622), 0);
    expect_rebuilt("mode 0622", 0);
    free(good.data);
}

Test(disk_attack, a_file_of_another_user_is_replaced)
{
    if (geteuid() != 0)
        cr_skip_test("only root can give a file away");
    struct test_bytes good = make_good_file();
    cr_assert_eq(chown(file, 12345, 12345), 0);
    expect_rebuilt("a foreign owner", 0);
    free(good.data);
}

Test(disk_attack, a_folder_in_place_of_a_file_stops_no_build)
{
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert_eq(mkdir(file, 0700), 0);
    cr_assert(builds_again_and_again(folder));
    cr_assert_eq(count_files(folder), 1);
}

// A good file lies in a folder that cannot be trusted: it is neither read nor replaced.
static void expect_unused(const char *path)
{
    int before = count_files(path);
    cr_assert(builds_again_and_again(path));
    cr_assert_eq(count_files(path), before);
}

Test(disk_attack, a_folder_that_others_may_write_is_not_used)
{
    struct test_bytes good = make_good_file();
    cr_assert_eq(chmod(folder, 0777), 0);
    expect_unused(folder);
    cr_assert_eq(chmod(folder, 01777), 0);
    expect_unused(folder);
    cr_assert_eq(chmod(folder, 0770), 0);
    expect_unused(folder);
    cr_assert_eq(chmod(folder, 0700), 0);
    cr_assert_eq(ask(folder), FIXTURE_FROM_STORE);
    free(good.data);
}

Test(disk_attack, a_folder_of_another_user_is_not_used)
{
    if (geteuid() != 0)
        cr_skip_test("only root can give a folder away");
    struct test_bytes good = make_good_file();
    cr_assert_eq(chown(folder, 12345, 12345), 0);
    expect_unused(folder);
    free(good.data);
}

Test(disk_attack, a_folder_that_is_a_link_is_not_used)
{
    struct test_bytes good = make_good_file();
    const char *link = test_env_scratch_path("link");
    cr_assert_eq(symlink(folder, link), 0);
    expect_unused(link);
    free(good.data);
}

Test(disk_attack, a_file_in_place_of_the_folder_stops_no_build)
{
    close(open(folder, O_CREAT | O_WRONLY, 0600));
    expect_unused(folder);
    expect_unused(test_env_scratch_path("cache/below"));
}

Test(disk_attack, a_folder_that_vanishes_is_made_again)
{
    struct test_bytes good = make_good_file();
    cr_assert_eq(unlink(file), 0);
    cr_assert_eq(rmdir(folder), 0);
    expect_rebuilt("no folder", 0);
    free(good.data);
}

static void remove_folder(void *user)
{
    (void)user;
    rmdir(folder);
}

Test(disk_attack, a_folder_that_vanishes_during_a_build_stops_no_build)
{
    struct fixture_build build = {.text = "x", .inside = remove_folder};
    struct zepi_disk *disk = zepi_disk_create(folder, UINT64_MAX);
    struct zepi_build_store store = fixture_disk_store(disk);
    struct fixture_cache both =
        fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, &store);
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert(fixture_use(both.cache, 1, &build));
    cr_assert(exists(file));
    fixture_cache_destroy(&both);
    zepi_disk_destroy(disk);
}

// Root may write anywhere, so a child of the user nobody tries to write here.
static void ask_as_nobody(void)
{
    char path[] = "/tmp/zepi-test-XXXXXX";
    struct zepi_disk_tally removed;
    if (setgid(65534) != 0 || setuid(65534) != 0 || !mkdtemp(path))
        _exit(2);
    bool was_built = ask(path) == FIXTURE_BUILT;
    chmod(path, 0500);
    bool is_hit = ask(path) == FIXTURE_FROM_STORE && count_files(path) == 1;
    chmod(path, 0700);
    struct zepi_disk *disk = zepi_disk_create(path, UINT64_MAX);
    zepi_disk_trim(disk, 0, &removed);
    zepi_disk_destroy(disk);
    chmod(path, 0500);
    bool is_built = builds_again_and_again(path) && count_files(path) == 0;
    chmod(path, 0700);
    rmdir(path);
    _exit(was_built && is_hit && is_built ? 0 : 3);
}

Test(disk_attack, a_read_only_folder_stops_no_build)
{
    int status;
    if (geteuid() != 0)
        cr_skip_test("only root can become nobody; the other read-only tests run as anybody");
    pid_t child = fork();
    if (child == 0)
        ask_as_nobody();
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "exit code %d", WEXITSTATUS(status));
}

Test(disk_attack, a_read_only_file_system_stops_no_build_and_still_hits)
{
    const char *path = test_env_scratch_path("mounted");
    cr_assert_eq(mkdir(path, 0700), 0);
    if (mount("none", path, "tmpfs", 0, "size=1m,mode=0700") != 0)
        cr_skip_test("mounting a file system is not allowed here");
    cr_assert_eq(ask(path), FIXTURE_BUILT);
    cr_assert_eq(mount("none", path, "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    enum fixture_origin full = ask(path);
    cr_assert_eq(mount("none", path, "tmpfs", MS_REMOUNT, ""), 0);
    struct zepi_disk *disk = zepi_disk_create(path, UINT64_MAX);
    struct zepi_disk_tally removed;
    zepi_disk_trim(disk, 0, &removed);
    zepi_disk_destroy(disk);
    cr_assert_eq(mount("none", path, "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    enum fixture_origin empty = ask(path);
    umount(path);
    cr_assert_eq(full, FIXTURE_FROM_STORE);
    cr_assert_eq(empty, FIXTURE_BUILT);
}

Test(disk_attack, a_full_disk_stops_no_build_and_leaves_nothing)
{
    const char *path = test_env_scratch_path("mounted");
    cr_assert_eq(mkdir(path, 0700), 0);
    if (mount("none", path, "tmpfs", 0, "size=64k,mode=0700") != 0)
        cr_skip_test("mounting a file system is not allowed here");
    char filler[600];
    static char bytes[1 << 20];
    snprintf(filler, sizeof(filler), "%s/filler", path);
    int fd = open(filler, O_CREAT | O_WRONLY, 0600);
    while (write(fd, bytes, sizeof(bytes)) > 0)
        continue;
    close(fd);
    enum fixture_origin first = ask(path);
    enum fixture_origin second = ask(path);
    int files = count_files(path);
    unlink(filler);
    ask(path);
    enum fixture_origin later = ask(path);
    umount(path);
    cr_assert_eq(first, FIXTURE_BUILT);
    cr_assert_eq(second, FIXTURE_BUILT);
    cr_assert_eq(files, 1, "the filler alone");
    cr_assert_eq(later, FIXTURE_FROM_STORE, "once there is room, it is used");
}

static void ask_with_limit(void)
{
    const struct rlimit limit = {.rlim_cur = 80, .rlim_max = 80};
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(2);
    _exit(builds_again_and_again(folder) && count_files(folder) == 0 ? 0 : 3);
}

Test(disk_attack, a_limit_on_the_size_of_files_stops_no_build)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        ask_with_limit();
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "status %x", (unsigned)status);
}
