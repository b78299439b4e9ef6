// SPDX-License-Identifier: MIT
#include "memory/ipc.h"

#include "cache/digest.h"
#include "cache/mutex.h"
#include "core/alloc.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "sync/deferred_free.h"
#include "ze/ze.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x43504931u // changes with the layout

struct ipc_export {
    struct zepi_ipc_handle handle; // first: hosts name it by its address
    struct ipc_export *next;
};

struct ipc_import {
    struct zepi_deferred deferred;
    struct ipc_import *next;
    struct zepi_context *context; // borrowed
    void *base;                   // as the driver opened it
    void *memory;                 // in it
    bool is_closed;               // by the host: it goes once no command can use it
};

struct zepi_ipc {
    struct zepi_mutex mutex;    // guards the lists; under it the driver opens and closes
    struct ipc_export *exports; // owned
    struct ipc_import *imports; // owned
};

static struct zepi_ipc *ipc_of(const struct zepi_context *context)
{
    return context->parts[ZEPI_PART_IPC];
}

static void export_destroy(const struct zepi_context *context, struct ipc_export *shared)
{
    const struct zepi_ze_optional *optional = &context->platform->optional;
    // Drivers before 1.6 have no such function, and keep what the handle needs with the memory.
    if (optional->put_ipc_handle)
        optional->put_ipc_handle(optional->is_put_ipc_handle_drivers
                                     ? zepi_ze_driver_handle(ZEL_HANDLE_CONTEXT, context->ze)
                                     : context->ze,
                                 shared->handle.ze);
    zepi_free(shared);
}

// A driver may answer a second opening with the same memory: the last one closes it.
static void close_base_locked(const struct zepi_context *context, void *base)
{
    const struct ipc_import *other = ipc_of(context)->imports;
    while (other && other->base != base)
        other = other->next;
    if (!other)
        zepi_ze.zeMemCloseIpcHandle(context->ze, base);
}

static void import_destroy(struct zepi_deferred *deferred)
{
    struct ipc_import *import =
        (struct ipc_import *)((char *)deferred - offsetof(struct ipc_import, deferred));
    struct zepi_ipc *ipc = ipc_of(import->context);
    zepi_mutex_lock(&ipc->mutex);
    struct ipc_import **link = &ipc->imports;
    while (*link != import)
        link = &(*link)->next;
    *link = import->next;
    close_base_locked(import->context, import->base);
    zepi_mutex_unlock(&ipc->mutex);
    zepi_free(import);
}

static void ipc_finish(struct zepi_context *context)
{
    struct zepi_ipc *ipc = ipc_of(context);
    while (ipc->imports)
        import_destroy(&ipc->imports->deferred);
    while (ipc->exports) {
        struct ipc_export *shared = ipc->exports;
        ipc->exports = shared->next;
        export_destroy(context, shared);
    }
}

const struct zepi_context_part zepi_ipc_part = {
    .size_bytes = sizeof(struct zepi_ipc),
    .finish = ipc_finish,
};

zepi_result_t zepi_ipc_is_offered(const struct zepi_platform *platform, bool *out_is_offered)
{
    ze_driver_ipc_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    const ze_result_t ze = zepi_ze.zeDriverGetIpcProperties(platform->ze, &properties);
    *out_is_offered =
        ze == ZE_RESULT_SUCCESS && (properties.flags & ZE_IPC_PROPERTY_FLAG_MEMORY) != 0;
    return zepi_check_ze_answer(ze, "zeDriverGetIpcProperties");
}

static zepi_result_t check_is_offered(const struct zepi_context *context)
{
    bool is_offered;
    const zepi_result_t result = zepi_ipc_is_offered(context->platform, &is_offered);
    if (result != ZEPI_SUCCESS || is_offered)
        return result;
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver shares no memory with other processes");
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static zepi_result_t fail_shortage(int error)
{
    return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                     "memory or file descriptors do not suffice to share memory (error %d)", error);
}

// When the process began; 0: it is gone, or the system does not tell. Returns 0, or the error that
// is a shortage.
static int start_of_process(pid_t process, uint64_t *out_start)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    *out_start = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return is_shortage(errno) ? errno : 0;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    // The second field is a name in brackets, with any characters; the start is the 22nd.
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    if (field)
        *out_start = strtoull(field, NULL, 10);
    return 0;
}

static void set_checksum(struct zepi_ipc_handle *handle)
{
    const struct zepi_digest digest =
        zepi_digest_of(handle, offsetof(struct zepi_ipc_handle, checksum));
    static_assert(sizeof(digest) == sizeof(handle->checksum), "a digest fits");
    memcpy(handle->checksum, &digest, sizeof(handle->checksum));
}

// ---- Handles ----

static zepi_result_t fill_handle(struct zepi_context *context, const void *memory,
                                 struct zepi_ipc_handle *handle)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    void *base = NULL;
    size_t size_bytes;
    zepi_result_t result = check_is_offered(context);
    if (result == ZEPI_SUCCESS)
        result = zepi_usm_get_info((zepi_context_t)context, memory, &info);
    if (result != ZEPI_SUCCESS)
        return result;
    if (info.kind != ZEPI_USM_DEVICE || !info.device)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no device memory of the context", memory);
    const int error = start_of_process(getpid(), &handle->process_start);
    if (error)
        return fail_shortage(error);
    result = ZEPI_ZE(zeMemGetAddressRange, context->ze, memory, &base, &size_bytes);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeMemGetIpcHandle, context->ze, base, &handle->ze);
    if (result != ZEPI_SUCCESS)
        return result;
    handle->magic = MAGIC;
    handle->process = (uint32_t)getpid();
    handle->offset_bytes = (uint64_t)((const char *)memory - (const char *)base);
    memcpy(handle->device, info.device->properties.uuid.id, sizeof(handle->device));
    set_checksum(handle);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_get(struct zepi_context *context, const void *memory,
                           const struct zepi_ipc_handle **out_handle)
{
    struct zepi_ipc *ipc = ipc_of(context);
    struct ipc_export *shared = zepi_allocate(1, sizeof(*shared));
    if (!shared)
        return zepi_fail_no_memory();
    const zepi_result_t result = fill_handle(context, memory, &shared->handle);
    if (result != ZEPI_SUCCESS) {
        zepi_free(shared);
        return result;
    }
    zepi_mutex_lock(&ipc->mutex);
    shared->next = ipc->exports;
    ipc->exports = shared;
    zepi_mutex_unlock(&ipc->mutex);
    *out_handle = &shared->handle;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_put(struct zepi_context *context, const void *handle)
{
    struct zepi_ipc *ipc = ipc_of(context);
    zepi_mutex_lock(&ipc->mutex);
    struct ipc_export **link = &ipc->exports;
    while (*link && (const void *)*link != handle)
        link = &(*link)->next;
    struct ipc_export *found = *link;
    if (found)
        *link = found->next;
    zepi_mutex_unlock(&ipc->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no handle of the context", handle);
    export_destroy(context, found);
    return ZEPI_SUCCESS;
}

// ---- Opening ----

static zepi_result_t check_handle(const struct zepi_device *device, const void *bytes,
                                  size_t size_bytes, struct zepi_ipc_handle *out_handle)
{
    struct zepi_ipc_handle sealed;
    if (size_bytes != sizeof(*out_handle))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "a handle of %zu bytes, expected %zu", size_bytes,
                         sizeof(*out_handle));
    memcpy(out_handle, bytes, sizeof(*out_handle));
    sealed = *out_handle;
    set_checksum(&sealed);
    if (out_handle->magic != MAGIC ||
        memcmp(sealed.checksum, out_handle->checksum, sizeof(sealed.checksum)) != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the bytes are no handle of memory, or one of another version of zepi");
    if (memcmp(out_handle->device, device->properties.uuid.id, sizeof(out_handle->device)) != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle is of memory of another device");
    return ZEPI_SUCCESS;
}

static zepi_result_t fail_take(const struct zepi_ipc_handle *handle, int error)
{
    if (error == ESRCH)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "process %" PRIu32 ", which has the memory of the handle, is gone",
                         handle->process);
    if (error == EBADF)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle was put back");
    if (is_shortage(error))
        return fail_shortage(error);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the system does not let this process take a file descriptor of process "
                     "%" PRIu32 " (error %d): that needs Linux 5.6, the same user, and of "
                     "kernel.yama.ptrace_scope 0 or that the other process calls "
                     "prctl(PR_SET_PTRACER)",
                     handle->process, error);
}

// The handle's file descriptor, as one of this process; to be closed.
static zepi_result_t take_descriptor(const struct zepi_ipc_handle *handle, int *out_descriptor)
{
    int theirs;
    memcpy(&theirs, handle->ze.data, sizeof(theirs));
    const int process = (int)syscall(SYS_pidfd_open, (pid_t)handle->process, 0);
    if (process < 0)
        return fail_take(handle, errno);
    // Its number is that of the process from here on, so it is the right one if its start is.
    uint64_t start;
    int own = -1;
    int error = start_of_process((pid_t)handle->process, &start);
    if (!error && handle->process_start && start != handle->process_start)
        error = ESRCH;
    if (!error) {
        own = (int)syscall(SYS_pidfd_getfd, process, theirs, 0);
        error = errno;
    }
    close(process);
    if (own < 0)
        return fail_take(handle, error);
    *out_descriptor = own;
    return ZEPI_SUCCESS;
}

// A driver may open a piece of a larger allocation.
static zepi_result_t check_offset(const struct zepi_context *context, const char *base,
                                  uint64_t offset_bytes)
{
    void *start = NULL;
    size_t size_bytes = 0;
    const zepi_result_t result =
        ZEPI_ZE(zeMemGetAddressRange, context->ze, base, &start, &size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    const uint64_t rest_bytes = size_bytes - (uint64_t)(base - (const char *)start);
    return offset_bytes < rest_bytes
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "the handle's offset, %" PRIu64 ", is beyond the end of the memory, "
                           "%" PRIu64 " bytes",
                           offset_bytes, rest_bytes);
}

static zepi_result_t open_locked(struct zepi_context *context, const struct zepi_device *device,
                                 const struct zepi_ipc_handle *handle, struct ipc_import *import,
                                 void **out_memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    void *base = NULL;
    zepi_result_t result =
        ZEPI_ZE(zeMemOpenIpcHandle, context->ze, device->ze, handle->ze, 0, &base);
    if (result != ZEPI_SUCCESS)
        return result;
    result = check_offset(context, base, handle->offset_bytes);
    if (result != ZEPI_SUCCESS) {
        close_base_locked(context, base);
        return result;
    }
    *import = (struct ipc_import){
        .deferred = {.weight = ZEPI_DEFERRED_WEIGHT_HANDLE, .destroy = import_destroy},
        .next = ipc->imports,
        .context = context,
        .base = base,
        .memory = (char *)base + handle->offset_bytes};
    ipc->imports = import;
    *out_memory = import->memory;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_open(struct zepi_context *context, struct zepi_device *device,
                            const void *bytes, size_t size_bytes, void **out_memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    struct zepi_ipc_handle handle;
    int descriptor = -1;
    zepi_result_t result = check_is_offered(context);
    if (result == ZEPI_SUCCESS)
        result = check_handle(device, bytes, size_bytes, &handle);
    if (result != ZEPI_SUCCESS)
        return result;
    struct ipc_import *import = zepi_allocate(1, sizeof(*import));
    if (!import)
        return zepi_fail_no_memory();
    result = take_descriptor(&handle, &descriptor);
    if (result != ZEPI_SUCCESS)
        goto fail;
    memcpy(handle.ze.data, &descriptor, sizeof(descriptor));
    zepi_mutex_lock(&ipc->mutex);
    result = open_locked(context, device, &handle, import, out_memory);
    zepi_mutex_unlock(&ipc->mutex);
    close(descriptor); // the driver has its own
    if (result == ZEPI_SUCCESS)
        return ZEPI_SUCCESS;

fail:
    zepi_free(import);
    return result;
}

zepi_result_t zepi_ipc_close(struct zepi_context *context, void *memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    zepi_mutex_lock(&ipc->mutex);
    struct ipc_import *found = ipc->imports;
    while (found && (found->is_closed || found->memory != memory))
        found = found->next;
    if (found)
        found->is_closed = true;
    zepi_mutex_unlock(&ipc->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no memory that was opened by a handle",
                         memory);
    zepi_defer_free(context, &found->deferred);
    return ZEPI_SUCCESS;
}
