// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BINARY_H
#define ZEPI_PROGRAM_BUILD_BINARY_H

#include "cache/key.h"
#include "program/build/device_module.h"

// Makes the ze_module from source: compiles, or links SPIR-V. Appends the driver's messages to
// `log` in any case.
typedef zepi_result_t zepi_binary_make_fn(void *user, struct zepi_text *log,
                                          ze_module_handle_t *out_module);

struct zepi_binary_source {
    struct zepi_context *context;
    struct zepi_device *device;
    zepi_binary_make_fn *make;
    void *user; // borrowed for the call
};

// Code of one ze_module, made of these SPIR-V modules: from the binary cache or the disk, else made
// from the source, once in the process. `key` has the inputs beside the device; it is sealed here,
// and the caller finishes it. Appends the maker's log, the same from every level. *out_size_bytes
// is that of the native code, 0 if the driver returns none. *out_device_module is owned.
zepi_result_t zepi_binary_build(const struct zepi_binary_source *source, struct zepi_key *key,
                                uint32_t spirv_count, struct zepi_blob *const *spirv,
                                struct zepi_text *log,
                                struct zepi_device_module **out_device_module,
                                uint64_t *out_size_bytes);

#endif
