// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_WALKERS_H
#define DRM_SHIM_WALKERS_H

#include "commands.h"
#include "memory/address_space.h"
#include "products.h"
#include "registers.h"

#include <stddef.h>

#define SHIM_WALKERS_MAXIMUM 64

// Where the addresses in commands and states begin (STATE_BASE_ADDRESS). Those of states count for
// offsets in payloads, too.
struct shim_bases {
    uint64_t general, instruction;
    uint64_t surface; // of binding tables, and of the states that they name
    uint64_t surface_states, sampler_states;
    uint64_t dynamic;               // of sampler states in tables
    uint64_t indirect, descriptors; // Gen12LP
};

// A kernel that was started and is not over yet.
struct shim_started_walker {
    struct shim_walker_head head; // the command
    struct shim_walker_tail tail;
    uint64_t number; // in the trace
    struct shim_bases bases;
    uint32_t groups[3];
    uint64_t start, due; // GPU time
    bool hangs;
    uint32_t partition; // the tile's number, where tiles share the kernel
};

// The kernels that are under way on one engine. A kernel that takes time (DRM_SHIM_KERNEL_US) is
// executed at the end of that time; until then the commands behind it go on, as on a GPU, until one
// that waits for it. So a barrier that is missing shows as wrong memory.
struct shim_walkers {
    struct shim_address_space *space; // borrowed
    const struct shim_product *product;
    uint32_t queue;                                         // in the trace
    struct shim_started_walker items[SHIM_WALKERS_MAXIMUM]; // in the order of their start
    size_t count;
};

// Builds the kernel of a command ahead, if it can be executed: its start says if not.
void shim_walkers_prepare(const struct shim_walkers *walkers, const struct shim_bases *bases,
                          const uint32_t *words, uint32_t length);

// Starts a kernel; there has to be room. False if the command is not known.
bool shim_walkers_start(struct shim_walkers *walkers, const struct shim_registers *registers,
                        const struct shim_bases *bases, const uint32_t *words, uint32_t length);

// Ends the kernels whose time is over. False if one of them cannot be executed, or its memory is
// not bound.
bool shim_walkers_end_due(struct shim_walkers *walkers);

// GPU time when the next one ends; UINT64_MAX if none does.
uint64_t shim_walkers_next_due(const struct shim_walkers *walkers);
bool shim_walkers_hang(const struct shim_walkers *walkers);

#endif
