// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_INTEROP_HOST_MEMORY_H
#define ZEPI_MEMORY_INTEROP_HOST_MEMORY_H

#include "device/context.h"

// The host's own memory, of which the driver is told. Contexts and devices have been checked. Any
// thread: a lock of the context guards its registrations.

// Whether the driver makes USM of the host's memory, and undoes it (quirk kept-host-pages).
bool zepi_host_memory_can_register(const struct zepi_platform *platform);

// Whole pages become USM of the kind host, at their address, until they are unregistered.
// ZEPI_ERROR_INVALID_VALUE: address and size are not those of pages, or some of the memory is USM.
// ZEPI_ERROR_UNSUPPORTED: the driver cannot.
zepi_result_t zepi_host_memory_register(struct zepi_context *context, void *memory,
                                        size_t size_bytes);
// The memory that was registered at this address. Waits for the commands of the context, since the
// host may free it then. ZEPI_ERROR_INVALID_VALUE: there is none.
zepi_result_t zepi_host_memory_unregister(struct zepi_context *context, const void *memory);

// Whether all of the bytes are registered together.
bool zepi_host_memory_is_registered(const struct zepi_context *context, const char *memory,
                                    size_t size_bytes);

// Hints that copies of the memory will be many, and will be no more. A driver that has no use for
// them, or none for this memory, is no failure.
zepi_result_t zepi_host_memory_import(struct zepi_context *context, void *memory,
                                      size_t size_bytes);
zepi_result_t zepi_host_memory_release(struct zepi_context *context, void *memory);

#endif
