// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CHAIN_H
#define ZE_CPU_CHAIN_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>

// Walks a pNext chain. Returns the first structure of type `stype` from `next` on, or NULL.
static inline void *cpu_chain_find(const void *next, uint32_t stype)
{
    ze_base_properties_t *structure = (ze_base_properties_t *)next;
    while (structure != NULL && (uint32_t)structure->stype != stype)
        structure = structure->pNext;
    return structure;
}

// Whether the chain asks for memory of, or for, another API or process, which nothing here offers.
static inline bool cpu_chain_has_external_memory(const void *next)
{
    return cpu_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) != NULL ||
           cpu_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) != NULL ||
           cpu_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) != NULL ||
           cpu_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32) != NULL ||
           cpu_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32) != NULL;
}

#endif
