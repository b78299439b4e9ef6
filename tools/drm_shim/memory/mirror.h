// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_MIRROR_H
#define DRM_SHIM_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

// GPU addresses as addresses of the process. With OverrideGpuAddressSpace=47 the driver reserves
// its GPU addresses in the process (without access); memory that is bound there is mapped there
// too, so that a kernel on the CPU finds the memory of each pointer. mmap() and munmap() of the
// process are replaced to see the reservations. Thread-safe.

// Maps memory that is about to be bound; true if the CPU then finds it at the GPU's address.
bool shim_mirror_bind(uint64_t address, uint64_t size, uint64_t arena_offset);
void shim_mirror_unbind(uint64_t address, uint64_t size);

#endif
