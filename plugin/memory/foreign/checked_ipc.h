// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_FOREIGN_CHECKED_IPC_H
#define ZEPI_MEMORY_FOREIGN_CHECKED_IPC_H

#include "core/object.h"

// The functions of ipc.h for USM behind zepi.h, with its checks of handles and outputs.
zepi_result_t zepi_ipc_get_handle(zepi_context_t context, const void *memory,
                                  const void **out_handle, size_t *out_size_bytes);
zepi_result_t zepi_ipc_put_handle(zepi_context_t context, const void *handle);
zepi_result_t zepi_ipc_open_handle(zepi_context_t context, zepi_device_t device, const void *handle,
                                   size_t size_bytes, void **out_memory);
zepi_result_t zepi_ipc_close_memory(zepi_context_t context, void *memory);

#endif
