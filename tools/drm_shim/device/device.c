// SPDX-License-Identifier: MIT
#include "device.h"

#include "buffer.h"
#include "faults.h"
#include "i915.h"
#include "trace.h"
#include "xe.h"

#include <drm/drm.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int answer_version(const struct shim_node *node, struct drm_version *version)
{
    static const char date[] = "20240101", text[] = "drm_shim";
    const char *name = shim_interface_name(node->product->interface);
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

// The first bytes of a descriptor's file, which is as long as the buffer.
struct ticket {
    char kind[16];
    pid_t process;
    uint64_t serial;
};

static const char ticket_kind[16] = "drm_shim buffer";

// Buffers as file descriptors ("PRIME"), by which the driver hands memory from one device to
// another. A descriptor is good in this process only, and for as long as the buffer has a handle;
// mapping it shows nothing.
static int export_buffer(struct drm_prime_handle *prime)
{
    struct shim_buffer buffer;
    if (!shim_buffer_find(prime->handle, &buffer))
        return ENOENT;
    struct ticket ticket = {.process = getpid(), .serial = buffer.serial};
    memcpy(ticket.kind, ticket_kind, sizeof(ticket_kind));
    const int fd = memfd_create("drm_shim_buffer", MFD_CLOEXEC);
    if (fd < 0)
        return errno;
    if (ftruncate(fd, (off_t)buffer.size) != 0 ||
        pwrite(fd, &ticket, sizeof(ticket), 0) != (ssize_t)sizeof(ticket)) {
        const int error = errno;
        close(fd);
        return error;
    }
    prime->fd = fd;
    return 0;
}

static int import_buffer(struct drm_prime_handle *prime)
{
    struct ticket ticket;
    if (pread(prime->fd, &ticket, sizeof(ticket), 0) != (ssize_t)sizeof(ticket) ||
        memcmp(ticket.kind, ticket_kind, sizeof(ticket_kind)) != 0)
        return EINVAL;
    if (ticket.process != getpid())
        return EOPNOTSUPP;
    return shim_buffer_share(ticket.serial, &prime->handle);
}

static bool is_i915(const struct shim_node *node)
{
    return node->product->interface == SHIM_INTERFACE_I915;
}

static int answer(const struct shim_node *node, unsigned long request, void *argument)
{
    switch (request) {
    case DRM_IOCTL_VERSION:
        return answer_version(node, argument);
    case DRM_IOCTL_PRIME_HANDLE_TO_FD:
        return export_buffer(argument);
    case DRM_IOCTL_PRIME_FD_TO_HANDLE:
        return import_buffer(argument);
    default:
        return is_i915(node) ? shim_i915_answer(node, request, argument)
                             : shim_xe_answer(node, request, argument);
    }
}

int shim_device_ioctl(const struct shim_node *node, unsigned long request, void *argument)
{
    const struct shim_fault_call *call =
        is_i915(node) ? shim_i915_fault_calls : shim_xe_fault_calls;
    while (call->request != 0 && call->request != request)
        call++;
    int error = call->request == 0 ? 0 : shim_fault_take(call->site);
    if (error == 0)
        error = answer(node, request, argument);
    if (error == 0)
        return 0;
    shim_trace("refused node %u call 0x%02lx errno %d", node->number, request & 0xff, error);
    errno = error;
    return -1;
}
