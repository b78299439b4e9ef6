// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_ARGUMENTS_H
#define DRM_SHIM_ARGUMENTS_H

#include "engine/kernels.h"
#include "kernels/images.h"
#include "kernels/known_modules.h"

// The values in a walker's payload, by the kernel's .ze_info.

// Copies `size_bytes` at the offset, which may begin in the inline data and end in the indirect
// data. False where the payload has none.
bool shim_payload_copy(const struct shim_kernel_info *info, const struct shim_walker *walker,
                       uint32_t offset, uint32_t size_bytes, void *out);

void shim_payload_global_offset(const struct shim_kernel_info *info,
                                const struct shim_walker *walker, uint32_t out_offset[3]);

// The group size: the one that the kernel requires, else what the payload or the walker tells, as
// far as the kernel can see it.
void shim_payload_group_size(const struct shim_kernel_info *info, const struct shim_walker *walker,
                             uint32_t out_size[3]);

// Under the kernel's mutex: sets all arguments of its CPU kernel from the payload. An argument that
// the machine code does not use is not in the payload: it gets zeros. Images and samplers are added
// to `images`, which the caller finishes behind the launch. False: an argument cannot be set;
// logged with the kernel's name.
bool shim_arguments_set(struct shim_known_kernel *kernel, struct shim_address_space *space,
                        const struct shim_walker *walker, struct shim_images *images);

#endif
