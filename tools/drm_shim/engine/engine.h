// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_ENGINE_H
#define DRM_SHIM_ENGINE_H

#include "memory/address_space.h"
#include "products.h"

// An execution queue of the kernel: batch buffers one after the other, in a thread of its own. A
// queue whose commands wait or whose kernel runs stops no other.
struct shim_engine;

struct shim_job {
    uint64_t batch;         // GPU address; 0: only the fence
    uint64_t fence_address; // GPU address, 0: none
    uint64_t fence_value;   // written when the batch is done
    uint64_t number;        // for shim_engine_has_ended; 0: none
};

// `queue` is its number in the trace. NULL without memory or threads.
struct shim_engine *shim_engine_create(struct shim_address_space *space,
                                       const struct shim_product *product, uint32_t queue);

// Stops the queue between two commands: jobs that wait are dropped, and their fences are never
// written. A kernel that runs on the CPU is waited for, for two seconds at most; after that it is
// left to itself. NULL is fine.
void shim_engine_destroy(struct shim_engine *engine);

// 0, ENOMEM, or ECANCELED if the queue is lost.
int shim_engine_submit(struct shim_engine *engine, const struct shim_job *job);
// Whether the job with a number and all before it are over, or dropped. Numbers grow.
bool shim_engine_has_ended(struct shim_engine *engine, uint64_t number);
// Waits until no queue goes on, each has ended its jobs or waits for memory; or for the timeout.
void shim_engines_settle(int64_t timeout_ns);

// The queue did something that a GPU does not survive: a command that is not known, a page fault, a
// kernel that did not end. It takes no more work ("banned", in the kernel's words).
bool shim_engine_is_lost(struct shim_engine *engine);
// As if the GPU had been reset.
void shim_engine_lose(struct shim_engine *engine, const char *reason);

#endif
