// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_DRIVER_H
#define ZEPI_MEMORY_USM_DRIVER_H

#include "device/context.h"

// USM from the driver.

// Writes to a device's memory, which the host may not reach, and returns when that is over: `data`,
// or zeros if it is NULL.
typedef zepi_result_t zepi_usm_write(struct zepi_context *context, struct zepi_device *device,
                                     void *memory, const void *data, size_t size_bytes);

// The context's function for that, which is in copy/: a write is a command.
static inline zepi_usm_write **zepi_usm_write_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_COPY];
}

enum zepi_usm_contents { ZEPI_USM_ANY_BYTES, ZEPI_USM_ZEROS };

// The attempts of one allocation of the host's, which asks for a slab and then for dedicated
// memory: both together wait once for memory that commands use. Begins with zeros.
struct zepi_usm_attempts {
    unsigned of_pool;   // zepi_usm_pool_reserve
    unsigned of_driver; // zepi_context_reclaim
};

// Any thread. Asks the driver, and again after zepi_context_reclaim. `next`: extensions, or NULL.
zepi_result_t zepi_usm_driver_allocate(struct zepi_context *context, struct zepi_device *device,
                                       zepi_usm_kind_t kind, enum zepi_usm_contents contents,
                                       size_t size_bytes, size_t alignment_bytes, const void *next,
                                       struct zepi_usm_attempts *attempts, void **out_memory);

// The bytes from `memory`, which lies in an allocation of the driver's, to the end of that. A
// driver may import or open more than it was asked for, and a piece of a larger allocation.
zepi_result_t zepi_usm_driver_room(const struct zepi_context *context, const void *memory,
                                   size_t *out_bytes);

#endif
