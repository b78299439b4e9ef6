// SPDX-License-Identifier: MIT
// Claims of keys among processes, and folders that are only read.
#include "cache_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 30000

TestSuite(disk_claim, .timeout = 60);

static const char *shared_path; // a child has a scratch folder of its own

static struct zepi_disk *new_disk(void)
{
    if (!shared_path)
        shared_path = test_env_scratch_path("cache");
    return zepi_disk_create(shared_path, UINT64_MAX);
}

// The claims that this process has taken, or tried to.
static struct {
    const struct zepi_disk *disk;
    uint64_t number;
    int claim;
} claims[8];
static size_t claim_count;

// Takes the claim of a number; returns how long that took.
static uint64_t take(struct zepi_disk *disk, uint64_t number, unsigned wait_ms)
{
    struct zepi_key key;
    fixture_key(&key, number);
    const uint64_t begin_ns = zepi_clock_ns();
    const int claim = zepi_disk_claim(disk, &key, wait_ms);
    const uint64_t duration_ns = zepi_clock_ns() - begin_ns;
    cr_assert_lt(claim_count, sizeof(claims) / sizeof(claims[0]));
    claims[claim_count].disk = disk;
    claims[claim_count].number = number;
    claims[claim_count++].claim = claim;
    return duration_ns / 1000000;
}

static void give(const struct zepi_disk *disk, uint64_t number, enum zepi_disk_claim_end end)
{
    for (size_t i = 0; i < claim_count; i++) {
        if (claims[i].disk != disk || claims[i].number != number)
            continue;
        zepi_disk_unclaim(claims[i].claim, end);
        claims[i].claim = -1;
    }
}

// A process that holds the claim, and gives it up after `hold_ms` if `end` is not -1.
static pid_t start_holder(int end, unsigned hold_ms)
{
    int pipes[2];
    char byte;
    cr_assert_eq(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct zepi_disk *disk = new_disk();
        take(disk, 1, 0);
        (void)!write(pipes[1], "", 1);
        usleep(hold_ms * 1000);
        if (end >= 0)
            give(disk, 1, (enum zepi_disk_claim_end)end);
        for (;;)
            pause();
    }
    cr_assert_eq(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static void kill_holder(pid_t child)
{
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(disk_claim, of_another_process_is_waited_for_until_the_time_is_over)
{
    struct zepi_disk *disk = new_disk();
    const pid_t holder = start_holder(-1, 0);
    cr_assert_geq(take(disk, 1, 200), 200);
    cr_assert_lt(take(disk, 2, LONG_MS), LONG_MS / 2, "another key is free");
    give(disk, 2, ZEPI_DISK_CLAIM_STORED);
    kill_holder(holder);
    zepi_disk_destroy(disk);
}

Test(disk_claim, ends_with_its_process)
{
    struct zepi_disk *disk = new_disk();
    kill_holder(start_holder(-1, 0));
    cr_assert_lt(take(disk, 1, LONG_MS), LONG_MS / 2);
    struct zepi_disk *other = new_disk();
    cr_assert_geq(take(other, 1, 100), 100, "and is this process' now");
    give(disk, 1, ZEPI_DISK_CLAIM_STORED);
    cr_assert_lt(take(other, 1, LONG_MS), LONG_MS / 2);
    give(other, 1, ZEPI_DISK_CLAIM_STORED);
    zepi_disk_destroy(other);
    zepi_disk_destroy(disk);
}

// Of three processes that wait for a build that fails, no one waits for another one's.
Test(disk_claim, that_is_abandoned_lets_all_build)
{
    struct zepi_disk *first = new_disk();
    struct zepi_disk *second = new_disk();
    const pid_t holder = start_holder(ZEPI_DISK_CLAIM_ABANDONED, 300);
    cr_assert_lt(take(first, 1, LONG_MS), LONG_MS / 2);
    cr_assert_lt(take(second, 1, LONG_MS), LONG_MS / 2, "the first has no claim");
    kill_holder(holder);
    give(second, 1, ZEPI_DISK_CLAIM_STORED);
    zepi_disk_destroy(first);
    zepi_disk_destroy(second);
}

Test(disk_claim, is_none_where_the_folder_cannot_lock_or_nothing_is_stored)
{
    struct zepi_disk *disk = new_disk();
    const pid_t holder = start_holder(-1, 0);
    fixture_fault(1u << ZEPI_SYS_LOCK, 1, ENOLCK, FIXTURE_FAULT_FOREVER);
    cr_assert_lt(take(disk, 1, LONG_MS), LONG_MS / 2);
    fixture_fault_end();
    zepi_disk_set_limit_bytes(disk, 0);
    cr_assert_lt(take(disk, 1, LONG_MS), LONG_MS / 2);
    kill_holder(holder);
    zepi_disk_destroy(disk);
}

// ---- Folders that are only read ----

static char noted[8192]; // a line a note

static void note(const char *path, const char *reason)
{
    (void)path;
    strncat(noted, reason, sizeof(noted) - strlen(noted) - 2);
    strcat(noted, "\n");
}

static char base[1024], folder[1100]; // FOLDER is BASE/cache

// BASE is a folder with a cache that has key 1. Scratch folders lie in /tmp, which every user may
// write to.
static void make_cache(void)
{
    struct fixture_build build = {.text = "code"};
    if (geteuid() != 0)
        cr_skip_test("only root makes folders of other users");
    snprintf(base, sizeof(base), "/root/zepi-read-only-%ld", (long)getpid());
    snprintf(folder, sizeof(folder), "%s/cache", base);
    cr_assert_eq(mkdir(base, 0755), 0);
    struct zepi_disk *disk = zepi_disk_create(folder, UINT64_MAX);
    struct zepi_build_store store = fixture_disk_store(disk);
    struct fixture_cache both =
        fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, &store);
    cr_assert(fixture_use(both.cache, 1, &build));
    fixture_cache_destroy(&both);
    zepi_disk_destroy(disk);
}

static void remove_cache(void)
{
    char command[1200];
    snprintf(command, sizeof(command), "rm -rf '%s'", base);
    if (base[0])
        cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): the command is ours
}

TestSuite(read_only_folder, .init = make_cache, .fini = remove_cache, .timeout = 60);

// Whether key 1 is found through these paths, by a process with an empty cache of its own (OWN) or
// with none ("").
static bool is_found(const char *own, const char *paths)
{
    struct fixture_build build = {.text = "code"};
    struct zepi_disk *disk = zepi_disk_create(own, own[0] ? UINT64_MAX : 0);
    noted[0] = '\0';
    cr_assert(zepi_disk_add_read_only(disk, paths, note));
    struct zepi_build_store store = fixture_disk_store(disk);
    struct fixture_cache both = fixture_cache_create(0, 0, &store); // keeps nothing
    cr_assert(fixture_use(both.cache, 1, &build));
    const bool is_found = fixture_origin() == FIXTURE_FROM_STORE;
    cr_assert(fixture_use(both.cache, 2, &build));
    fixture_cache_destroy(&both);
    zepi_disk_destroy(disk);
    return is_found;
}

static bool is_refused(const char *paths, const char *place, const char *reason)
{
    char line[2048];
    const bool was_found = is_found("", paths);
    snprintf(line, sizeof(line), "%s is %s\n", place, reason);
    cr_assert_str_eq(noted, line, "expected once: %s, and not: %s", line, noted);
    return !was_found;
}

Test(read_only_folder, is_read_after_the_own_one_and_not_written)
{
    char list[4096];
    char link[1200];
    snprintf(link, sizeof(link), "%s/link", base);
    cr_assert_eq(symlink("cache", link), 0);
    snprintf(list, sizeof(list), "/proc/self/fd:%s", folder);
    struct stat before, after;
    cr_assert_eq(stat(folder, &before), 0);
    cr_assert(is_found("", folder));
    cr_assert_str_eq(noted, "");
    cr_assert(is_found("", link), "a link is resolved");
    cr_assert(is_found(test_env_scratch_path("own"), folder));
    cr_assert(is_found("", list), "a folder that fails does not matter to the next");
    cr_assert_eq(stat(folder, &after), 0);
    cr_assert_eq(memcmp(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim)), 0);
}

Test(read_only_folder, of_others_is_refused_and_named_once)
{
    char link[1200];
    cr_assert_eq(chmod(folder, 0775), 0);
    cr_assert(is_refused(folder, folder, "writable by group or others"));
    cr_assert_eq(chmod(folder, 0755), 0);
    cr_assert_eq(chmod(base, 01777), 0);
    cr_assert(is_refused(folder, base, "writable by group or others"));
    // A link from a trusted folder into it.
    snprintf(link, sizeof(link), "/root/zepi-link-%ld", (long)getpid());
    cr_assert_eq(symlink(folder, link), 0);
    const bool is_link_refused = is_refused(link, base, "writable by group or others");
    cr_assert_eq(unlink(link), 0);
    cr_assert(is_link_refused);
    cr_assert_eq(chmod(base, 0755), 0);
    cr_assert_eq(chown(base, 12345, 12345), 0);
    cr_assert(is_refused(folder, base, "owned by another user"));
    cr_assert_eq(chown(base, 0, 0), 0);
    cr_assert_eq(chown(folder, 12345, 12345), 0);
    cr_assert(is_refused(folder, folder, "owned by another user"));
    cr_assert(is_refused("/root/no-such-folder", "/root/no-such-folder", "missing"));
    cr_assert_eq(chown(folder, 0, 0), 0);
    cr_assert(is_found("", folder));
}

static bool is_found_after(const char *change)
{
    char command[4096];
    snprintf(command, sizeof(command), "f=$(echo '%s'/*.zepi1); %s", folder, change);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): the command is ours
    return is_found("", folder);
}

// A file that is not used stays as well: the folder is only read.
Test(read_only_folder, has_its_records_checked)
{
    cr_assert_not(is_found_after("chmod 0666 $f"));
    cr_assert(is_found_after("chmod 0644 $f"));
    cr_assert_not(is_found_after("chown 12345 $f"));
    cr_assert(is_found_after("chown 0 $f"));
    cr_assert_not(is_found_after("mv $f $f.moved; ln -s $f.moved $f"));
    cr_assert(is_found_after("rm $f; mv $f.moved $f"));
    cr_assert_not(
        is_found_after("cp $f $f.copy; printf x | dd of=$f bs=1 seek=70 conv=notrunc 2>/dev/null"));
    cr_assert(is_found_after("mv $f.copy $f"));
}

// What root made is read by others, who have no rights there.
Test(read_only_folder, of_root_is_used_by_other_users)
{
    char command[1200];
    int status;
    snprintf(command, sizeof(command), "chmod -R a+rX '%s'; chmod a+x /root", base);
    struct stat before;
    cr_assert_eq(stat("/root", &before), 0);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): the command is ours
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(setgid(12345) != 0 || setuid(12345) != 0 || !is_found("", folder));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(chmod("/root", before.st_mode & 07777), 0);
    cr_assert_eq(status, 0);
}
