// SPDX-License-Identifier: MIT
#include "gpu_memory.h"

#include "log.h"
#include "watch.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

static void report_fault(const char *access, uint64_t address, uint64_t size)
{
    shim_error("page fault of the GPU: %s of %" PRIu64 " bytes at 0x%" PRIx64
               ", where nothing is bound",
               access, size, address);
}

static void *find(struct shim_address_space *space, const char *access, uint64_t address,
                  uint64_t size)
{
    uint64_t left = 0;
    void *bytes = shim_address_space_find(space, address, &left);
    if (bytes != NULL && left >= size)
        return bytes;
    report_fault(access, address, size);
    return NULL;
}

void *shim_gpu_memory_at(struct shim_address_space *space, uint64_t address, uint64_t size)
{
    return find(space, "use", address, size);
}

bool shim_gpu_memory_read(struct shim_address_space *space, uint64_t address, uint32_t size,
                          uint64_t *out_value)
{
    const void *from = find(space, "read", address, size);
    if (from == NULL)
        return false;
    // Acquire: writes of another engine or the program before this value are visible.
    *out_value = size == 8 ? __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE)
                           : __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE);
    return true;
}

bool shim_gpu_memory_write(struct shim_address_space *space, uint64_t address, uint64_t value,
                           uint32_t size)
{
    void *to = find(space, "write", address, size);
    if (to == NULL)
        return false;
    // Release: a reader of the value also sees this engine's earlier writes.
    if (size == 8)
        __atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELEASE);
    shim_watches_notify_write(to, size);
    return true;
}

bool shim_gpu_memory_copy(struct shim_address_space *space, uint64_t to, uint64_t from,
                          uint64_t size)
{
    while (size > 0) {
        uint64_t to_left = 0, from_left = 0;
        uint8_t *target = shim_address_space_find(space, to, &to_left);
        const uint8_t *source = shim_address_space_find(space, from, &from_left);
        if (target == NULL || source == NULL) {
            report_fault(target == NULL ? "copy's write" : "copy's read",
                         target == NULL ? to : from, size);
            return false;
        }
        uint64_t part = size < to_left ? size : to_left;
        part = part < from_left ? part : from_left;
        memmove(target, source, part);
        shim_watches_notify_write(target, part);
        to += part;
        from += part;
        size -= part;
    }
    return true;
}

// `phase`: how many bytes of the pattern went to the range before.
static void fill_bytes(uint8_t *target, uint64_t size, const uint8_t *pattern, uint32_t width,
                       uint64_t phase)
{
    if (width == 1) {
        memset(target, pattern[0], size);
        return;
    }
    uint64_t done = 0;
    for (; done < size && done < width; done++)
        target[done] = pattern[(phase + done) % width];
    while (done < size) { // each copy doubles what is there
        const uint64_t part = size - done < done ? size - done : done;
        memcpy(target + done, target, part);
        done += part;
    }
}

bool shim_gpu_memory_fill(struct shim_address_space *space, uint64_t to, uint64_t size,
                          const void *pattern, uint32_t width)
{
    uint64_t done = 0;
    while (done < size) {
        uint64_t left = 0;
        uint8_t *target = shim_address_space_find(space, to + done, &left);
        if (target == NULL) {
            report_fault("fill", to + done, size - done);
            return false;
        }
        const uint64_t part = size - done < left ? size - done : left;
        fill_bytes(target, part, pattern, width, done);
        shim_watches_notify_write(target, part);
        done += part;
    }
    return true;
}

// False if the operation is not known.
static bool atomic_result(uint32_t operation, uint64_t old, const uint64_t operands[2],
                          uint64_t *out_value)
{
    switch (operation) {
    case 0x01:
        *out_value = old & operands[0];
        return true;
    case 0x02:
        *out_value = old | operands[0];
        return true;
    case 0x03:
        *out_value = old ^ operands[0];
        return true;
    case 0x04:
        *out_value = operands[0];
        return true;
    case 0x05:
        *out_value = old + 1;
        return true;
    case 0x06:
        *out_value = old - 1;
        return true;
    case 0x07:
        *out_value = old + operands[0];
        return true;
    case 0x08:
        *out_value = old - operands[0];
        return true;
    case 0x0e:
        *out_value = old == operands[0] ? operands[1] : old;
        return true;
    default:
        shim_error("MI_ATOMIC: operation 0x%x is not known", operation);
        return false;
    }
}

bool shim_gpu_memory_atomic(struct shim_address_space *space, uint64_t address, uint32_t size,
                            uint32_t operation, const uint64_t operands[2], uint64_t *out_old)
{
    void *at = find(space, "atomic operation", address, size);
    if (at == NULL)
        return false;
    uint64_t old = 0, value = 0;
    bool is_done = false;
    while (!is_done) {
        old = size == 8 ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE)
                        : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
        if (!atomic_result(operation, old, operands, &value))
            return false;
        is_done = size == 8 ? __sync_bool_compare_and_swap((uint64_t *)at, old, value)
                            : __sync_bool_compare_and_swap((uint32_t *)at, (uint32_t)old,
                                                           (uint32_t)value);
    }
    shim_watches_notify_write(at, size);
    *out_old = old;
    return true;
}
