// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_BUFFER_H
#define DRM_SHIM_BUFFER_H

#include "node.h"

#include <stdbool.h>
#include <stdint.h>

// Buffer objects ("GEM"), by their handles. Thread-safe.
struct shim_buffer {
    uint64_t offset, size; // in the arena
    uint8_t *user;         // the program's own memory; NULL: in the arena
    uint64_t serial;       // of the memory; not used again
    uint32_t node;         // its number
    uint32_t region;       // where it lies: SHIM_REGION_SYSTEM, or memory of a tile
    bool is_shared;        // another handle may name the same memory
};

// Regions of memory: the system's, which all nodes have in common, and one a tile from
// SHIM_REGION_VRAM on.
enum { SHIM_REGION_SYSTEM, SHIM_REGION_VRAM };

// 0 or an error number; ENOMEM also when the device's memory there is all taken. That of integrated
// devices is the system's.
int shim_buffer_create(const struct shim_node *node, uint64_t size, uint32_t region,
                       uint32_t *out_handle);
// Memory of the program ("userptr"), which is the system's.
int shim_buffer_create_user(const struct shim_node *node, uint8_t *bytes, uint64_t size,
                            uint32_t *out_handle);
bool shim_buffer_find(uint32_t handle, struct shim_buffer *out_buffer);
// Where it lies in this process.
uint8_t *shim_buffer_bytes(const struct shim_buffer *buffer);
// The memory is free when no handle names it any more.
int shim_buffer_close(uint32_t handle);
// Another handle of memory that still has one: 0, ENOENT or ENOMEM.
int shim_buffer_share(uint64_t serial, uint32_t *out_handle);
uint64_t shim_buffers_used(const struct shim_node *node, uint32_t region);

#endif
