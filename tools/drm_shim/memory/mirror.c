// SPDX-License-Identifier: MIT
#include "mirror.h"

#include "arena.h"
#include "log.h"
#include "public.h"
#include "spans.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define RESERVATION_MINIMUM 65536

static pthread_mutex_t mirror_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the variables below
static struct shim_spans reserved;                               // by the process, without access
static struct shim_spans mapped; // by the driver; value: the offset in the arena

SHIM_PUBLIC void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *result = (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    if (result == MAP_FAILED)
        return result;
    const uint64_t start = (uintptr_t)result;
    const bool is_reservation = protection == PROT_NONE && (flags & MAP_ANONYMOUS) != 0 &&
                                (flags & MAP_FIXED) == 0 && size >= RESERVATION_MINIMUM;
    const bool is_buffer = fd >= 0 && (flags & MAP_SHARED) != 0 &&
                           offset >= (off_t)SHIM_ARENA_FIRST_OFFSET &&
                           shim_arena_has_descriptor(fd);
    if (!is_reservation && !is_buffer)
        return result;
    const struct shim_span span = {
        .start = start, .end = start + size, .value = is_buffer ? (uint64_t)offset : 0};
    pthread_mutex_lock(&mirror_mutex);
    const bool is_noted = shim_spans_insert(is_buffer ? &mapped : &reserved, span);
    pthread_mutex_unlock(&mirror_mutex);
    if (!is_noted)
        shim_error("out of memory: 0x%zx bytes at %p are not known", size, result);
    return result;
}

SHIM_PUBLIC void *mmap64(void *address, size_t size, int protection, int flags, int fd,
                         off64_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

SHIM_PUBLIC int munmap(void *address, size_t size)
{
    const uint64_t start = (uintptr_t)address;
    // Forgotten first: another thread may get the addresses as soon as they are free.
    pthread_mutex_lock(&mirror_mutex);
    if (mapped.count > 0)
        shim_spans_remove(&mapped, start, start + size);
    if (reserved.count > 0)
        shim_spans_remove(&reserved, start, start + size);
    pthread_mutex_unlock(&mirror_mutex);
    return (int)syscall(SYS_munmap, address, size);
}

// The driver's mapping at a range, and whether all of the range is reserved.
static bool look_up(uint64_t address, uint64_t size, struct shim_span *out_mapped,
                    bool *out_is_reserved)
{
    pthread_mutex_lock(&mirror_mutex);
    const struct shim_span *found = shim_spans_find(&mapped, address);
    const struct shim_span *around = shim_spans_find(&reserved, address);
    const bool is_mapped = found != NULL;
    if (is_mapped)
        *out_mapped = *found;
    *out_is_reserved = around != NULL && around->end - address >= size;
    pthread_mutex_unlock(&mirror_mutex);
    return is_mapped;
}

bool shim_mirror_bind(uint64_t address, uint64_t size, uint64_t arena_offset)
{
    struct shim_span own;
    bool is_reserved = false;
    // Shared memory with a place on either side has another buffer there: the CPU's.
    if (look_up(address, size, &own, &is_reserved))
        return own.value + (address - own.start) == arena_offset;
    return is_reserved && shim_arena_map_at(address, size, arena_offset);
}

void shim_mirror_unbind(uint64_t address, uint64_t size)
{
    struct shim_span own;
    bool is_reserved = false;
    if (look_up(address, size, &own, &is_reserved) || !is_reserved)
        return;
    syscall(SYS_mmap, address, size, PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}
