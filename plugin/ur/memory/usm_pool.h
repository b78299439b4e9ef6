// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_USM_POOL_H
#define ZEPI_UR_MEMORY_USM_POOL_H

#include "memory/usm_pool.h"
#include "ur/handles.h"

// A pool that the host made: one of the core's around a handle. Any thread.
struct zepi_ur_usm_pool {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_usm_pool *pool;   // owned
};

extern const struct zepi_type zepi_ur_usm_pool_type;

static inline struct zepi_ur_usm_pool *zepi_ur_usm_pool(ur_usm_pool_handle_t handle)
{
    return (struct zepi_ur_usm_pool *)handle;
}
static inline ur_result_t zepi_ur_check_usm_pool(ur_usm_pool_handle_t handle)
{
    return zepi_ur_check(handle, &zepi_ur_usm_pool_type, UR_RESULT_ERROR_INVALID_VALUE);
}

#endif
