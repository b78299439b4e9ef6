// SPDX-License-Identifier: MIT
#include "queue.h"

#include "faults.h"
#include "handles.h"
#include "memory/watch.h"
#include "trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
    struct shim_engine *engine; // owned
    const struct shim_node *node;
};

static struct shim_handles queues = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint32_t queue_count;

int shim_queue_create(const struct shim_node *node, struct shim_address_space *space,
                      uint16_t engine_class, uint32_t *out_id)
{
    static const char *const classes[] = {"render", "copy", "other", "other", "compute"};
    // Numbers are not used again, so that the trace is clear.
    const uint32_t number = atomic_fetch_add(&queue_count, 1) + 1;
    struct queue *queue = malloc(sizeof(*queue));
    if (queue == NULL)
        return ENOMEM;
    *queue = (struct queue){shim_engine_create(space, node->product, number), node};
    *out_id = queue->engine == NULL ? 0 : shim_handles_add(&queues, queue);
    if (*out_id == 0) {
        shim_engine_destroy(queue->engine);
        free(queue);
        return ENOMEM;
    }
    shim_trace("queue %u %s", number, engine_class < 5 ? classes[engine_class] : "other");
    return 0;
}

int shim_queue_destroy(uint32_t id)
{
    struct queue *queue = shim_handles_remove(&queues, id);
    if (queue == NULL)
        return ENOENT;
    shim_engine_destroy(queue->engine);
    free(queue);
    return 0;
}

struct shim_engine *shim_queue_find(uint32_t id)
{
    const struct queue *queue = shim_handles_find(&queues, id);
    return queue == NULL ? NULL : queue->engine;
}

// Jobs that the GPU had are lost with their queues.
static void reset(const struct shim_node *node)
{
    pthread_mutex_lock(&queues.mutex); // no queue is destroyed meanwhile
    for (uint32_t i = 0; i < queues.capacity; i++) {
        const struct queue *queue = queues.items[i];
        if (queue != NULL && queue->node == node &&
            !shim_engine_has_ended(queue->engine, UINT64_MAX))
            shim_engine_lose(queue->engine, "by a reset");
    }
    pthread_mutex_unlock(&queues.mutex);
}

int shim_queue_submit(const struct shim_node *node, struct shim_engine *engine,
                      const struct shim_job *job)
{
    const int fault = shim_fault_take(SHIM_FAULT_EXECUTE);
    if (fault == EIO || fault == ENODEV || fault == ECANCELED)
        shim_engine_lose(engine, "by a fault");
    if (fault != 0)
        return fault;
    shim_watches_notify_all();
    // The one that brings it about is taken.
    if (shim_fault_take(SHIM_FAULT_RESET) != 0) {
        reset(node);
        shim_engine_lose(engine, "by a reset");
        return 0;
    }
    return shim_engine_submit(engine, job);
}
