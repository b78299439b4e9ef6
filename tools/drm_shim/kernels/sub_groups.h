// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_SUB_GROUPS_H
#define DRM_SHIM_SUB_GROUPS_H

#include "kernels/module_inputs.h"
#include "kernels/ze_info.h"

// Where a kernel requires no sub-group size, Intel's compiler chose one, and the CPU's would choose
// another. So the CPU's compiler gets SPIR-V in which each kernel that may depend on the size
// requires that of its machine code. Kernels that call functions by pointers, but know nothing of
// sub-groups, require 1.

// On success *out_spirv is such a copy of the input's SPIR-V, which the caller frees, or NULL if
// the SPIR-V is right as it is: it knows nothing of either, or its kernels require sizes. False
// without memory.
bool shim_sub_groups_require(const struct shim_module_input *input, const struct shim_ze_info *info,
                             uint8_t **out_spirv, size_t *out_size_bytes);

#endif
