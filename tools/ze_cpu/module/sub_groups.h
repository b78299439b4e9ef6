// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_SUB_GROUPS_H
#define ZE_CPU_SUB_GROUPS_H

#include "plugin/spirv/spirv.h"

// Where a kernel requires no sub-group size, a compiler chooses one, and that for CPUs chooses
// another than that of a GPU, for which the kernel was written. So it gets SPIR-V in which each
// kernel that may depend on the size requires one. Kernels that call functions by pointers, but
// know nothing of sub-groups, require 1. tools/drm_shim uses this too.

// Whether this capability is one of sub-groups.
bool cpu_sub_groups_need(uint32_t capability);

// The size for a kernel without a required one. 0: none is required.
typedef uint32_t (*cpu_sub_group_choice)(const void *context, const char *kernel);

// `walk` is that of the SPIR-V, whose words are aligned. On success *out_spirv is such a copy,
// which the caller frees, or NULL if the SPIR-V is right as it is: it knows nothing of either, or
// its kernels require sizes. False without memory.
bool cpu_sub_groups_require(const void *spirv, size_t spirv_bytes, const struct zepi_spirv *walk,
                            cpu_sub_group_choice choose, const void *context, uint8_t **out_spirv,
                            size_t *out_size_bytes);

#endif
