// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MENDED_H
#define ZE_CPU_MENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The OpenCL runtime's compiler breaks two things in kernels that use sub-groups. Shuffles may move
// into a branch that uses their result and that other items do not take: XLA's sums, of which one
// item writes the result. And where some items may reach OpUnreachable, as behind a failed
// assertion, those that do not lose what they exchange later and what they store: oneDPL's scan in
// Open3D. Such kernels get SPIR-V in which each shuffle is followed by one that cannot move (down,
// by 0 items). In modules that require sizes of sub-groups OpUnreachable is a return. The compiler
// then takes far longer, so that other modules keep it: more than 44 seconds of processor time, in
// place of 3, for two kernels of oneDPL's scan.

// The SPIR-V has passed zepi's walk, and its words are aligned. On success *out_spirv is such a
// copy, which the caller frees, or NULL if the SPIR-V is right as it is. False without memory.
bool cpu_mended_create(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                       size_t *out_size_bytes);

#endif
