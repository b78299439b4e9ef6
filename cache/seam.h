// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SEAM_H
#define ZEPI_CACHE_SEAM_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

// The one door from cache/ to the allocator and to the file system. A test sets a hook and makes
// the n-th call fail; without a hook a call costs one load and one branch more than the call
// itself. cache/ makes no allocation and no file operation past this door.

enum zepi_seam_call {
    ZEPI_SEAM_ALLOCATE,
    ZEPI_SEAM_OPEN,
    ZEPI_SEAM_STAT,
    ZEPI_SEAM_READ,
    ZEPI_SEAM_WRITE,
    ZEPI_SEAM_RENAME,
    ZEPI_SEAM_UNLINK,
    ZEPI_SEAM_MKDIR,
    ZEPI_SEAM_LOCK,
    ZEPI_SEAM_TOUCH,
    ZEPI_SEAM_LIST,
};

// Answers 0 for "make the call" or the errno that the call shall fail with instead of being made.
// Called on the thread that makes the call, sometimes under a lock of the cache: it must not call
// back into cache/.
typedef int zepi_seam_hook(enum zepi_seam_call call);

// For tests, before threads start. NULL takes the hook away.
void zepi_seam_set_hook(zepi_seam_hook *hook);

// `size` bytes, uninitialised and aligned for any object, or NULL.
void *zepi_seam_allocate(size_t size);
// The same on a cache line of its own, so that no other allocation shares its lines.
void *zepi_seam_allocate_lines(size_t size);
// Takes what either of the two returned; NULL is fine.
void zepi_seam_free(void *memory);

// As the system calls of the same name, with their errno. Interrupted calls are made again.
int zepi_seam_open(int folder, const char *name, int flags, mode_t mode);
int zepi_seam_stat(int fd, struct stat *out_stat);
int zepi_seam_stat_at(int folder, const char *name, struct stat *out_stat); // follows no link
ssize_t zepi_seam_read(int fd, void *bytes, size_t size);
ssize_t zepi_seam_write(int fd, const struct iovec *parts, int part_count);
int zepi_seam_rename(int folder, const char *from, const char *to);
int zepi_seam_unlink(int folder, const char *name);
int zepi_seam_mkdir(const char *path, mode_t mode);
int zepi_seam_try_lock(int fd);  // exclusive, of the open file; EWOULDBLOCK: another has it
int zepi_seam_touch(int fd);     // last modification becomes now, to the nanosecond
DIR *zepi_seam_list(int folder); // a listing with a descriptor of its own; closedir() it

#endif
