// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_INTEROP_IPC_HANDLE_H
#define ZEPI_MEMORY_INTEROP_IPC_HANDLE_H

#include "core/object.h"
#include "ze/ze.h"

struct zepi_device;

enum zepi_ipc_kind {
    ZEPI_IPC_USM = 1,
    ZEPI_IPC_PHYSICAL = 2,
};

// What one process hands to another one so that this opens its memory: plain bytes, all of them
// opaque to hosts.
struct zepi_ipc_handle {
    uint32_t magic;
    uint32_t kind;
    uint32_t process; // that has the memory
    uint32_t unused;
    uint64_t process_start; // in ticks after the system's: process numbers are used again; 0: not
                            // known
    uint64_t offset_bytes;  // of USM in the driver's allocation: blocks share one
    uint64_t size_bytes;    // of physical memory
    uint64_t file[2];       // of the descriptor: its device and number; zeros: not known
    uint8_t device[ZE_MAX_DEVICE_UUID_SIZE];
    ze_ipc_mem_handle_t ze; // begins with a file descriptor of that process
    uint64_t checksum[2];   // of the above
};

// Fills the head of a zeroed handle. ZEPI_ERROR_OUT_OF_HOST_MEMORY: no file descriptor is left.
zepi_result_t zepi_ipc_handle_begin(struct zepi_ipc_handle *handle, enum zepi_ipc_kind kind,
                                    const struct zepi_device *device);
// The rest was filled: adds the identity of the descriptor's file, and the checksum.
void zepi_ipc_handle_seal(struct zepi_ipc_handle *handle);

// Copies the bytes of a handle of that kind. ZEPI_ERROR_INVALID_SIZE: they are not so many.
// ZEPI_ERROR_INVALID_VALUE: they are no such handle, or of memory of another device.
zepi_result_t zepi_ipc_handle_read(const void *bytes, size_t size_bytes, enum zepi_ipc_kind kind,
                                   const struct zepi_device *device,
                                   struct zepi_ipc_handle *out_handle);

// The handle's file descriptor, as one of this process; to be closed. ZEPI_ERROR_INVALID_VALUE: it
// was put back, or its process is gone. ZEPI_ERROR_UNSUPPORTED: the system does not allow it.
zepi_result_t zepi_ipc_handle_take_descriptor(const struct zepi_ipc_handle *handle,
                                              int *out_descriptor);

#endif
