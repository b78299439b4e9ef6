// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_PHYSICAL_MEMORY_H
#define ZE_CPU_PHYSICAL_MEMORY_H

#include "object.h"

#include <stdatomic.h>
#include <stdbool.h>

// Pages without an address: an anonymous file, or a part of one, of which virtual_memory.c maps
// pieces.
struct cpu_physical_memory {
    struct cpu_object object;
    ze_context_handle_t context; // borrowed
    ze_device_handle_t device;   // borrowed
    ze_memory_type_t type;       // device, or host if asked for
    uint64_t id;                 // never given twice; for pointer queries
    size_t size_bytes;
    int file;             // owned if it is exportable or imported
    uint64_t file_offset; // where the pages begin in it
    bool is_exportable;
    bool is_imported;            // pages of a file whose descriptor the host gave
    _Atomic size_t mapped_bytes; // over all mappings: not to be destroyed while it is not 0
};

#endif
