// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_NATIVE_SYMBOLS_H
#define ZEPI_PROGRAM_BUILD_NATIVE_SYMBOLS_H

#include "cache/build_cache.h"
#include "program/build/device_module.h"
#include "program/native/symbols.h"

// Native code of an object does not name its imports and exports, and a driver with
// the quirk untold-imports cannot be asked.
// So the linkage table of the SPIR-V that it was made from is kept in the binary cache,
// under the digest of the native code, when that is handed to the host. Any thread.

// Keeps the table of an object's native code. A failure is not kept.
void zepi_native_symbols_keep(struct zepi_digest native, const struct zepi_spirv *spirv);

// The table of a ze_module of native code, as it was kept or as the driver tells: a reference,
// whose payload zepi_native_symbols_add reads. NULL: unknown.
struct zepi_build_result *zepi_native_symbols_find(const struct zepi_device_module *device_module,
                                                   const struct zepi_ze_module *ze_module);

// Adds the symbols, borrowed from the table. False without memory (noted).
bool zepi_native_symbols_add(struct zepi_symbols *symbols, const struct zepi_build_result *table,
                             uint32_t member, uint32_t object);

#endif
