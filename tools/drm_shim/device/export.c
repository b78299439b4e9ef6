// SPDX-License-Identifier: MIT
#include "export.h"

#include "buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The first bytes of a descriptor's file, which is as long as the buffer.
struct ticket {
    char kind[16];
    pid_t process;
    uint64_t serial;
};

static const char ticket_kind[16] = "drm_shim buffer";

int shim_export_buffer(struct drm_prime_handle *prime)
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

int shim_import_buffer(struct drm_prime_handle *prime)
{
    struct ticket ticket;
    if (pread(prime->fd, &ticket, sizeof(ticket), 0) != (ssize_t)sizeof(ticket) ||
        memcmp(ticket.kind, ticket_kind, sizeof(ticket_kind)) != 0)
        return EINVAL;
    if (ticket.process != getpid())
        return EOPNOTSUPP;
    return shim_buffer_share(ticket.serial, &prime->handle);
}
