// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_ARENA_H
#define DRM_SHIM_ARENA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define SHIM_ARENA_BARRIER_OFFSET 0u // of the page that stands for the PCI barrier
#define SHIM_ARENA_FIRST_OFFSET 65536u

// The memory of all buffers: one sparse file in memory. Descriptors of render nodes are of this
// file, so that the driver's mmap() with a buffer's offset needs no help; the position in the file,
// which nothing else uses, is the number of the node. All functions are
// thread-safe; the file is made by the first one.

// A new descriptor of a render node, by its number; -1 with errno.
int shim_arena_open(uint32_t node);
bool shim_arena_has_descriptor(int fd);
// The number of a descriptor's node; -1: it is none of a node.
int shim_arena_node(int fd);

// Zeroed memory of a size in pages; its offset in the file, 0 without memory.
uint64_t shim_arena_take(uint64_t size);
// Its contents stay until the place is used again: a mapping may outlive its buffer's handle.
void shim_arena_give(uint64_t offset, uint64_t size);

// Where an offset lies in this process.
uint8_t *shim_arena_bytes(uint64_t offset);
// Maps memory of the arena at an address that the driver has reserved. False with a report.
bool shim_arena_map_at(uint64_t address, uint64_t size, uint64_t offset);

#endif
