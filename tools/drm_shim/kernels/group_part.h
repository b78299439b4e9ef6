// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_GROUP_PART_H
#define DRM_SHIM_GROUP_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A tile of a GPU executes a part of a kernel's groups, and OpenCL launches a kernel as a whole. So
// kernels get SPIR-V in which each has three more arguments, of 64 bits: a dimension, the first
// group there, and a number of groups. Other groups return at once.
#define SHIM_GROUP_PART_ARGUMENTS 3

// The SPIR-V has passed zepi's walk, and its words are aligned. On success *out_spirv is such a
// copy, which the caller frees, or NULL if there is no kernel. False without memory.
bool shim_group_part_add(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                         size_t *out_size_bytes);

#endif
