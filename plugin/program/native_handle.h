// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_HANDLE_H
#define ZEPI_PROGRAM_NATIVE_HANDLE_H

#include <zepi/zepi.h>

struct zepi_module;

// ze_modules that come in from the host, and that go out to it. Any thread.

zepi_result_t zepi_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                             void *native_handle, zepi_module_state_t state,
                                             zepi_ownership_t ownership, zepi_module_t *out_module);
// The native handle of an object or executable.
zepi_result_t zepi_module_get_native(struct zepi_module *module, uint32_t device_index,
                                     void **out_native_handle);

#endif
