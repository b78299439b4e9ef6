// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MENDED_H
#define ZE_CPU_MENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The OpenCL runtime's compiler moves shuffles of sub-groups into a branch that uses their result
// and that other items do not take: XLA's sums, of which one item writes the result. Such kernels
// get SPIR-V in which each shuffle is followed by one that cannot move (down, by 0 items).
//
// It breaks one thing more, which is left as it is: where some items may reach OpUnreachable, as
// behind a failed assertion, those that do not reach it lose what they exchange later (oneDPL's
// scan in Open3D). A return in its place is right, but the compiler takes more than 44 seconds of
// processor time then, in place of 3, for two kernels of that scan.

// The SPIR-V has passed zepi's walk, and its words are aligned. On success *out_spirv is such a
// copy, which the caller frees, or NULL if the SPIR-V is right as it is. False without memory.
bool cpu_mended_create(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                       size_t *out_size_bytes);

#endif
