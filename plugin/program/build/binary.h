// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BINARY_H
#define ZEPI_PROGRAM_BUILD_BINARY_H

#include "cache/key.h"
#include "program/build/text.h"

struct zepi_context;
struct zepi_device;

// Makes the ze_module from source: compiles, or links SPIR-V. Appends the driver's messages to
// `log` in any case.
typedef zepi_result_t zepi_binary_make_fn(void *user, struct zepi_text *log,
                                          ze_module_handle_t *out_module);

struct zepi_binary_source {
    struct zepi_context *context;
    const struct zepi_device *device;
    zepi_binary_make_fn *make;
    void *user; // borrowed for the call
};

// A ze_module, owned, for the sealed key: loaded from the binary cache or the
// disk, else made from the source, once in the process. Appends the maker's log, the same from
// every level. *out_size_bytes is that of the native code, 0 if the driver returns none.
zepi_result_t zepi_binary_get(const struct zepi_binary_source *source, const struct zepi_key *key,
                              struct zepi_text *log, ze_module_handle_t *out_module,
                              uint64_t *out_size_bytes);

#endif
