// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_QUEUE_H
#define DRM_SHIM_QUEUE_H

#include "engine/engine.h"
#include "node.h"

// Execution queues by their numbers. Functions with a result of int return 0 or an error number.

// `engine_class` is that of its engine, which both kernel drivers number alike; for the trace.
int shim_queue_create(const struct shim_node *node, struct shim_address_space *space,
                      uint16_t engine_class, uint32_t *out_id);
int shim_queue_destroy(uint32_t id);

// Borrowed; NULL if there is no such number.
struct shim_engine *shim_queue_find(uint32_t id);

// A fault that is asked for refuses the job; some faults lose the queue, and a reset of the GPU
// loses all queues with jobs.
int shim_queue_submit(const struct shim_node *node, struct shim_engine *engine,
                      const struct shim_job *job);

#endif
