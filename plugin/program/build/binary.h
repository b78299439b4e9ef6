// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BINARY_H
#define ZEPI_PROGRAM_BUILD_BINARY_H

#include "cache/key.h"
#include "program/build/device_module.h"

struct zepi_compile;

// Code of one ze_module: from the binary cache or the disk, else compiled, once in the process.
// `key` has the inputs beside the device; the caller finishes it. `spirv` is
// that of the inputs, in their order. Appends the compiler's log, the same from every level.
// *out_device_module is owned.
zepi_result_t zepi_binary_build(const struct zepi_compile *compile, struct zepi_key *key,
                                struct zepi_blob *const *spirv, struct zepi_text *log,
                                struct zepi_device_module **out_device_module);

#endif
