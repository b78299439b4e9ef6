// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_SYS_H
#define ZEPI_CORE_SYS_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

// Calls of the allocator and the file system, and sends to a server, with fault injection: a test
// sets a hook, which makes the n-th call fail. Without a hook, a call costs one load and one branch
// more than the system's. The plugin and cache/ allocate memory and use files through this file
// alone.

enum zepi_sys_call {
    ZEPI_SYS_ALLOCATE,
    ZEPI_SYS_OPEN,
    ZEPI_SYS_STAT,
    ZEPI_SYS_READ,
    ZEPI_SYS_WRITE,
    ZEPI_SYS_RENAME,
    ZEPI_SYS_UNLINK,
    ZEPI_SYS_MKDIR,
    ZEPI_SYS_LOCK,
    ZEPI_SYS_TOUCH,
    ZEPI_SYS_LIST,
    ZEPI_SYS_SEND,
};

// Returns 0, and the call is made; or an errno, and the call fails with it and is not made. The
// hook runs on the calling thread, sometimes under a lock: it must not call functions of zepi.
typedef int zepi_sys_hook(enum zepi_sys_call call);

// For tests, before threads start. NULL removes the hook.
void zepi_sys_set_hook(zepi_sys_hook *hook);

// Returns `size` uninitialised bytes, aligned for any object, or NULL.
void *zepi_sys_allocate(size_t size);
// Returns memory that shares its cache lines with no other allocation, or NULL.
void *zepi_sys_allocate_lines(size_t size);
// Frees memory of either function; NULL is fine.
void zepi_sys_free(void *memory);

// The system calls of these names, with their errno. Interrupted calls are made again.
int zepi_sys_open(int folder, const char *name, int flags, mode_t mode);
int zepi_sys_stat(int fd, struct stat *out_stat);
int zepi_sys_stat_at(int folder, const char *name, struct stat *out_stat); // follows no link
ssize_t zepi_sys_read(int fd, void *bytes, size_t size);
ssize_t zepi_sys_write(int fd, const void *bytes, size_t size);
int zepi_sys_rename(int folder, const char *from, const char *to);
int zepi_sys_unlink(int folder, const char *name);
int zepi_sys_mkdir(const char *path, mode_t mode);
int zepi_sys_try_lock(int fd); // exclusive, of the open file; EWOULDBLOCK: it is locked
int zepi_sys_try_lock_byte(int fd, off_t byte); // the same of one byte; EAGAIN: it is locked
int zepi_sys_touch(int fd);                     // sets the time of the last modification to now
DIR *zepi_sys_list(int folder); // has its own descriptor; the caller calls closedir()

// Finds the path of a file beside the library, or program, that contains this code, with links
// resolved. Returns false if that folder is not known.
bool zepi_sys_find_beside(const char *name, char out_path[PATH_MAX]);

// Chooses the folder of the disk cache: `cache_dir` (of ZEPI_CACHE_DIR), else
// `xdg_cache_home`/zepi, else `home`/.cache/zepi. NULL and empty strings count as unset. Relative
// paths in the last two are ignored, as the XDG Base Directory Specification requires. Reads no
// environment and no file. Returns false, and an empty string, if none is set or the path is too
// long.
bool zepi_sys_choose_cache_folder(const char *cache_dir, const char *xdg_cache_home,
                                  const char *home, char *out_path, size_t path_size);

ssize_t zepi_sys_send(int socket, const void *bytes, size_t size); // raises no SIGPIPE

// Nanoseconds on the host's clock, which never goes back, and whose rate is not adjusted: it runs
// beside a device's clock as the two crystals do.
static inline uint64_t zepi_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
