// SPDX-License-Identifier: MIT
#include "cache/disk/atomic_file.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_BYTES = 96,
    NAME_ATTEMPTS = 16,
    // Where the file system has no locks, this long without a write means that the writer is dead.
    ABANDONED_S = 24 * 60 * 60,
};

// Opens a file that did not exist and locks it. Returns its descriptor, or -1 with errno.
static int open_temporary(int folder, char out_name[NAME_BYTES])
{
    static atomic_uint counter;
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        unsigned number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        // Against names of other machines. Without random numbers the next name is tried.
        unsigned long long random = 0;
        (void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
        snprintf(out_name, NAME_BYTES, ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX "%lx-%x-%016llx",
                 (unsigned long)getpid(), number, random);
        int fd = zepi_sys_open(folder, out_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return -1;
        struct stat info;
        const bool is_locked = zepi_sys_try_lock(fd) == 0;
        if (!is_locked && errno != EWOULDBLOCK)
            return fd; // without locks a sweeper goes by the file's age
        if (is_locked && (zepi_sys_stat(fd, &info) != 0 || info.st_nlink > 0))
            return fd;
        // A sweeper was faster: it has unlinked the file, or is about to.
        close(fd);
    }
    errno = EEXIST;
    return -1;
}

// A write past RLIMIT_FSIZE would raise SIGXFSZ, whose default is to end the process.
static bool is_above_limit(const struct zepi_digest_part *parts, size_t part_count)
{
    struct rlimit limit;
    uint64_t size = 0;
    for (size_t i = 0; i < part_count; i++)
        size += parts[i].size;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

static int file_write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = zepi_sys_write(fd, bytes, size);
        if (written <= 0)
            return written < 0 ? errno : EIO;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

static int file_write_parts(int fd, const struct zepi_digest_part *parts, size_t part_count)
{
    int error = is_above_limit(parts, part_count) ? EFBIG : 0;
    for (size_t i = 0; i < part_count && error == 0; i++)
        error = file_write_all(fd, parts[i].bytes, parts[i].size);
    return error;
}

int zepi_atomic_file_write(int folder, const char *name, const struct zepi_digest_part *parts,
                           size_t part_count)
{
    char temporary[NAME_BYTES];
    int fd = open_temporary(folder, temporary);
    if (fd < 0)
        return errno;
    int error = file_write_parts(fd, parts, part_count);
    // The order of files by last use wants finer times than the kernel's ticks. No harm if it
    // fails.
    if (error == 0)
        (void)zepi_sys_touch(fd);
    if (error == 0 && zepi_sys_rename(folder, temporary, name) != 0)
        error = errno;
    if (error != 0)
        (void)zepi_sys_unlink(folder, temporary);
    // Closed last: until the rename the lock says that the file is being written.
    close(fd);
    return error;
}

static int file_check_size(int fd, size_t max_size, size_t *out_size)
{
    struct stat info;
    if (zepi_sys_stat(fd, &info) != 0)
        return errno;
    if (!S_ISREG(info.st_mode) || (info.st_uid != geteuid() && info.st_uid != 0) ||
        (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return EPERM;
    if ((uint64_t)info.st_size > max_size)
        return EFBIG;
    *out_size = (size_t)info.st_size;
    return 0;
}

static int file_read_all(int fd, uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = zepi_sys_read(fd, bytes + at, size - at);
        if (got < 0)
            return errno;
        if (got == 0)
            return EBADMSG;
        at += (size_t)got;
    }
    return 0;
}

int zepi_atomic_file_read(int folder, const char *name, size_t max_size,
                          enum zepi_atomic_file_touch touch, void **out_bytes, size_t *out_size)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    // Not blocking: opening a pipe would wait for its writer.
    int fd = zepi_sys_open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int error = file_check_size(fd, max_size, &size);
    if (error != 0)
        goto close_file;
    bytes = zepi_sys_allocate(size > 0 ? size : 1);
    if (!bytes) {
        error = ENOMEM;
        goto close_file;
    }
    error = file_read_all(fd, bytes, size);
    if (error != 0)
        goto free_bytes;
    // A read-only file system keeps the old time: the file is then good all the same.
    if (touch == ZEPI_ATOMIC_FILE_TOUCH)
        (void)zepi_sys_touch(fd);
    close(fd);
    *out_bytes = bytes;
    *out_size = size;
    return 0;

free_bytes:
    zepi_sys_free(bytes);
close_file:
    close(fd);
    return error;
}

bool zepi_atomic_file_is_bad(int error)
{
    return error == EPERM || error == ELOOP || error == EFBIG || error == EBADMSG;
}

static bool is_abandoned_temporary(int fd)
{
    struct stat info;
    if (zepi_sys_try_lock(fd) == 0)
        return true;
    if (errno == EWOULDBLOCK || zepi_sys_stat(fd, &info) != 0)
        return false;
    return time(NULL) - info.st_mtime > ABANDONED_S;
}

bool zepi_atomic_file_sweep(int folder, const char *name)
{
    int fd = zepi_sys_open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return false;
    // Unlinked while locked, so that of two sweepers one counts it. The name is never used again.
    bool is_swept = is_abandoned_temporary(fd) && zepi_sys_unlink(folder, name) == 0;
    close(fd);
    return is_swept;
}
