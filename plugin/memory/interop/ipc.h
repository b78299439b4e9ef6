// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_INTEROP_IPC_H
#define ZEPI_MEMORY_INTEROP_IPC_H

#include "device/context.h"

// Device memory that two processes share. One process gets a handle of its memory, plain bytes that
// it hands to the other one in any way; that one opens it and has a pointer, or physical memory to
// map. Where the driver does not share memory, everything here is ZEPI_ERROR_UNSUPPORTED. Contexts
// and devices have been checked. Any thread: a lock of the context guards its handles and opened
// memory.

struct zepi_physical_memory;

// All of it is opaque to hosts.
struct zepi_ipc_handle {
    uint32_t magic;
    uint32_t process;      // that has the memory
    uint64_t offset_bytes; // in the driver's allocation: blocks share one
    uint64_t size_bytes;   // of physical memory; 0: USM
    uint64_t file[2];      // of the descriptor: its device and number
    uint8_t device[ZE_MAX_DEVICE_UUID_SIZE];
    ze_ipc_mem_handle_t ze; // begins with a file descriptor of that process
    uint64_t checksum[2];   // of the above
};

// Whether the driver shares memory between processes.
zepi_result_t zepi_ipc_is_offered(const struct zepi_platform *platform, bool *out_is_offered);

// The handle of an allocation of device memory from `memory`, an address in it, on, or of
// `physical` memory that is ZEPI_PHYSICAL_SHARED. It is the context's until it is put back.
// ZEPI_ERROR_OUT_OF_HOST_MEMORY, as of the opening: memory or file descriptors do not suffice.
zepi_result_t zepi_ipc_get(struct zepi_context *context, const void *memory,
                           const struct zepi_physical_memory *physical,
                           const struct zepi_ipc_handle **out_handle);
// Memory that was opened by the handle stays. ZEPI_ERROR_INVALID_VALUE: it is none of the context,
// or of the other kind of memory.
zepi_result_t zepi_ipc_put(struct zepi_context *context, const void *handle, bool is_physical);

// Opens a handle of any process, this one too. `device` is the one that has the memory.
// ZEPI_ERROR_INVALID_SIZE: `size_bytes` is not that of a handle. ZEPI_ERROR_INVALID_VALUE: the
// bytes are no handle, it is another device's, or of the other kind of memory, it was put back, its
// process is gone, or its offset is beyond the end of the memory. ZEPI_ERROR_UNSUPPORTED: the
// system does not let this process take a file descriptor of the other.
zepi_result_t zepi_ipc_open(struct zepi_context *context, struct zepi_device *device,
                            const void *handle, size_t size_bytes, void **out_memory);
// Physical memory that is ZEPI_PHYSICAL_IMPORTED, an object like any other.
zepi_result_t zepi_ipc_open_physical(struct zepi_context *context, struct zepi_device *device,
                                     const void *handle, size_t size_bytes,
                                     struct zepi_physical_memory **out_memory);
// Each opening is closed once. The memory stays until no command of the context can use it.
zepi_result_t zepi_ipc_close(struct zepi_context *context, void *memory);

#endif
