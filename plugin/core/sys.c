// SPDX-License-Identifier: MIT
#include "core/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CACHE_LINE_BYTES = 64 };

static _Atomic(zepi_sys_hook *) current_hook;

void zepi_sys_set_hook(zepi_sys_hook *hook)
{
    atomic_store_explicit(&current_hook, hook, memory_order_release);
}

static bool sys_call_is_to_fail(enum zepi_sys_call call)
{
    // Acquire: the hook sees the test's writes from before it was set.
    zepi_sys_hook *hook = atomic_load_explicit(&current_hook, memory_order_acquire);
    if (!hook)
        return false;
    int error = hook(call);
    if (error == 0)
        return false;
    errno = error;
    return true;
}

void *zepi_sys_allocate(size_t size)
{
    return sys_call_is_to_fail(ZEPI_SYS_ALLOCATE) ? NULL : malloc(size);
}

void *zepi_sys_allocate_lines(size_t size)
{
    if (sys_call_is_to_fail(ZEPI_SYS_ALLOCATE) || size > SIZE_MAX - CACHE_LINE_BYTES)
        return NULL;
    size_t whole_lines = (size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    return aligned_alloc(CACHE_LINE_BYTES, whole_lines);
}

void zepi_sys_free(void *memory)
{
    free(memory);
}

int zepi_sys_open(int folder, const char *name, int flags, mode_t mode)
{
    if (sys_call_is_to_fail(ZEPI_SYS_OPEN))
        return -1;
    int fd;
    do
        fd = openat(folder, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int zepi_sys_stat(int fd, struct stat *out_stat)
{
    return sys_call_is_to_fail(ZEPI_SYS_STAT) ? -1 : fstat(fd, out_stat);
}

int zepi_sys_stat_at(int folder, const char *name, struct stat *out_stat)
{
    return sys_call_is_to_fail(ZEPI_SYS_STAT)
               ? -1
               : fstatat(folder, name, out_stat, AT_SYMLINK_NOFOLLOW);
}

ssize_t zepi_sys_read(int fd, void *bytes, size_t size)
{
    return sys_call_is_to_fail(ZEPI_SYS_READ) ? -1 : TEMP_FAILURE_RETRY(read(fd, bytes, size));
}

ssize_t zepi_sys_write(int fd, const void *bytes, size_t size)
{
    return sys_call_is_to_fail(ZEPI_SYS_WRITE) ? -1 : TEMP_FAILURE_RETRY(write(fd, bytes, size));
}

int zepi_sys_rename(int folder, const char *from, const char *to)
{
    return sys_call_is_to_fail(ZEPI_SYS_RENAME) ? -1 : renameat(folder, from, folder, to);
}

int zepi_sys_unlink(int folder, const char *name)
{
    return sys_call_is_to_fail(ZEPI_SYS_UNLINK) ? -1 : unlinkat(folder, name, 0);
}

int zepi_sys_mkdir(const char *path, mode_t mode)
{
    return sys_call_is_to_fail(ZEPI_SYS_MKDIR) ? -1 : mkdir(path, mode);
}

int zepi_sys_try_lock(int fd)
{
    return sys_call_is_to_fail(ZEPI_SYS_LOCK)
               ? -1
               : (int)TEMP_FAILURE_RETRY(flock(fd, LOCK_EX | LOCK_NB));
}

int zepi_sys_try_lock_byte(int fd, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (sys_call_is_to_fail(ZEPI_SYS_LOCK))
        return -1;
    return (int)TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_SETLK, &lock));
}

int zepi_sys_touch(int fd)
{
    if (sys_call_is_to_fail(ZEPI_SYS_TOUCH))
        return -1;
    // Not UTIME_NOW: that is the time of the last tick, the same for many files.
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
    clock_gettime(CLOCK_REALTIME, &times[1]);
    return futimens(fd, times);
}

DIR *zepi_sys_list(int folder)
{
    if (sys_call_is_to_fail(ZEPI_SYS_LIST))
        return NULL;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *listing = fdopendir(fd);
    if (!listing)
        close(fd);
    return listing;
}

bool zepi_sys_find_beside(const char *name, char out_path[PATH_MAX])
{
    Dl_info library;
    char *slash = NULL;
    if (dladdr((void *)&current_hook, &library) && realpath(library.dli_fname, out_path))
        slash = strrchr(out_path, '/');
    if (!slash || (size_t)(slash + 1 - out_path) + strlen(name) >= PATH_MAX)
        return false;
    strcpy(slash + 1, name);
    return true;
}

static bool variable_is_set(const char *text)
{
    return text && text[0] != '\0';
}

static bool is_absolute(const char *text)
{
    return text && text[0] == '/';
}

bool zepi_sys_choose_cache_folder(const char *cache_dir, const char *xdg_cache_home,
                                  const char *home, char *out_path, size_t path_size)
{
    int length = -1;
    if (variable_is_set(cache_dir))
        length = snprintf(out_path, path_size, "%s", cache_dir);
    else if (is_absolute(xdg_cache_home))
        length = snprintf(out_path, path_size, "%s/zepi", xdg_cache_home);
    else if (is_absolute(home))
        length = snprintf(out_path, path_size, "%s/.cache/zepi", home);
    if (length > 0 && (size_t)length < path_size)
        return true;
    if (path_size > 0)
        out_path[0] = '\0';
    return false;
}

ssize_t zepi_sys_send(int socket, const void *bytes, size_t size)
{
    return sys_call_is_to_fail(ZEPI_SYS_SEND)
               ? -1
               : TEMP_FAILURE_RETRY(send(socket, bytes, size, MSG_NOSIGNAL));
}
