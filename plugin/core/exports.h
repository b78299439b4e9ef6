// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_EXPORTS_H
#define ZEPI_CORE_EXPORTS_H

#include <stdatomic.h>
#include <stdint.h>

// The native handles that an object made for the host, one for each device; made with the first.
// Kept until the object goes.
struct zepi_exports {
    uint32_t count;
    _Atomic(void *) slots[];
};

typedef _Atomic(struct zepi_exports *) zepi_exports_t;

// NULL: nothing was handed out for that device yet.
void *zepi_exports_get(zepi_exports_t *exports, uint32_t index);

// Enters an item, unless another thread was faster: returns the one that counts, which is not
// `item` then. NULL without memory (noted). `count`: of devices.
void *zepi_exports_put(zepi_exports_t *exports, uint32_t count, uint32_t index, void *item);

// Calls `destroy` for each item. The object has no other user.
void zepi_exports_finish(zepi_exports_t *exports,
                         void (*destroy)(void *user, uint32_t index, void *item), void *user);

#endif
