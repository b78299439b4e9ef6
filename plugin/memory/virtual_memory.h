// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_VIRTUAL_MEMORY_H
#define ZEPI_MEMORY_VIRTUAL_MEMORY_H

#include "device/context.h"

#include <stdatomic.h>

struct zepi_context;
struct zepi_device;

// Address ranges of a context that are reserved apart from the memory behind them. Addresses and
// sizes are multiples of the page size. Contexts have been checked. Any thread: a lock of the
// context guards its mappings.

enum zepi_physical_sharing {
    ZEPI_PHYSICAL_OWN,
    ZEPI_PHYSICAL_SHARED,   // other processes may open it
    ZEPI_PHYSICAL_IMPORTED, // belongs to another process
};

// Memory of a device that has no address until it is mapped. What is mapped stays until it is
// unmapped, with this structure, even if the object is released before.
struct zepi_physical_memory {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    size_t size_bytes;
    enum zepi_physical_sharing sharing;
    ze_physical_mem_handle_t ze;
    atomic_size_t uses; // the object's own, and one a mapping
};

extern const struct zepi_type zepi_physical_memory_type;

// The bytes from the address to the end of the mappings without a gap, as far as `size_bytes` ask
// for them; SIZE_MAX where nothing is mapped.
size_t zepi_mappings_room(const struct zepi_context *context, const void *address,
                          size_t size_bytes);

// Whether the device's driver has virtual memory.
zepi_result_t zepi_device_has_virtual_memory(const struct zepi_device *device, bool *out_has);

// The page size for ranges of `size_bytes`; `device` NULL: one that is right for all devices of the
// context.
zepi_result_t zepi_virtual_memory_get_page_size(struct zepi_context *context,
                                                struct zepi_device *device, size_t size_bytes,
                                                size_t *out_page_bytes);

// `preferred`: where, if that is free; or NULL.
zepi_result_t zepi_virtual_memory_reserve(struct zepi_context *context, const void *preferred,
                                          size_t size_bytes, void **out_start);
// A whole reservation. Its mappings are unmapped.
zepi_result_t zepi_virtual_memory_free(struct zepi_context *context, const void *start,
                                       size_t size_bytes);
// `memory` is of the context.
zepi_result_t zepi_virtual_memory_map(struct zepi_context *context, const void *start,
                                      size_t size_bytes, struct zepi_physical_memory *memory,
                                      size_t offset_bytes, enum zepi_memory_access access);
zepi_result_t zepi_virtual_memory_unmap(struct zepi_context *context, const void *start,
                                        size_t size_bytes);
zepi_result_t zepi_virtual_memory_set_access(struct zepi_context *context, const void *start,
                                             size_t size_bytes, enum zepi_memory_access access);
// The access of all of the range: if parts differ, that is an error.
zepi_result_t zepi_virtual_memory_get_access(struct zepi_context *context, const void *start,
                                             size_t size_bytes,
                                             enum zepi_memory_access *out_access);

// `device` is one of the context's. `descriptor`: the file behind memory that is
// ZEPI_PHYSICAL_IMPORTED; the driver owns it after success. ZEPI_ERROR_INVALID_SIZE: `size_bytes`
// is 0, or no multiple of the page size. ZEPI_ERROR_UNSUPPORTED: the driver shares no physical
// memory.
zepi_result_t zepi_physical_memory_create(struct zepi_context *context, struct zepi_device *device,
                                          size_t size_bytes, enum zepi_physical_sharing sharing,
                                          int descriptor, struct zepi_physical_memory **out_memory);
// A file descriptor of memory that is ZEPI_PHYSICAL_SHARED. The caller closes it.
zepi_result_t zepi_physical_memory_export(const struct zepi_physical_memory *memory,
                                          int *out_descriptor);
// Whether the device's driver shares physical memory with other processes.
zepi_result_t zepi_physical_memory_is_shareable(const struct zepi_device *device,
                                                bool *out_is_shareable);

#endif
