// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_DRIVER_H
#define ZEPI_MEMORY_USM_DRIVER_H

#include "core/status.h"

#include <stddef.h>

struct zepi_device;
struct zepi_usm_pool;

// Any thread. Asks the driver for USM, for a pool, and again after zepi_context_reclaim. `next`:
// extensions, or NULL.
zepi_result_t zepi_usm_driver_allocate(struct zepi_usm_pool *pool, struct zepi_device *device,
                                       zepi_usm_kind_t kind, size_t size_bytes,
                                       size_t alignment_bytes, const void *next, void **out_memory);

#endif
