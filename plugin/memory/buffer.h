// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_BUFFER_H
#define ZEPI_MEMORY_BUFFER_H

#include "base/object.h"

struct zepi_context;

// Memory that all devices of a context can use. It has one place for its life: the device's own
// memory where a context has one device with memory apart, else host memory, which every device
// reaches and which needs no copies between them. It is freed when no command can use it any more.
struct zepi_buffer {
    struct zepi_object object;
    struct zepi_context *context; // retained
    size_t size_bytes;
    void *memory;
    zepi_usm_kind_t kind;
    struct zepi_buffer_place *place; // owned until it is retired: frees the memory
};

extern const struct zepi_type zepi_buffer_type;

zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer);
// Around memory of the context, an allocation or a part of one. `context` has been checked.
zepi_result_t zepi_buffer_create_from_native(struct zepi_context *context, void *memory,
                                             zepi_ownership_t ownership, zepi_buffer_t *out_buffer);
zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes);

#endif
