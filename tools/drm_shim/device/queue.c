// SPDX-License-Identifier: MIT
#include "queue.h"

#include "engine/engine.h"
#include "faults.h"
#include "gpu_clock.h"
#include "handles.h"
#include "log.h"
#include "memory/watch.h"
#include "product.h"
#include "trace.h"
#include "vm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>

static struct shim_handles engines = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint32_t queue_count;

static const char *class_name(uint16_t engine_class)
{
    switch (engine_class) {
    case DRM_XE_ENGINE_CLASS_RENDER:
        return "render";
    case DRM_XE_ENGINE_CLASS_COPY:
        return "copy";
    case DRM_XE_ENGINE_CLASS_COMPUTE:
        return "compute";
    default:
        return "other";
    }
}

int shim_queue_create(struct drm_xe_exec_queue_create *create)
{
    struct shim_address_space *space = shim_vm_find(create->vm_id);
    const struct drm_xe_engine_class_instance *where = (const void *)(uintptr_t)create->instances;
    if (space == NULL || where == NULL)
        return EINVAL;
    // Numbers are not used again, so that the trace is clear.
    const uint32_t queue = atomic_fetch_add(&queue_count, 1) + 1;
    struct shim_engine *engine = shim_engine_create(space, shim_product(), queue);
    if (engine == NULL)
        return ENOMEM;
    create->exec_queue_id = shim_handles_add(&engines, engine);
    if (create->exec_queue_id == 0) {
        shim_engine_destroy(engine);
        return ENOMEM;
    }
    shim_trace("queue %u %s", queue, class_name(where->engine_class));
    return 0;
}

int shim_queue_destroy(const struct drm_xe_exec_queue_destroy *destroy)
{
    struct shim_engine *engine = shim_handles_remove(&engines, destroy->exec_queue_id);
    shim_engine_destroy(engine);
    return engine == NULL ? ENOENT : 0;
}

int shim_queue_execute(const struct drm_xe_exec *execute)
{
    struct shim_engine *engine = shim_handles_find(&engines, execute->exec_queue_id);
    if (engine == NULL)
        return ENOENT;
    const int fault = shim_fault_take(SHIM_FAULT_EXECUTE);
    if (fault == EIO || fault == ENODEV || fault == ECANCELED)
        shim_engine_lose(engine, "by a fault");
    if (fault != 0)
        return fault;
    struct shim_job job = {.batch = execute->num_batch_buffer > 0 ? execute->address : 0};
    const struct drm_xe_sync *syncs = (const void *)(uintptr_t)execute->syncs;
    for (uint32_t i = 0; i < execute->num_syncs; i++) {
        if (syncs[i].type != DRM_XE_SYNC_TYPE_USER_FENCE ||
            (syncs[i].flags & DRM_XE_SYNC_FLAG_SIGNAL) == 0 || job.fence_address != 0) {
            shim_error("EXEC: a sync of type %u with flags 0x%x is not known", syncs[i].type,
                       syncs[i].flags);
            return EINVAL;
        }
        job.fence_address = syncs[i].addr;
        job.fence_value = syncs[i].timeline_value;
    }
    shim_log(SHIM_LOG_IOCTL, "exec: queue %u batch 0x%" PRIx64 " fence 0x%" PRIx64 " = %" PRIu64,
             execute->exec_queue_id, job.batch, job.fence_address, job.fence_value);
    shim_watches_notify_all();
    return shim_engine_submit(engine, &job);
}

int shim_queue_get_property(struct drm_xe_exec_queue_get_property *property)
{
    struct shim_engine *engine = shim_handles_find(&engines, property->exec_queue_id);
    if (engine == NULL)
        return ENOENT;
    if (property->property != DRM_XE_EXEC_QUEUE_GET_PROPERTY_BAN)
        return EINVAL;
    property->value = shim_engine_is_lost(engine);
    shim_log(SHIM_LOG_IOCTL, "queue %u is %s", property->exec_queue_id,
             property->value != 0 ? "lost" : "alive");
    return 0;
}

static bool is_reached(const struct drm_xe_wait_user_fence *wait)
{
    const uint64_t *at = (const uint64_t *)(uintptr_t)wait->addr;
    const uint64_t is = __atomic_load_n(at, __ATOMIC_ACQUIRE) & wait->mask;
    const uint64_t wanted = wait->value & wait->mask;
    switch (wait->op) {
    case DRM_XE_UFENCE_WAIT_OP_EQ:
        return is == wanted;
    case DRM_XE_UFENCE_WAIT_OP_NEQ:
        return is != wanted;
    case DRM_XE_UFENCE_WAIT_OP_GT:
        return is > wanted;
    case DRM_XE_UFENCE_WAIT_OP_GTE:
        return is >= wanted;
    case DRM_XE_UFENCE_WAIT_OP_LT:
        return is < wanted;
    default:
        return is <= wanted;
    }
}

static int64_t deadline_of(const struct drm_xe_wait_user_fence *wait)
{
    int64_t deadline_ns = wait->timeout;
    const bool is_absolute = (wait->flags & DRM_XE_UFENCE_WAIT_FLAG_ABSTIME) != 0;
    if (wait->timeout < 0 ||
        (!is_absolute && __builtin_add_overflow(shim_now_ns(), wait->timeout, &deadline_ns)))
        return INT64_MAX;
    return deadline_ns;
}

int shim_fence_wait(const struct drm_xe_wait_user_fence *wait)
{
    if (wait->op > DRM_XE_UFENCE_WAIT_OP_LTE || (wait->addr & 7) != 0)
        return EINVAL;
    struct shim_engine *engine =
        wait->exec_queue_id == 0 ? NULL : shim_handles_find(&engines, wait->exec_queue_id);
    if (wait->exec_queue_id != 0 && engine == NULL)
        return ENOENT;
    shim_log(SHIM_LOG_IOCTL,
             "wait: queue %u, value at 0x%" PRIx64 " operation %u with %" PRIu64
             ", timeout %" PRId64 " ns",
             wait->exec_queue_id, (uint64_t)wait->addr, wait->op, (uint64_t)wait->value,
             (int64_t)wait->timeout);
    const int64_t deadline_ns = deadline_of(wait);
    struct shim_watch watch;
    shim_watch_init(&watch);
    int error = 0;
    shim_watches_notify_all();
    while (!is_reached(wait) && error == 0) {
        if (engine != NULL && shim_engine_is_lost(engine))
            error = EIO;
        else if (shim_now_ns() >= deadline_ns)
            error = ETIME;
        else // the program's address of the fence is not the engine's: any write may be it
            shim_watch_wait(&watch, NULL, deadline_ns);
    }
    shim_watch_finish(&watch);
    return error;
}
