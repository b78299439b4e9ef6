// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_POOL_H
#define ZEPI_MEMORY_POOL_H

#include "memory/usm_pool.h"

// The host's handle of a pool of USM (usm_pool.h), and the pools of a context. Any thread. Each
// device of a context has a default pool, for allocations in the order of a queue, which goes with
// the context; the host may put another pool in its place.

struct zepi_pool {
    struct zepi_object object;
    struct zepi_context *context; // retained; of a default pool borrowed, as it owns that
    struct zepi_device *device;   // borrowed; NULL: of all devices
    struct zepi_usm_pool *usm;    // owned
    bool is_default;
};

extern const struct zepi_type zepi_pool_type;

struct zepi_usm_pool_desc {
    size_t most_bytes;         // longer allocations are not pooled
    size_t least_driver_bytes; // the least that the driver is asked for
    size_t maximum_bytes;      // of the driver's; 0: no limit
    size_t threshold_bytes;    // up to here nothing goes back to the driver by itself
    bool is_zeroed;            // memory that comes from the driver
    bool is_default;           // goes with its context
};

// The longest allocations that a pool can have.
#define ZEPI_USM_POOLED_BYTES ((size_t)1 << ZEPI_USM_MOST_SHIFT)

// A pool for memory of all kinds, which counts the bytes in use, for `device` or, if NULL, for all
// devices. Context and device have been checked.
zepi_result_t zepi_pool_make(struct zepi_context *context, struct zepi_device *device,
                             const struct zepi_usm_pool_desc *desc, struct zepi_pool **out_pool);

// The default pool of a device of the context, made by the first call, and the pool in its place.
// Borrowed.
zepi_result_t zepi_pool_get_default(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool);
zepi_result_t zepi_pool_get_current(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool);
// Puts a pool of the context in the place of the default one, until it goes.
void zepi_pool_set_current(struct zepi_context *context, const struct zepi_device *device,
                           struct zepi_pool *pool);

// Gives back memory that is not in use, down to so many bytes.
void zepi_pool_trim(struct zepi_pool *pool, size_t keep_bytes);

// Once a second, gives the driver the free memory of shards from which nothing was allocated since
// the last time. For calls that wait.
void zepi_usm_trim_unused(struct zepi_context *context);

#endif
