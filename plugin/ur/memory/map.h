// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_MAP_H
#define ZEPI_UR_MEMORY_MAP_H

#include "ur/memory/mem.h"

extern const struct zepi_type zepi_ur_map_type;

// Forgets the mappings that are left: the memory object goes.
void zepi_ur_maps_finish(struct zepi_ur_mem *mem);

// An object without memory. One reference, or NULL (noted).
struct zepi_ur_mem *zepi_ur_mem_make(struct zepi_context *context, ur_mem_flags_t flags);

#endif
