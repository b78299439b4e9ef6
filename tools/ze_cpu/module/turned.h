// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TURNED_H
#define ZE_CPU_TURNED_H

#include "source.h"

// The OpenCL runtime cuts groups into sub-groups along the first dimension alone: in a group of 1 x
// 64 items each is a sub-group of its own. A GPU cuts the items in their linear order. SYCL numbers
// dimensions the other way round, so that a range of 64 x 1 there is 1 x 64 here. Kernels that use
// sub-groups are therefore built a second time for such groups, when the first is launched, with
// the first dimension and another one in each other's place, and are launched so.

// Whether the kernels of the source use sub-groups and can be turned. False without memory.
bool cpu_source_can_be_turned(const struct cpu_source *source);

// SPIR-V with this kernel alone, in which dimension 0 and `dimension`, 1 or 2, are exchanged. Owned
// by the caller; NULL without memory.
uint8_t *cpu_source_turn(const struct cpu_source *source, const char *kernel, unsigned dimension,
                         size_t *out_bytes);

#endif
