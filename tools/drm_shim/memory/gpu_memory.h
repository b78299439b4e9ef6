// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_GPU_MEMORY_H
#define DRM_SHIM_GPU_MEMORY_H

#include "address_space.h"

#include <stddef.h>

// An engine's accesses to memory. An address where nothing is bound is a page fault of the GPU: the
// functions report it and return false (or NULL), and the engine that asked is lost.

// `size` bytes in one binding.
void *shim_gpu_memory_at(struct shim_address_space *space, uint64_t address, uint64_t size);

// A value of 4 or 8 bytes, whole.
bool shim_gpu_memory_read(struct shim_address_space *space, uint64_t address, uint32_t size,
                          uint64_t *out_value);
bool shim_gpu_memory_write(struct shim_address_space *space, uint64_t address, uint64_t value,
                           uint32_t size);

bool shim_gpu_memory_copy(struct shim_address_space *space, uint64_t to, uint64_t from,
                          uint64_t size);
// Repeats a pattern of `width` bytes (1 to 16).
bool shim_gpu_memory_fill(struct shim_address_space *space, uint64_t to, uint64_t size,
                          const void *pattern, uint32_t width);

// MI_ATOMIC: an operation by its number on 4 or 8 bytes; `operands` are its two sources.
bool shim_gpu_memory_atomic(struct shim_address_space *space, uint64_t address, uint32_t size,
                            uint32_t operation, const uint64_t operands[2], uint64_t *out_old);

#endif
