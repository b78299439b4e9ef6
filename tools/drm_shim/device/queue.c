// SPDX-License-Identifier: MIT
#include "queue.h"

#include "faults.h"
#include "handles.h"
#include "log.h"
#include "memory/watch.h"
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>

static struct shim_handles engines = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint32_t queue_count;

int shim_queue_create(const struct shim_node *node, struct shim_address_space *space,
                      const char *kind, uint32_t *out_id)
{
    // Numbers are not used again, so that the trace is clear.
    const uint32_t queue = atomic_fetch_add(&queue_count, 1) + 1;
    struct shim_engine *engine = shim_engine_create(space, node->product, queue);
    if (engine == NULL)
        return ENOMEM;
    *out_id = shim_handles_add(&engines, engine);
    if (*out_id == 0) {
        shim_engine_destroy(engine);
        return ENOMEM;
    }
    shim_trace("queue %u %s", queue, kind);
    return 0;
}

int shim_queue_destroy(uint32_t id)
{
    struct shim_engine *engine = shim_handles_remove(&engines, id);
    shim_engine_destroy(engine);
    return engine == NULL ? ENOENT : 0;
}

struct shim_engine *shim_queue_find(uint32_t id)
{
    return shim_handles_find(&engines, id);
}

int shim_queue_submit(struct shim_engine *engine, const struct shim_job *job)
{
    const int fault = shim_fault_take(SHIM_FAULT_EXECUTE);
    if (fault == EIO || fault == ENODEV || fault == ECANCELED)
        shim_engine_lose(engine, "by a fault");
    if (fault != 0)
        return fault;
    shim_log(SHIM_LOG_IOCTL, "submit: batch 0x%" PRIx64 " fence 0x%" PRIx64 " = %" PRIu64,
             job->batch, job->fence_address, job->fence_value);
    shim_watches_notify_all();
    return shim_engine_submit(engine, job);
}
