// SPDX-License-Identifier: MIT
#include "address_space.h"

#include "spans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shim_address_space {
    _Atomic uint32_t references;
    pthread_rwlock_t lock;   // guards the spans; nothing is called under it
    struct shim_spans spans; // value: the CPU's address
};

struct shim_address_space *shim_address_space_create(void)
{
    struct shim_address_space *space = calloc(1, sizeof(*space));
    if (space == NULL)
        return NULL;
    atomic_init(&space->references, 1);
    pthread_rwlock_init(&space->lock, NULL);
    return space;
}

void shim_address_space_retain(struct shim_address_space *space)
{
    atomic_fetch_add_explicit(&space->references, 1, memory_order_relaxed);
}

void shim_address_space_release(struct shim_address_space *space)
{
    // acq_rel: the last owner sees the writes of all others.
    if (space == NULL ||
        atomic_fetch_sub_explicit(&space->references, 1, memory_order_acq_rel) != 1)
        return;
    shim_spans_finish(&space->spans);
    pthread_rwlock_destroy(&space->lock);
    free(space);
}

bool shim_address_space_bind(struct shim_address_space *space, uint64_t address, uint64_t size,
                             uint8_t *bytes, bool is_same)
{
    address &= SHIM_ADDRESS_MASK;
    pthread_rwlock_wrlock(&space->lock);
    const bool is_bound = shim_spans_insert(
        &space->spans, (struct shim_span){address, address + size, (uintptr_t)bytes, is_same});
    pthread_rwlock_unlock(&space->lock);
    return is_bound;
}

bool shim_address_space_unbind(struct shim_address_space *space, uint64_t address, uint64_t size)
{
    address &= SHIM_ADDRESS_MASK;
    pthread_rwlock_wrlock(&space->lock);
    const bool is_unbound = shim_spans_remove(&space->spans, address, address + size);
    pthread_rwlock_unlock(&space->lock);
    return is_unbound;
}

uint8_t *shim_address_space_find(struct shim_address_space *space, uint64_t address,
                                 uint64_t *out_left)
{
    address &= SHIM_ADDRESS_MASK;
    uint8_t *bytes = NULL;
    pthread_rwlock_rdlock(&space->lock);
    const struct shim_span *span = shim_spans_find(&space->spans, address);
    if (span != NULL) {
        bytes = (uint8_t *)(uintptr_t)(span->value + (address - span->start));
        *out_left = span->end - address;
    }
    pthread_rwlock_unlock(&space->lock);
    return bytes;
}

void *shim_address_space_cpu_pointer(struct shim_address_space *space, uint64_t address)
{
    // An address that is not bound may be the program's own, which the GPU would not reach.
    void *pointer = address >> 47 != 0 ? NULL : (void *)(uintptr_t)address;
    address &= SHIM_ADDRESS_MASK;
    pthread_rwlock_rdlock(&space->lock);
    const struct shim_span *span = shim_spans_find(&space->spans, address);
    if (span != NULL && !span->is_same)
        pointer = (void *)(uintptr_t)(span->value + (address - span->start));
    pthread_rwlock_unlock(&space->lock);
    return pointer;
}
