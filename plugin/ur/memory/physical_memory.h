// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_PHYSICAL_MEMORY_H
#define ZEPI_UR_MEMORY_PHYSICAL_MEMORY_H

#include "memory/virtual_memory.h"
#include "ur/ur.h"

// Physical memory is the core's object.

static inline struct zepi_physical_memory *zepi_ur_physical_memory(ur_physical_mem_handle_t handle)
{
    return (struct zepi_physical_memory *)handle;
}

ur_result_t zepi_ur_check_physical_memory(ur_physical_mem_handle_t handle);
// Checks that it is of the context, too, which has been checked.
ur_result_t zepi_ur_check_physical_memory_in(ur_context_handle_t context,
                                             ur_physical_mem_handle_t handle);

#endif
