// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_STREAMER_H
#define DRM_SHIM_STREAMER_H

#include "memory/address_space.h"
#include "registers.h"
#include "walkers.h"

#define SHIM_STREAMER_DEPTH 8

// A command streamer: walks a batch buffer and carries out its commands in memory. It knows no
// threads: an engine calls it, as tests do. Commands are named as in Intel's public documentation
// of the hardware ("Command Reference: Instructions").
struct shim_streamer {
    struct shim_address_space *space; // borrowed
    uint32_t queue;                   // in the trace
    uint64_t pc;                      // GPU address of the next command
    uint64_t returns[SHIM_STREAMER_DEPTH];
    uint32_t depth;
    const uint8_t *code; // where pc lies; NULL: to be found
    uint64_t left;       // bytes of one binding from there on
    uint32_t predicate;  // mode of MI_SET_PREDICATE
    struct shim_bases bases;
    uint64_t command_count; // done so far
    const void *awaited;    // the memory that a semaphore waits for; NULL: none
    struct shim_registers registers;
    struct shim_walkers walkers;
};

enum shim_progress {
    SHIM_GOES_ON, // there are more commands
    SHIM_WAITS,   // for memory (`awaited`), or for kernels that are under way
    SHIM_ENDED,   // all commands and kernels of the batch are done
    SHIM_FAILED,  // a command is not known or met a page fault; it has been reported
};

void shim_streamer_init(struct shim_streamer *streamer, struct shim_address_space *space,
                        const struct shim_product *product, uint32_t queue);
// Registers and bases keep what earlier batches left.
void shim_streamer_begin(struct shim_streamer *streamer, uint64_t batch);
// Runs commands until they wait or end, for a while: then it returns SHIM_GOES_ON, so that the
// caller can see whether to stop.
enum shim_progress shim_streamer_run(struct shim_streamer *streamer);

#endif
