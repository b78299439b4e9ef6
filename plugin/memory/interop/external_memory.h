// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_INTEROP_EXTERNAL_MEMORY_H
#define ZEPI_MEMORY_INTEROP_EXTERNAL_MEMORY_H

#include "device/context.h"
#include "sync/deferred.h"

// Memory of another interface (Vulkan, a camera, video), which hands it out as a file descriptor,
// and memory for other interfaces. Contexts and devices have been checked. Any thread: a lock of
// the context guards its mappings.

enum zepi_external_kind {
    ZEPI_EXTERNAL_OPAQUE_FD = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
    ZEPI_EXTERNAL_DMA_BUF = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
};

// Imported memory. Its mappings are valid until they are unmapped, and this structure stays, even
// if the object is released before.
struct zepi_external_memory {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    size_t size_bytes;
    void *base;                    // as the driver imported it
    atomic_size_t uses;            // the object's own, and one a mapping
    struct zepi_deferred deferred; // its end, after the last use
};

extern const struct zepi_type zepi_external_memory_type;

// The descriptor is zepi's after success. ZEPI_ERROR_UNSUPPORTED: not of this kind.
// ZEPI_ERROR_INVALID_VALUE: `size_bytes` is 0 or more than the memory has, or the descriptor is not
// of such memory.
zepi_result_t zepi_external_memory_import(struct zepi_context *context, struct zepi_device *device,
                                          enum zepi_external_kind kind, size_t size_bytes,
                                          int descriptor, struct zepi_external_memory **out_memory);

// A pointer to a piece of the memory, for kernels and commands: device memory.
// ZEPI_ERROR_INVALID_VALUE: a piece of 0 bytes, or one that reaches past the end.
zepi_result_t zepi_external_memory_map(struct zepi_external_memory *memory, uint64_t offset_bytes,
                                       uint64_t size_bytes, void **out_memory);
// Each map has its end. The memory goes when no command of the context can use it.
// ZEPI_ERROR_INVALID_VALUE: nothing is mapped there.
zepi_result_t zepi_external_memory_unmap(struct zepi_context *context, const void *memory);

// USM of the device that can be exported; zepi_usm_free frees it, too. ZEPI_ERROR_UNSUPPORTED: not
// as this kind.
zepi_result_t zepi_external_memory_allocate(struct zepi_context *context,
                                            struct zepi_device *device,
                                            enum zepi_external_kind kind, size_t size_bytes,
                                            size_t alignment_bytes, void **out_memory);
// ZEPI_ERROR_INVALID_VALUE, as of the export: no such memory of the device begins there.
zepi_result_t zepi_external_memory_free(struct zepi_context *context,
                                        const struct zepi_device *device, void *memory);
// A descriptor of the memory, which is the caller's; each export is another one.
// ZEPI_ERROR_INVALID_VALUE: the memory was allocated for the other kind.
// ZEPI_ERROR_OUT_OF_HOST_MEMORY: no descriptor is left.
zepi_result_t zepi_external_memory_export(struct zepi_context *context,
                                          const struct zepi_device *device,
                                          enum zepi_external_kind kind, const void *memory,
                                          int *out_descriptor);

#endif
