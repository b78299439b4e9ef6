// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_USM_POOL_H
#define ZEPI_UR_USM_POOL_H

#include "ur/handles.h"

// A pool that the host made. Memory itself comes from the context; the pool knows what was
// allocated from it, and how much.
struct zepi_ur_usm_pool; // opaque

extern const struct zepi_type zepi_ur_usm_pool_type;

static inline ur_result_t zepi_ur_check_usm_pool(ur_usm_pool_handle_t handle)
{
    return zepi_ur_check(handle, &zepi_ur_usm_pool_type, UR_RESULT_ERROR_INVALID_VALUE);
}

// `pool` has been checked. A pool of another context is an error.
ur_result_t zepi_ur_usm_pool_allocate(ur_usm_pool_handle_t pool, struct zepi_context *context,
                                      struct zepi_device *device, zepi_usm_kind_t kind, size_t size,
                                      size_t alignment, void **out_memory);

// The pool that an allocation is from, borrowed; NULL: none.
struct zepi_ur_usm_pool *zepi_ur_usm_pools_find(const struct zepi_context *context,
                                                const void *memory);

// The allocation is about to be freed. Nothing happens to memory of no pool.
void zepi_ur_usm_pools_forget(const struct zepi_context *context, const void *memory);

#endif
