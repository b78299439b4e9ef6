// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_KERNELS_H
#define DRM_SHIM_KERNELS_H

#include "memory/address_space.h"

// A kernel as COMPUTE_WALKER starts it. Pointers are borrowed for the call.
struct shim_walker {
    uint64_t start; // GPU address of the first instruction
    uint32_t groups[3], local[3];
    struct {
        uint32_t dimension, first, count;
    } part;         // of the groups: those that this tile executes
    bool has_local; // `local` is valid: the hardware makes local ids of it
    uint32_t threads, simd, mask, slm_bytes;
    uint32_t register_bytes;
    bool begins_at_payload;                // `indirect` does, behind implicit arguments (Gen12LP)
    const uint8_t *inline_data, *indirect; // the payload
    uint32_t inline_size, indirect_size;
    uint64_t indirect_left;          // bytes from `indirect` on that are bound
    uint64_t sampler_table;          // GPU address of states one behind the other
    uint64_t binding_table, surface; // GPU addresses: the table, and what its entries count from
    uint64_t surface_states, sampler_states; // GPU addresses that offsets of states count from
};

// Finds the kernel by its machine code and builds it for the CPU, unless that was done before: the
// engine calls this before the time at which the kernel begins. False if it cannot be executed; the
// reason has been reported by shim_error.
bool shim_kernel_prepare(struct shim_address_space *space, const struct shim_walker *walker);

// Executes a kernel, in the thread of its engine and with no lock held; other engines go on. False
// if it cannot be executed: the engine is lost. The reason has been reported by shim_error.
bool shim_kernel_run(struct shim_address_space *space, const struct shim_walker *walker);

#endif
