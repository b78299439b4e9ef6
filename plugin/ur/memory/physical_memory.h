// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_PHYSICAL_MEMORY_H
#define ZEPI_UR_MEMORY_PHYSICAL_MEMORY_H

#include "memory/virtual_memory.h"
#include "ur/handles.h"

// Physical memory is an object of the core.
ZEPI_UR_DEFINE_HANDLE(physical_memory, ur_physical_mem_handle_t, zepi_physical_memory,
                      UR_RESULT_ERROR_INVALID_VALUE)

// A context, and physical memory of it.
static inline ur_result_t zepi_ur_check_context_physical(ur_context_handle_t context,
                                                         ur_physical_mem_handle_t memory)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context(context)) ||
        (result = zepi_ur_check_physical_memory(memory)))
        return result;
    return zepi_ur_check_same_context(zepi_ur_context(context),
                                      zepi_ur_physical_memory(memory)->context,
                                      UR_RESULT_ERROR_INVALID_ARGUMENT, "the physical memory");
}

#endif
