// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BINARY_CACHE_H
#define ZEPI_PROGRAM_BUILD_BINARY_CACHE_H

#include "cache/build_cache.h"
#include "cache/disk/disk.h"
#include "cache/shared/shared.h"

#include "core/status.h"

struct zepi_device;

// The binary cache of the process: native code and logs. Behind it the disk, and behind that the
// store that machines share, if there is one. Contexts, and devices of one identity, share it. The
// payload of its results is native code (zepi_build_result_stored); of no bytes if the driver has
// none: such a result says only that the compiler is content. Any thread.

// NULL without memory (noted).
struct zepi_build_cache *zepi_binary_cache(void);
struct zepi_build_budget *zepi_binary_budget(void); // after a successful zepi_binary_cache
struct zepi_disk *zepi_binary_disk(void); // NULL: there is no folder, or it is switched off
// Whether the shared store can be used now, in words: asks its server.
void zepi_binary_describe_shared(char out_state[ZEPI_SHARED_TEXT_BYTES]);

// Fills an output with native code, which is copied. Returns false without memory.
bool zepi_binary_set(struct zepi_build_output *output, const void *bytes, size_t size_bytes);

// Adds to a key the properties that decide the native code of a device beside the input: vendor,
// device and IP version, the driver with its version. The compiler's identity
// (device/compiler_identity.h) is part of the key on disk alone: in one process a driver has one
// compiler.
void zepi_key_add_device(struct zepi_key *key, const struct zepi_device *device);

#endif
