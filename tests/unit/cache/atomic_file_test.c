// SPDX-License-Identifier: MIT
#include "cache/disk/atomic_file.h"
#include "core/sys.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int folder;

static void open_folder(void)
{
    folder = open(test_env_scratch(), O_RDONLY | O_DIRECTORY);
    cr_assert_geq(folder, 0);
}

static void close_folder(void)
{
    close(folder);
}

TestSuite(atomic_file, .init = open_folder, .fini = close_folder, .timeout = 30);

static int write_text(const char *name, const char *text)
{
    const struct zepi_digest_part part = {text, strlen(text)};
    return zepi_atomic_file_write(folder, name, &part, 1);
}

// Returns the error of reading; if there is none, the text must be this.
static int read_text(const char *name, const char *expected)
{
    void *bytes;
    size_t size;
    int error = zepi_atomic_file_read(folder, name, 1000, ZEPI_ATOMIC_FILE_NO_TOUCH, &bytes, &size);
    if (error != 0)
        return error;
    cr_assert_eq(size, strlen(expected));
    cr_assert_arr_eq(bytes, expected, size);
    zepi_sys_free(bytes);
    return 0;
}

static int count_files(void)
{
    int count = 0;
    DIR *listing = opendir(test_env_scratch());
    for (const struct dirent *at; (at = readdir(listing));)
        count += at->d_name[0] != '.' || strlen(at->d_name) > 2;
    closedir(listing);
    return count;
}

Test(atomic_file, reads_what_it_wrote)
{
    cr_assert_eq(write_text("file", "contents"), 0);
    cr_assert_eq(read_text("file", "contents"), 0);
    cr_assert_eq(count_files(), 1);
}

Test(atomic_file, joins_parts_and_skips_empty_ones)
{
    const struct zepi_digest_part parts[] = {{NULL, 0}, {"ab", 2}, {NULL, 0}, {"c", 1}, {NULL, 0}};
    cr_assert_eq(zepi_atomic_file_write(folder, "file", parts, 5), 0);
    cr_assert_eq(read_text("file", "abc"), 0);
    cr_assert_eq(zepi_atomic_file_write(folder, "empty", parts, 1), 0);
    cr_assert_eq(read_text("empty", ""), 0);
}

Test(atomic_file, replaces_a_file)
{
    cr_assert_eq(write_text("file", "a long first version"), 0);
    cr_assert_eq(write_text("file", "second"), 0);
    cr_assert_eq(read_text("file", "second"), 0);
    cr_assert_eq(count_files(), 1);
}

Test(atomic_file, is_for_its_owner_alone)
{
    struct stat info;
    umask(0);
    cr_assert_eq(write_text("file", "x"), 0);
    cr_assert_eq(fstatat(folder, "file", &info, 0), 0);
    cr_assert_eq(info.st_mode & 07777, 0600);
}

Test(atomic_file, leaves_nothing_behind_when_the_target_cannot_be_replaced)
{
    cr_assert_eq(mkdirat(folder, "file", 0700), 0);
    cr_assert_eq(write_text("file", "x"), EISDIR);
    cr_assert_eq(count_files(), 1);
}

Test(atomic_file, that_is_too_long_is_not_read)
{
    char text[1002];
    memset(text, 'x', sizeof(text));
    text[1001] = '\0';
    cr_assert_eq(write_text("file", text), 0);
    cr_assert_eq(read_text("file", text), EFBIG);
    cr_assert(zepi_atomic_file_is_bad(EFBIG));
}

Test(atomic_file, that_is_missing_is_no_bad_file)
{
    cr_assert_eq(read_text("file", ""), ENOENT);
    cr_assert_not(zepi_atomic_file_is_bad(ENOENT));
}

Test(atomic_file, that_is_a_link_is_not_followed)
{
    cr_assert_eq(write_text("target", "x"), 0);
    cr_assert_eq(symlinkat("target", folder, "file"), 0);
    cr_assert_eq(read_text("file", "x"), ELOOP);
    cr_assert(zepi_atomic_file_is_bad(ELOOP));
    cr_assert_eq(write_text("file", "new"), 0);
    cr_assert_eq(read_text("target", "x"), 0, "the link was replaced, not its target");
    cr_assert_eq(read_text("file", "new"), 0);
}

Test(atomic_file, that_others_may_write_is_not_trusted)
{
    static const mode_t modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(write_text("file", "x"), 0);
        cr_assert_eq(fchmodat(folder, "file", modes[i], 0), 0);
        cr_assert_eq(read_text("file", "x"), EPERM, "mode %o", (unsigned)modes[i]);
    }
}

Test(atomic_file, of_another_user_is_not_trusted)
{
    if (geteuid() != 0)
        cr_skip_test("only root can give a file away");
    cr_assert_eq(write_text("file", "x"), 0);
    cr_assert_eq(fchownat(folder, "file", 12345, 12345, 0), 0);
    cr_assert_eq(read_text("file", "x"), EPERM);
}

Test(atomic_file, that_is_a_pipe_blocks_nobody)
{
    cr_assert_eq(mkfifoat(folder, "file", 0600), 0);
    cr_assert_eq(read_text("file", ""), EPERM);
    cr_assert_eq(mkfifoat(folder, ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "pipe", 0600), 0);
    zepi_atomic_file_sweep(folder, ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "pipe");
}

// A child that writes with a limit on the size of files, with SIGXFSZ as it is by default.
static void write_with_limit(void)
{
    const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    static char text[100000];
    memset(text, 'x', sizeof(text) - 1);
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(2);
    if (write_text("file", text) != EFBIG)
        _exit(3);
    sigset_t left;
    sigpending(&left);
    if (sigismember(&left, SIGXFSZ))
        _exit(4);
    pthread_sigmask(SIG_BLOCK, NULL, &left);
    if (sigismember(&left, SIGXFSZ))
        _exit(5);
    _exit(write_text("small", "x") == 0 ? 0 : 6);
}

Test(atomic_file, over_a_limit_of_the_process_is_an_error_and_no_death)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        write_with_limit();
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "status %x", (unsigned)status);
    cr_assert_eq(count_files(), 1, "the small file and no leftover");
}

Test(atomic_file, is_swept_once_its_writer_is_dead)
{
    static const char name[] = ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "of-somebody";
    int writer = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cr_assert_geq(writer, 0);
    cr_assert_eq(flock(writer, LOCK_EX), 0);
    cr_assert_not(zepi_atomic_file_sweep(folder, name));
    cr_assert_eq(count_files(), 1);
    close(writer);
    cr_assert(zepi_atomic_file_sweep(folder, name));
    cr_assert_not(zepi_atomic_file_sweep(folder, name));
    cr_assert_eq(count_files(), 0);
}

static int files_to_sweep;

static void write_beside_a_sweeper(zepi_sys_hook *sweeper, int file_count)
{
    files_to_sweep = file_count;
    zepi_sys_set_hook(sweeper);
    const int error = write_text("file", "contents");
    zepi_sys_set_hook(NULL);
    cr_assert_eq(error, 0, "error %d", error);
    cr_assert_eq(files_to_sweep, 0);
    cr_assert_eq(read_text("file", "contents"), 0);
}

// A sweeper of another process, which met a file before its writer had locked it.
static int sweep_at_lock(enum zepi_sys_call call)
{
    if (call != ZEPI_SYS_LOCK || files_to_sweep == 0)
        return 0;
    files_to_sweep--;
    DIR *listing = opendir(test_env_scratch());
    for (const struct dirent *at; (at = readdir(listing));)
        unlinkat(folder, at->d_name, 0); // refuses folders
    closedir(listing);
    return 0;
}

Test(atomic_file, is_written_under_another_name_if_a_sweeper_was_faster)
{
    write_beside_a_sweeper(sweep_at_lock, 2);
    cr_assert_eq(count_files(), 1);
}

// The sweeper has the lock, and is about to unlink the file.
static int lock_before_the_writer(enum zepi_sys_call call)
{
    if (call != ZEPI_SYS_LOCK || files_to_sweep == 0)
        return 0;
    files_to_sweep--;
    return EWOULDBLOCK;
}

Test(atomic_file, is_written_under_another_name_if_a_sweeper_has_the_lock)
{
    write_beside_a_sweeper(lock_before_the_writer, 1);
    cr_assert_eq(count_files(), 2, "the file of the sweeper stays to it");
}
