// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_BUFFER_H
#define DRM_SHIM_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

// Buffer objects ("GEM"), by their handles. Thread-safe.
struct shim_buffer {
    uint64_t offset, size; // in the arena
    uint64_t serial;       // of the memory; not used again
    bool is_vram;          // can only lie there
    bool is_shared;        // another handle may name the same memory
};

// 0 or an error number; ENOMEM also when the device's memory is all taken.
int shim_buffer_create(uint64_t size, bool is_vram, uint32_t *out_handle);
bool shim_buffer_find(uint32_t handle, struct shim_buffer *out_buffer);
// The memory is free when no handle names it any more.
int shim_buffer_close(uint32_t handle);
// Another handle of memory that still has one: 0, ENOENT or ENOMEM.
int shim_buffer_share(uint64_t serial, uint32_t *out_handle);
uint64_t shim_buffers_vram_used(void);

#endif
