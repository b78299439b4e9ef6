// SPDX-License-Identifier: MIT
#include "pages.h"

#include "device/device.h"
#include "object.h"
#include "options.h"
#include "shared_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN 0xa5
#define PATTERN_BYTES (1u << 20) // of a large allocation no more is touched

static size_t guard_bytes(void)
{
    return cpu_options()->is_strict ? CPU_PAGE_BYTES : 0;
}

// In the place of pages that may go: shared memory, and other that is neither exported nor shared
// with processes, is anonymous.
static bool map_aligned(struct cpu_allocation *allocation, size_t alignment)
{
    const size_t bytes =
        (allocation->size_bytes + CPU_PAGE_BYTES - 1) / CPU_PAGE_BYTES * CPU_PAGE_BYTES;
    // More than needed where the alignment asks for it; the rest is given back.
    const size_t slack = alignment > CPU_PAGE_BYTES ? alignment - CPU_PAGE_BYTES : 0;
    const size_t total = bytes + guard_bytes() + slack;
    const bool is_shared = cpu_options()->shares_memory && allocation->exported_as == 0 &&
                           allocation->type != ZE_MEMORY_TYPE_SHARED;
    const uint64_t offset = is_shared ? cpu_shared_file_take(total) : CPU_NO_FILE;
    if (is_shared && offset == CPU_NO_FILE)
        return false;
    unsigned char *pages = mmap(NULL, total, PROT_READ | PROT_WRITE,
                                is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                                is_shared ? cpu_shared_file() : -1, is_shared ? (off_t)offset : 0);
    if (pages == MAP_FAILED)
        return false;
    const size_t before = slack != 0 ? -(uintptr_t)pages & (alignment - 1) : 0;
    if (before != 0)
        munmap(pages, before);
    if (slack - before != 0)
        munmap(pages + total - (slack - before), slack - before);
    allocation->address = (uintptr_t)(pages + before);
    allocation->mapped_bytes = bytes;
    allocation->offset = is_shared ? offset + before : CPU_NO_FILE;
    return true;
}

// Puts a file of its own in the place of the pages.
static bool make_exportable(struct cpu_allocation *allocation)
{
    void *pages = (void *)allocation->address;
    const size_t bytes = allocation->mapped_bytes;
    const int file = memfd_create("ze_cpu exportable memory", MFD_CLOEXEC);
    allocation->file = file;
    return file >= 0 && ftruncate(file, (off_t)bytes) == 0 &&
           mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == pages;
}

// The bytes behind the allocation's end.
static unsigned char *rest_of(const struct cpu_allocation *allocation, size_t *out_bytes)
{
    *out_bytes = allocation->mapped_bytes - allocation->size_bytes;
    return (unsigned char *)allocation->address + allocation->size_bytes;
}

// With ZE_CPU_STRICT.
static bool guard(const struct cpu_allocation *allocation)
{
    unsigned char *pages = (unsigned char *)allocation->address;
    size_t rest_bytes;
    const size_t size = allocation->size_bytes;
    memset(pages, PATTERN, size < PATTERN_BYTES ? size : PATTERN_BYTES);
    unsigned char *rest = rest_of(allocation, &rest_bytes);
    memset(rest, PATTERN, rest_bytes);
    return mprotect(pages + allocation->mapped_bytes, guard_bytes(), PROT_NONE) == 0;
}

bool cpu_pages_map(struct cpu_allocation *allocation, size_t alignment)
{
    allocation->file = -1;
    if (!map_aligned(allocation, alignment))
        return false;
    if ((allocation->exported_as == 0 || make_exportable(allocation)) &&
        (!cpu_options()->is_strict || guard(allocation)))
        return true;
    munmap((void *)allocation->address, allocation->mapped_bytes + guard_bytes());
    if (allocation->file >= 0)
        close(allocation->file);
    return false;
}

static void check_rest(const struct cpu_allocation *allocation)
{
    size_t rest_bytes;
    const unsigned char *rest = rest_of(allocation, &rest_bytes);
    mprotect((void *)allocation->address, allocation->mapped_bytes, PROT_READ);
    for (size_t i = 0; i < rest_bytes; i++) {
        if (rest[i] == PATTERN)
            continue;
        cpu_report("zeMemFree", "byte %zu behind the %zu bytes at %p was written", i + 1,
                   allocation->size_bytes, (void *)allocation->address);
        abort();
    }
}

void cpu_pages_unmap(const struct cpu_allocation *allocation)
{
    if (cpu_options()->is_strict)
        check_rest(allocation);
    munmap((void *)allocation->address, allocation->mapped_bytes + guard_bytes());
    if (allocation->offset != CPU_NO_FILE)
        cpu_shared_file_give(allocation->offset, allocation->mapped_bytes);
    if (allocation->exported_as != 0)
        close(allocation->file);
}
