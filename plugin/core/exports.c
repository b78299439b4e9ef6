// SPDX-License-Identifier: MIT
#include "core/exports.h"

#include "core/alloc.h"
#include "core/status.h"

void *zepi_exports_get(zepi_exports_t *exports, uint32_t index)
{
    // Acquire, here and below: the list and its items are seen whole.
    struct zepi_exports *list = atomic_load_explicit(exports, memory_order_acquire);
    return list ? atomic_load_explicit(&list->slots[index], memory_order_acquire) : NULL;
}

void *zepi_exports_put(zepi_exports_t *exports, uint32_t count, uint32_t index, void *item)
{
    void *there = NULL;
    struct zepi_exports *list = atomic_load_explicit(exports, memory_order_acquire);
    if (!list) {
        // Zeroed: no item.
        struct zepi_exports *made =
            zepi_allocate(1, sizeof(*made) + count * sizeof(made->slots[0]));
        if (!made) {
            zepi_fail_no_memory();
            return NULL;
        }
        made->count = count;
        if (atomic_compare_exchange_strong_explicit(exports, &list, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            list = made;
        else
            zepi_free(made);
    }
    return atomic_compare_exchange_strong_explicit(&list->slots[index], &there, item,
                                                   memory_order_acq_rel, memory_order_acquire)
               ? item
               : there;
}

void zepi_exports_finish(zepi_exports_t *exports,
                         void (*destroy)(void *user, uint32_t index, void *item), void *user)
{
    struct zepi_exports *list = atomic_load_explicit(exports, memory_order_acquire);
    if (!list)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        void *item = atomic_load_explicit(&list->slots[i], memory_order_acquire);
        if (item)
            destroy(user, i, item);
    }
    zepi_free(list);
}
