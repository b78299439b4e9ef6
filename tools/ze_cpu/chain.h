// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CHAIN_H
#define ZE_CPU_CHAIN_H

#include <level_zero/ze_api.h>
#include <stddef.h>

// Walks a pNext chain. Returns the first structure of type `stype` from `next` on, or NULL.
static inline void *cpu_chain_find(const void *next, uint32_t stype)
{
    ze_base_properties_t *structure = (ze_base_properties_t *)next;
    while (structure != NULL && (uint32_t)structure->stype != stype)
        structure = structure->pNext;
    return structure;
}

#endif
