// SPDX-License-Identifier: MIT
#include "device.h"

#include "buffer.h"
#include "export.h"
#include "faults.h"
#include "log.h"
#include "memory/arena.h"
#include "query.h"
#include "queue.h"
#include "vm.h"

#include <drm/drm.h>
#include <drm/xe_drm.h>
#include <errno.h>
#include <string.h>

static int answer_version(struct drm_version *version)
{
    static const char name[] = "xe", date[] = "20240101", text[] = "drm_shim";
    const struct {
        char *to;
        __kernel_size_t *size;
        const char *from;
    } fields[] = {{version->name, &version->name_len, name},
                  {version->date, &version->date_len, date},
                  {version->desc, &version->desc_len, text}};
    version->version_major = 1;
    version->version_minor = 1;
    version->version_patchlevel = 0;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const size_t length = strlen(fields[i].from);
        if (fields[i].to != NULL)
            memcpy(fields[i].to, fields[i].from,
                   length < *fields[i].size ? length : *fields[i].size);
        *fields[i].size = length;
    }
    return 0;
}

static int create_buffer(struct drm_xe_gem_create *create)
{
    // A mask of regions; memory that may lie in the system's lies there.
    if (create->placement == 0)
        return EINVAL;
    return shim_buffer_create(create->size, (uint32_t)__builtin_ctz(create->placement),
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

// Calls that may be told to fail; -1 for the others.
static int fault_site(unsigned long request)
{
    switch (request) {
    case DRM_IOCTL_XE_GEM_CREATE:
        return SHIM_FAULT_BUFFER_CREATE;
    case DRM_IOCTL_XE_GEM_MMAP_OFFSET:
        return SHIM_FAULT_BUFFER_MAP;
    case DRM_IOCTL_XE_VM_CREATE:
        return SHIM_FAULT_SPACE_CREATE;
    case DRM_IOCTL_XE_VM_BIND:
        return SHIM_FAULT_BIND;
    case DRM_IOCTL_XE_EXEC_QUEUE_CREATE:
        return SHIM_FAULT_QUEUE_CREATE;
    case DRM_IOCTL_XE_WAIT_USER_FENCE:
        return SHIM_FAULT_FENCE_WAIT;
    case DRM_IOCTL_XE_DEVICE_QUERY:
        return SHIM_FAULT_QUERY;
    default:
        return -1;
    }
}

static int answer(unsigned long request, void *argument)
{
    switch (request) {
    case DRM_IOCTL_VERSION:
        return answer_version(argument);
    case DRM_IOCTL_XE_DEVICE_QUERY:
        return shim_query(argument);
    case DRM_IOCTL_XE_GEM_CREATE:
        return create_buffer(argument);
    case DRM_IOCTL_GEM_CLOSE:
        return shim_buffer_close(((const struct drm_gem_close *)argument)->handle);
    case DRM_IOCTL_PRIME_HANDLE_TO_FD:
        return shim_export_buffer(argument);
    case DRM_IOCTL_PRIME_FD_TO_HANDLE:
        return shim_import_buffer(argument);
    case DRM_IOCTL_XE_GEM_MMAP_OFFSET:
        return map_buffer(argument);
    case DRM_IOCTL_XE_VM_CREATE:
        return shim_vm_create(argument);
    case DRM_IOCTL_XE_VM_DESTROY:
        return shim_vm_destroy(argument);
    case DRM_IOCTL_XE_VM_BIND:
        return shim_vm_bind(argument);
    case DRM_IOCTL_XE_EXEC_QUEUE_CREATE:
        return shim_queue_create(argument);
    case DRM_IOCTL_XE_EXEC_QUEUE_DESTROY:
        return shim_queue_destroy(argument);
    case DRM_IOCTL_XE_EXEC_QUEUE_GET_PROPERTY:
        return shim_queue_get_property(argument);
    case DRM_IOCTL_XE_EXEC:
        return shim_queue_execute(argument);
    case DRM_IOCTL_XE_WAIT_USER_FENCE:
        return shim_fence_wait(argument);
    default:
        return ENOTTY; // newer calls, which the driver does without
    }
}

int shim_device_ioctl(unsigned long request, void *argument)
{
    const int site = fault_site(request);
    int error = site < 0 ? 0 : shim_fault_take((enum shim_fault_site)site);
    if (error == 0)
        error = answer(request, argument);
    if (shim_log_has(SHIM_LOG_IOCTL))
        shim_log(SHIM_LOG_IOCTL, "ioctl 0x%02lx: %s", request & 0xff,
                 error == 0 ? "done" : strerror(error));
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
