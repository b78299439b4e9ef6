// SPDX-License-Identifier: MIT
#include "xe.h"

#include "buffer.h"
#include "faults.h"
#include "gpu_clock.h"
#include "handles.h"
#include "log.h"
#include "memory/arena.h"
#include "memory/watch.h"
#include "queue.h"
#include "vm.h"
#include "xe_query.h"

#include <drm/xe_drm.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static int create_buffer(const struct shim_node *node, struct drm_xe_gem_create *create)
{
    // A mask of regions; memory that may lie in the system's lies there.
    if (create->placement == 0)
        return EINVAL;
    return shim_buffer_create(node, create->size, (uint32_t)__builtin_ctz(create->placement),
                              &create->handle);
}

static int map_buffer(struct drm_xe_gem_mmap_offset *map)
{
    if (map->flags & DRM_XE_MMAP_OFFSET_FLAG_PCI_BARRIER) {
        map->offset = SHIM_ARENA_BARRIER_OFFSET;
        return 0;
    }
    struct shim_buffer buffer;
    if (!shim_buffer_find(map->handle, &buffer))
        return ENOENT;
    map->offset = buffer.offset;
    return 0;
}

static int bind_buffer(struct shim_address_space *space, const struct drm_xe_vm_bind_op *op)
{
    if (op->flags & DRM_XE_VM_BIND_FLAG_NULL)
        return shim_address_space_unbind(space, op->addr, op->range) ? 0 : ENOMEM;
    if (op->flags & (DRM_XE_VM_BIND_FLAG_CPU_ADDR_MIRROR | DRM_XE_VM_BIND_FLAG_DECOMPRESS))
        return EOPNOTSUPP;
    struct shim_buffer buffer;
    if (!shim_buffer_find(op->obj, &buffer))
        return EINVAL;
    return shim_vm_bind(space, op->addr, op->range, &buffer, op->obj_offset);
}

// ---- Memory of the program ----

// A binding of it has no handle of the driver's: a buffer of its own counts it.
struct user_binding {
    const struct shim_address_space *space;
    uint64_t address;
    uint32_t handle;
};
static struct shim_handles user_bindings = {.mutex = PTHREAD_MUTEX_INITIALIZER}; // owned

static void forget_user(const struct shim_address_space *space, uint64_t address, uint64_t size)
{
    pthread_mutex_lock(&user_bindings.mutex);
    for (size_t i = 0; i < user_bindings.capacity; i++) {
        struct user_binding *binding = user_bindings.items[i];
        if (binding == NULL || binding->space != space || binding->address - address >= size)
            continue;
        shim_buffer_close(binding->handle);
        free(binding);
        user_bindings.items[i] = NULL;
    }
    pthread_mutex_unlock(&user_bindings.mutex);
}

static int note_user(const struct shim_node *node, const struct shim_address_space *space,
                     const struct drm_xe_vm_bind_op *op, uint8_t *bytes)
{
    struct user_binding *binding = malloc(sizeof(*binding));
    if (binding == NULL)
        return ENOMEM;
    *binding = (struct user_binding){.space = space, .address = op->addr};
    int error = shim_buffer_create_user(node, bytes, op->range, &binding->handle);
    if (error == 0 && shim_handles_add(&user_bindings, binding) == 0) {
        shim_buffer_close(binding->handle);
        error = ENOMEM;
    }
    if (error != 0)
        free(binding);
    return error;
}

static int bind_user(const struct shim_node *node, struct shim_address_space *space,
                     const struct drm_xe_vm_bind_op *op)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)op->userptr;
    forget_user(space, op->addr, op->range);
    const int error = note_user(node, space, op, bytes);
    if (error != 0)
        return error;
    if (shim_address_space_bind(space, op->addr, op->range, bytes, false))
        return 0;
    forget_user(space, op->addr, op->range);
    return ENOMEM;
}

static int destroy_space(uint32_t id)
{
    const struct shim_address_space *space = shim_vm_find(id);
    if (space != NULL)
        forget_user(space, 0, UINT64_MAX);
    return shim_vm_destroy(id);
}

// ---- Bindings ----

static int bind_one(const struct shim_node *node, struct shim_address_space *space,
                    const struct drm_xe_vm_bind_op *op)
{
    switch (op->op) {
    case DRM_XE_VM_BIND_OP_MAP:
        return bind_buffer(space, op);
    case DRM_XE_VM_BIND_OP_MAP_USERPTR:
        return bind_user(node, space, op);
    case DRM_XE_VM_BIND_OP_UNMAP:
        forget_user(space, op->addr, op->range);
        return shim_vm_unbind(space, op->addr, op->range);
    case DRM_XE_VM_BIND_OP_PREFETCH:
        return 0;
    default:
        shim_error("VM_BIND: operation %u is not known", op->op);
        return EINVAL;
    }
}

static int bind_all(const struct shim_node *node, const struct drm_xe_vm_bind *bind)
{
    struct shim_address_space *space = shim_vm_find(bind->vm_id);
    if (space == NULL)
        return ENOENT;
    const struct drm_xe_vm_bind_op *ops =
        bind->num_binds == 1 ? &bind->bind : (const void *)(uintptr_t)bind->vector_of_binds;
    for (uint32_t i = 0; i < bind->num_binds; i++) {
        const int error = bind_one(node, space, &ops[i]);
        if (error != 0)
            return error;
    }
    // The fence of a bind lies in the process, not in the GPU's addresses.
    const struct drm_xe_sync *syncs = (const void *)(uintptr_t)bind->syncs;
    for (uint32_t i = 0; i < bind->num_syncs; i++)
        if (syncs[i].type == DRM_XE_SYNC_TYPE_USER_FENCE &&
            (syncs[i].flags & DRM_XE_SYNC_FLAG_SIGNAL) != 0)
            __atomic_store_n((uint64_t *)(uintptr_t)syncs[i].addr, syncs[i].timeline_value,
                             __ATOMIC_RELEASE);
    shim_watches_notify_all();
    return 0;
}

static int create_queue(const struct shim_node *node, struct drm_xe_exec_queue_create *create)
{
    struct shim_address_space *space = shim_vm_find(create->vm_id);
    const struct drm_xe_engine_class_instance *where = (const void *)(uintptr_t)create->instances;
    if (space == NULL || where == NULL)
        return EINVAL;
    return shim_queue_create(node, space, where->engine_class, &create->exec_queue_id);
}

static int submit(const struct shim_node *node, const struct drm_xe_exec *execute)
{
    struct shim_engine *engine = shim_queue_find(execute->exec_queue_id);
    if (engine == NULL)
        return ENOENT;
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
    return shim_queue_submit(node, engine, &job);
}

static int get_property(struct drm_xe_exec_queue_get_property *property)
{
    struct shim_engine *engine = shim_queue_find(property->exec_queue_id);
    if (engine == NULL)
        return ENOENT;
    if (property->property != DRM_XE_EXEC_QUEUE_GET_PROPERTY_BAN)
        return EINVAL;
    property->value = shim_engine_is_lost(engine);
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
    const bool is_absolute = (wait->flags & DRM_XE_UFENCE_WAIT_FLAG_ABSTIME) != 0;
    return is_absolute && wait->timeout >= 0 ? wait->timeout : shim_deadline_ns(wait->timeout);
}

static int wait_for_fence(const struct drm_xe_wait_user_fence *wait)
{
    if (wait->op > DRM_XE_UFENCE_WAIT_OP_LTE || (wait->addr & 7) != 0)
        return EINVAL;
    struct shim_engine *engine =
        wait->exec_queue_id == 0 ? NULL : shim_queue_find(wait->exec_queue_id);
    if (wait->exec_queue_id != 0 && engine == NULL)
        return ENOENT;
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

const struct shim_fault_call shim_xe_fault_calls[] = {
    {DRM_IOCTL_XE_GEM_CREATE, SHIM_FAULT_BUFFER_CREATE},
    {DRM_IOCTL_XE_GEM_MMAP_OFFSET, SHIM_FAULT_BUFFER_MAP},
    {DRM_IOCTL_XE_VM_CREATE, SHIM_FAULT_SPACE_CREATE},
    {DRM_IOCTL_XE_VM_BIND, SHIM_FAULT_BIND},
    {DRM_IOCTL_XE_EXEC_QUEUE_CREATE, SHIM_FAULT_QUEUE_CREATE},
    {DRM_IOCTL_XE_WAIT_USER_FENCE, SHIM_FAULT_FENCE_WAIT},
    {DRM_IOCTL_XE_DEVICE_QUERY, SHIM_FAULT_QUERY},
    {0, SHIM_FAULT_SITES},
};

int shim_xe_answer(const struct shim_node *node, unsigned long request, void *argument)
{
    switch (request) {
    case DRM_IOCTL_XE_DEVICE_QUERY:
        return shim_xe_query(node, argument);
    case DRM_IOCTL_XE_GEM_CREATE:
        return create_buffer(node, argument);
    case DRM_IOCTL_GEM_CLOSE:
        return shim_buffer_close(((const struct drm_gem_close *)argument)->handle);
    case DRM_IOCTL_XE_GEM_MMAP_OFFSET:
        return map_buffer(argument);
    case DRM_IOCTL_XE_VM_CREATE:
        return shim_vm_create(&((struct drm_xe_vm_create *)argument)->vm_id);
    case DRM_IOCTL_XE_VM_DESTROY:
        return destroy_space(((const struct drm_xe_vm_destroy *)argument)->vm_id);
    case DRM_IOCTL_XE_VM_BIND:
        return bind_all(node, argument);
    case DRM_IOCTL_XE_EXEC_QUEUE_CREATE:
        return create_queue(node, argument);
    case DRM_IOCTL_XE_EXEC_QUEUE_DESTROY:
        return shim_queue_destroy(
            ((const struct drm_xe_exec_queue_destroy *)argument)->exec_queue_id);
    case DRM_IOCTL_XE_EXEC_QUEUE_GET_PROPERTY:
        return get_property(argument);
    case DRM_IOCTL_XE_EXEC:
        return submit(node, argument);
    case DRM_IOCTL_XE_WAIT_USER_FENCE:
        return wait_for_fence(argument);
    default:
        return ENOTTY; // newer calls, which the driver does without
    }
}
