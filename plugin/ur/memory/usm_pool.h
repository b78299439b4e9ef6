// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_USM_POOL_H
#define ZEPI_UR_MEMORY_USM_POOL_H

#include "memory/pool.h"
#include "ur/handles.h"

// Pools of USM, which are the core's, and common parts of allocations from them. Any thread.

ZEPI_UR_DEFINE_HANDLE(usm_pool, ur_usm_pool_handle_t, zepi_pool, UR_RESULT_ERROR_INVALID_VALUE)

// A pool of the context, for an allocation; NULL is none.
ur_result_t zepi_ur_check_usm_pool_of(ur_usm_pool_handle_t handle,
                                      const struct zepi_context *context);

// The size of an allocation. `device` NULL: any of the context's may use the memory.
ur_result_t zepi_ur_check_usm_size(const struct zepi_context *context,
                                   const struct zepi_device *device, size_t size);

#endif
