// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_PAGES_H
#define ZE_CPU_PAGES_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Memory as table.h has it: USM, and mappings.
enum cpu_origin {
    CPU_ALLOCATED,
    CPU_IMPORTED, // by an IPC handle: pages of another process' file, or once more of this one's
    CPU_EXTERNAL, // pages of a file whose descriptor the host gave
    CPU_OF_HOST,  // the host's own memory
    CPU_MAPPED,   // a piece of physical memory in a reservation (virtual_memory.c)
};

struct cpu_allocation {
    uintptr_t address;
    size_t size_bytes;
    size_t mapped_bytes; // of its pages; 0: CPU_OF_HOST
    uint64_t offset;     // of the pages in the shared file; CPU_NO_FILE: they are in none. Of a
                         // mapping: in its physical memory
    enum cpu_origin origin;
    ze_external_memory_type_flags_t exported_as; // 0: it is not
    int file;                                    // owned, of exportable memory: its pages are in it
    ze_memory_type_t type;
    ze_context_handle_t context; // borrowed
    ze_device_handle_t device;   // borrowed, may be NULL
    uint64_t id;
    uint32_t atomic_access; // as the application set it; has no effect
    ze_memory_access_attribute_t access;
    struct cpu_physical_memory
        *physical; // borrowed, of a mapping: not destroyed while it is mapped
};

// The pages that an allocation is made of: zeroed, and no one else's, so that a small overrun harms
// nothing. With ZE_CPU_STRICT they hold a pattern, the part behind the allocation's end is looked
// at when they go, and an inaccessible page lies behind them.

// Maps pages for size_bytes, which can be read and written; fills address, mapped_bytes, offset and
// file. False without memory.
bool cpu_pages_map(struct cpu_allocation *allocation, size_t alignment);

// Of pages that were mapped by this. Ends the process if something was written behind the
// allocation's end.
void cpu_pages_unmap(const struct cpu_allocation *allocation);

#endif
