// SPDX-License-Identifier: MIT
#include "arena.h"

#include "log.h"
#include "options.h"
#include "spans.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_once_t arena_once = PTHREAD_ONCE_INIT;
// Constant once the arena is there.
static struct {
    int fd;
    dev_t device;
    ino_t inode;
    uint8_t *base;
    uint64_t size;
} arena = {.fd = -1};

static pthread_mutex_t arena_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the variables below
static uint64_t arena_top = SHIM_ARENA_FIRST_OFFSET;
static struct shim_spans holes; // below the top

static void create_arena(void)
{
    arena.size = shim_options()->arena_bytes;
    const int fd = memfd_create("drm_shim", MFD_CLOEXEC);
    struct stat file;
    if (fd < 0 || ftruncate(fd, (off_t)arena.size) != 0 ||
        syscall(SYS_newfstatat, fd, "", &file, AT_EMPTY_PATH) != 0) {
        shim_error("no file in memory: %s", strerror(errno));
        return;
    }
    void *base = (void *)syscall(SYS_mmap, NULL, arena.size, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        shim_error("no address space for %" PRIu64 " GiB (DRM_SHIM_ARENA_GIB): %s",
                   arena.size >> 30, strerror(errno));
        return;
    }
    arena.base = base;
    arena.device = file.st_dev;
    arena.inode = file.st_ino;
    arena.fd = fd;
}

static bool has_arena(void)
{
    pthread_once(&arena_once, create_arena);
    return arena.fd >= 0;
}

int shim_arena_open(uint32_t node)
{
    if (!has_arena()) {
        errno = ENODEV;
        return -1;
    }
    // Opened anew, since duplicates have one position.
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", arena.fd);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        lseek(fd, node, SEEK_SET);
    return fd;
}

bool shim_arena_has_descriptor(int fd)
{
    struct stat file;
    // Not by fstat(), which this library replaces.
    return arena.fd >= 0 && fd >= 0 && syscall(SYS_newfstatat, fd, "", &file, AT_EMPTY_PATH) == 0 &&
           file.st_ino == arena.inode && file.st_dev == arena.device;
}

int shim_arena_node(int fd)
{
    return shim_arena_has_descriptor(fd) ? (int)lseek(fd, 0, SEEK_CUR) : -1;
}

static uint64_t take_hole_locked(uint64_t size)
{
    for (size_t i = 0; i < holes.count; i++) {
        const uint64_t offset = holes.items[i].start;
        if (holes.items[i].end - offset < size)
            continue;
        return shim_spans_remove(&holes, offset, offset + size) ? offset : 0;
    }
    return 0;
}

uint64_t shim_arena_take(uint64_t size)
{
    if (!has_arena() || size == 0 || size > arena.size)
        return 0;
    pthread_mutex_lock(&arena_mutex);
    uint64_t offset = take_hole_locked(size);
    const bool is_hole = offset != 0;
    if (!is_hole && size <= arena.size - arena_top) {
        offset = arena_top;
        arena_top += size;
    }
    pthread_mutex_unlock(&arena_mutex);
    if (is_hole && fallocate(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                             (off_t)size) != 0)
        memset(arena.base + offset, 0, size);
    return offset;
}

void shim_arena_give(uint64_t offset, uint64_t size)
{
    pthread_mutex_lock(&arena_mutex);
    struct shim_span hole = {.start = offset, .end = offset + size};
    const struct shim_span *after = shim_spans_find(&holes, hole.end);
    const struct shim_span *before = shim_spans_find(&holes, offset - 1);
    hole.end = after != NULL ? after->end : hole.end;
    hole.start = before != NULL ? before->start : hole.start;
    // Without memory the place is lost, which only costs addresses.
    shim_spans_insert(&holes, hole);
    pthread_mutex_unlock(&arena_mutex);
}

uint8_t *shim_arena_bytes(uint64_t offset)
{
    return arena.base + offset;
}

bool shim_arena_map_at(uint64_t address, uint64_t size, uint64_t offset)
{
    const long result = syscall(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED | MAP_NORESERVE, arena.fd, offset);
    if (result == (long)address)
        return true;
    shim_error("0x%" PRIx64 " is not mapped: %s", address, strerror(errno));
    return false;
}
