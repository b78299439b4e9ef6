// SPDX-License-Identifier: MIT
#include "vm.h"

#include "buffer.h"
#include "handles.h"
#include "log.h"
#include "memory/arena.h"
#include "memory/mirror.h"
#include "memory/watch.h"

#include <errno.h>
#include <inttypes.h>

static struct shim_handles spaces = {.mutex = PTHREAD_MUTEX_INITIALIZER};

int shim_vm_create(struct drm_xe_vm_create *create)
{
    struct shim_address_space *space = shim_address_space_create();
    if (space == NULL)
        return ENOMEM;
    create->vm_id = shim_handles_add(&spaces, space);
    if (create->vm_id != 0)
        return 0;
    shim_address_space_release(space);
    return ENOMEM;
}

int shim_vm_destroy(const struct drm_xe_vm_destroy *destroy)
{
    struct shim_address_space *space = shim_handles_remove(&spaces, destroy->vm_id);
    shim_address_space_release(space);
    return space == NULL ? ENOENT : 0;
}

struct shim_address_space *shim_vm_find(uint32_t id)
{
    return shim_handles_find(&spaces, id);
}

static int bind_buffer(struct shim_address_space *space, const struct drm_xe_vm_bind_op *op)
{
    if (op->flags & DRM_XE_VM_BIND_FLAG_NULL)
        return shim_address_space_unbind(space, op->addr, op->range) ? 0 : ENOMEM;
    if (op->flags & (DRM_XE_VM_BIND_FLAG_CPU_ADDR_MIRROR | DRM_XE_VM_BIND_FLAG_DECOMPRESS))
        return EOPNOTSUPP;
    struct shim_buffer buffer;
    if (!shim_buffer_find(op->obj, &buffer) || op->obj_offset > buffer.size ||
        op->range > buffer.size - op->obj_offset)
        return EINVAL;
    const uint64_t offset = buffer.offset + op->obj_offset;
    const bool is_same = shim_mirror_bind(op->addr & SHIM_ADDRESS_MASK, op->range, offset);
    return shim_address_space_bind(space, op->addr, op->range, shim_arena_bytes(offset), is_same)
               ? 0
               : ENOMEM;
}

static int unbind_buffer(struct shim_address_space *space, const struct drm_xe_vm_bind_op *op)
{
    struct shim_buffer buffer;
    if (!shim_buffer_find(op->obj, &buffer))
        return EINVAL;
    shim_address_space_unbind_memory(space, shim_arena_bytes(buffer.offset), buffer.size);
    return 0;
}

static int bind_one(struct shim_address_space *space, const struct drm_xe_vm_bind_op *op)
{
    shim_log(SHIM_LOG_IOCTL,
             "bind: operation %u, buffer %u + 0x%" PRIx64 ", 0x%" PRIx64 " bytes at 0x%" PRIx64
             ", flags 0x%x",
             op->op, op->obj, (uint64_t)op->obj_offset, (uint64_t)op->range, (uint64_t)op->addr,
             op->flags);
    switch (op->op) {
    case DRM_XE_VM_BIND_OP_MAP:
        return bind_buffer(space, op);
    case DRM_XE_VM_BIND_OP_MAP_USERPTR:
        return shim_address_space_bind(space, op->addr, op->range,
                                       (uint8_t *)(uintptr_t)op->userptr, false)
                   ? 0
                   : ENOMEM;
    case DRM_XE_VM_BIND_OP_UNMAP:
        shim_mirror_unbind(op->addr & SHIM_ADDRESS_MASK, op->range);
        return shim_address_space_unbind(space, op->addr, op->range) ? 0 : ENOMEM;
    case DRM_XE_VM_BIND_OP_UNMAP_ALL:
        return unbind_buffer(space, op);
    case DRM_XE_VM_BIND_OP_PREFETCH:
        return 0;
    default:
        shim_error("VM_BIND: operation %u is not known", op->op);
        return EINVAL;
    }
}

int shim_vm_bind(const struct drm_xe_vm_bind *bind)
{
    struct shim_address_space *space = shim_vm_find(bind->vm_id);
    if (space == NULL)
        return ENOENT;
    const struct drm_xe_vm_bind_op *ops =
        bind->num_binds == 1 ? &bind->bind : (const void *)(uintptr_t)bind->vector_of_binds;
    for (uint32_t i = 0; i < bind->num_binds; i++) {
        const int error = bind_one(space, &ops[i]);
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
