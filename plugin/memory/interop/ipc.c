// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"

#include "cache/digest.h"
#include "core/address_tree.h"
#include "core/alloc.h"
#include "core/mutex.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "memory/virtual_memory.h"
#include "sync/deferred.h"
#include "ze/ze.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x43504934u // changes with the layout

struct ipc_export {
    struct zepi_ipc_handle handle; // first: hosts name it by its address
    struct zepi_address_node node; // by that
};

struct ipc_import {
    struct zepi_deferred deferred;
    struct zepi_context *context;       // borrowed
    struct zepi_address_node by_base;   // as the driver opened it
    struct zepi_address_node by_memory; // in it; in no tree once the host closed it: the import
                                        // goes when no command can use it
};

#define IMPORT_OF(node, member)                                                                    \
    ((struct ipc_import *)((char *)(node)-offsetof(struct ipc_import, member)))

struct zepi_ipc {
    struct zepi_mutex mutex;            // guards the trees; under it the driver opens and closes
    struct zepi_address_tree exports;   // owned
    struct zepi_address_tree imports;   // owned, by their bases
    struct zepi_address_tree by_memory; // of these, what the host has open
};

static struct zepi_ipc *ipc_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_IPC];
}

// The file descriptor that the handle begins with.
static int descriptor_of(const struct zepi_ipc_handle *handle)
{
    int descriptor;
    memcpy(&descriptor, handle->ze.data, sizeof(descriptor));
    return descriptor;
}

static void export_destroy(const struct zepi_context *context, struct ipc_export *shared)
{
    const struct zepi_ze_optional *optional = &context->platform->optional;
    if (shared->handle.size_bytes > 0)
        close(descriptor_of(&shared->handle));
    // Drivers before 1.6 have no such function (quirk no-put-of-handles).
    else if (optional->put_ipc_handle)
        optional->put_ipc_handle(optional->put_ipc_handle_is_drivers
                                     ? zepi_ze_driver_handle(ZEL_HANDLE_CONTEXT, context->ze)
                                     : context->ze,
                                 shared->handle.ze);
    zepi_free(shared);
}

// The last opening of the same memory closes it (quirk one-base-of-openings).
static void close_base_locked(const struct zepi_context *context, void *base)
{
    if (!zepi_address_tree_find(&ipc_of(context)->imports, base))
        zepi_ze.zeMemCloseIpcHandle(context->ze, base);
}

static void import_destroy(struct zepi_deferred *deferred)
{
    struct ipc_import *import = IMPORT_OF(deferred, deferred);
    struct zepi_ipc *ipc = ipc_of(import->context);
    zepi_mutex_lock(&ipc->mutex);
    zepi_address_tree_remove(&ipc->imports, &import->by_base);
    close_base_locked(import->context, (void *)import->by_base.address);
    zepi_mutex_unlock(&ipc->mutex);
    zepi_free(import);
}

static void ipc_finish(struct zepi_context *context)
{
    struct zepi_ipc *ipc = ipc_of(context);
    while (ipc->imports.root)
        import_destroy(&IMPORT_OF(ipc->imports.root, by_base)->deferred);
    while (ipc->exports.root) {
        // The handle comes first.
        struct ipc_export *shared = (struct ipc_export *)ipc->exports.root->address;
        zepi_address_tree_remove(&ipc->exports, &shared->node);
        export_destroy(context, shared);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_IPC, .size_bytes = sizeof(struct zepi_ipc),
                      .finish = ipc_finish);

zepi_result_t zepi_ipc_is_offered(const struct zepi_platform *platform, bool *out_is_offered)
{
    ze_driver_ipc_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    const ze_result_t ze = zepi_ze.zeDriverGetIpcProperties(platform->ze, &properties);
    *out_is_offered =
        ze == ZE_RESULT_SUCCESS && (properties.flags & ZE_IPC_PROPERTY_FLAG_MEMORY) != 0;
    return zepi_check_ze_severe(ze, "zeDriverGetIpcProperties");
}

static zepi_result_t check_is_offered(const struct zepi_context *context)
{
    bool is_offered;
    const zepi_result_t result = zepi_ipc_is_offered(context->platform, &is_offered);
    if (result != ZEPI_SUCCESS || is_offered)
        return result;
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver shares no memory with other processes");
}

// ---- Handles ----

static void set_checksum(struct zepi_ipc_handle *handle)
{
    const struct zepi_digest digest =
        zepi_digest_of(handle, offsetof(struct zepi_ipc_handle, checksum));
    static_assert(sizeof(digest) == sizeof(handle->checksum), "a digest fits");
    memcpy(handle->checksum, &digest, sizeof(handle->checksum));
}

// Both numbers are 0 for a descriptor that is not open.
static void find_file(int descriptor, uint64_t out_file[2])
{
    struct stat status;
    const bool is_open = fstat(descriptor, &status) == 0;
    out_file[0] = is_open ? status.st_dev : 0;
    out_file[1] = is_open ? status.st_ino : 0;
}

static zepi_result_t fill_usm_handle(struct zepi_context *context, const void *memory,
                                     struct zepi_ipc_handle *handle,
                                     const struct zepi_device **out_device)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    void *base = NULL;
    size_t size_bytes;
    zepi_result_t result = check_is_offered(context);
    if (result == ZEPI_SUCCESS)
        result = zepi_usm_get_info(context, memory, &info);
    if (result != ZEPI_SUCCESS)
        return result;
    if (info.kind != ZEPI_USM_DEVICE || !info.device)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no device memory of the context", memory);
    result = ZEPI_ZE(zeMemGetAddressRange, context->ze, memory, &base, &size_bytes);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeMemGetIpcHandle, context->ze, base, &handle->ze);
    if (result != ZEPI_SUCCESS)
        return result;
    handle->offset_bytes = (uint64_t)((const char *)memory - (const char *)base);
    *out_device = info.device;
    return ZEPI_SUCCESS;
}

static zepi_result_t fill_physical_handle(const struct zepi_physical_memory *memory,
                                          struct zepi_ipc_handle *handle,
                                          const struct zepi_device **out_device)
{
    int descriptor;
    const zepi_result_t result = zepi_physical_memory_export(memory, &descriptor);
    if (result != ZEPI_SUCCESS)
        return result;
    memcpy(handle->ze.data, &descriptor, sizeof(descriptor));
    handle->size_bytes = memory->size_bytes;
    *out_device = memory->device;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_get(struct zepi_context *context, const void *memory,
                           const struct zepi_physical_memory *physical,
                           const struct zepi_ipc_handle **out_handle)
{
    const struct zepi_device *device = NULL;
    struct zepi_ipc *ipc = ipc_of(context);
    struct ipc_export *shared = zepi_allocate(1, sizeof(*shared));
    if (!shared)
        return zepi_fail_no_memory();
    struct zepi_ipc_handle *handle = &shared->handle;
    const zepi_result_t result = physical ? fill_physical_handle(physical, handle, &device)
                                          : fill_usm_handle(context, memory, handle, &device);
    if (result != ZEPI_SUCCESS) {
        zepi_free(shared);
        return result;
    }
    handle->magic = MAGIC;
    handle->process = (uint32_t)getpid();
    find_file(descriptor_of(handle), handle->file);
    memcpy(handle->device, device->properties.uuid.id, sizeof(handle->device));
    set_checksum(handle);
    shared->node.address = (uintptr_t)handle;
    zepi_mutex_lock(&ipc->mutex);
    zepi_address_tree_add(&ipc->exports, &shared->node);
    zepi_mutex_unlock(&ipc->mutex);
    *out_handle = handle;
    return ZEPI_SUCCESS;
}

static const char *kind_name(bool is_physical)
{
    return is_physical ? "physical memory" : "USM";
}

zepi_result_t zepi_ipc_put(struct zepi_context *context, const void *handle, bool is_physical)
{
    struct zepi_ipc *ipc = ipc_of(context);
    zepi_mutex_lock(&ipc->mutex);
    struct zepi_address_node *found = zepi_address_tree_find(&ipc->exports, handle);
    if (found && (((struct ipc_export *)found->address)->handle.size_bytes > 0) != is_physical)
        found = NULL;
    if (found)
        zepi_address_tree_remove(&ipc->exports, found);
    zepi_mutex_unlock(&ipc->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no handle of %s of the context", handle,
                         kind_name(is_physical));
    export_destroy(context, (struct ipc_export *)found->address);
    return ZEPI_SUCCESS;
}

// ---- Opening ----

static zepi_result_t read_handle(const void *bytes, size_t size_bytes, bool is_physical,
                                 const struct zepi_device *device,
                                 struct zepi_ipc_handle *out_handle)
{
    if (size_bytes != sizeof(*out_handle))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "a handle of %zu bytes, expected %zu", size_bytes,
                         sizeof(*out_handle));
    memcpy(out_handle, bytes, sizeof(*out_handle));
    set_checksum(out_handle);
    if (out_handle->magic != MAGIC || memcmp(out_handle, bytes, sizeof(*out_handle)) != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the bytes are no handle of memory, or one of another version of zepi");
    if ((out_handle->size_bytes > 0) != is_physical)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle is of %s, expected %s",
                         kind_name(!is_physical), kind_name(is_physical));
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
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
        return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                         "memory or file descriptors do not suffice to share memory (error %d)",
                         error);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the system does not let this process take a file descriptor of process "
                     "%" PRIu32 " (error %d): that needs Linux 5.6, no filter of system calls "
                     "against pidfd_getfd, the same user, another process that is dumpable, and "
                     "kernel.yama.ptrace_scope 0 or its prctl(PR_SET_PTRACER)",
                     handle->process, error);
}

// Puts a descriptor of this process in the place of the other one's.
static zepi_result_t take_descriptor(struct zepi_ipc_handle *handle)
{
    uint64_t file[2];
    const int process = (int)syscall(SYS_pidfd_open, (pid_t)handle->process, 0);
    if (process < 0)
        return fail_take(handle, errno);
    const int own = (int)syscall(SYS_pidfd_getfd, process, descriptor_of(handle), 0);
    const int error = errno;
    close(process);
    if (own < 0)
        return fail_take(handle, error);
    find_file(own, file);
    // The number of a process or a descriptor that is gone is another's by now.
    if (memcmp(file, handle->file, sizeof(file)) != 0) {
        close(own);
        return fail_take(handle, EBADF);
    }
    memcpy(handle->ze.data, &own, sizeof(own));
    return ZEPI_SUCCESS;
}

static zepi_result_t open_locked(struct zepi_context *context, const struct zepi_device *device,
                                 const struct zepi_ipc_handle *handle, struct ipc_import *import,
                                 void **out_memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    size_t room_bytes = 0;
    void *base = NULL;
    zepi_result_t result =
        ZEPI_ZE(zeMemOpenIpcHandle, context->ze, device->ze, handle->ze, 0, &base);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_usm_driver_room(context, base, &room_bytes);
    if (result == ZEPI_SUCCESS && handle->offset_bytes >= room_bytes)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "the handle's offset, %" PRIu64 ", is beyond the end of the memory, "
                           "%zu bytes",
                           handle->offset_bytes, room_bytes);
    if (result != ZEPI_SUCCESS) {
        close_base_locked(context, base);
        return result;
    }
    *import = (struct ipc_import){
        .deferred = {.bytes = ZEPI_DEFERRED_HANDLE_BYTES, .run = import_destroy},
        .context = context,
        .by_base = {.address = (uintptr_t)base},
        .by_memory = {.address = (uintptr_t)base + handle->offset_bytes}};
    zepi_address_tree_add(&ipc->imports, &import->by_base);
    zepi_address_tree_add(&ipc->by_memory, &import->by_memory);
    *out_memory = (char *)base + handle->offset_bytes;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_open(struct zepi_context *context, struct zepi_device *device,
                            const void *bytes, size_t size_bytes, void **out_memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    struct zepi_ipc_handle handle;
    zepi_result_t result = check_is_offered(context);
    if (result == ZEPI_SUCCESS)
        result = read_handle(bytes, size_bytes, false, device, &handle);
    if (result != ZEPI_SUCCESS)
        return result;
    struct ipc_import *import = zepi_allocate(1, sizeof(*import));
    if (!import)
        return zepi_fail_no_memory();
    result = take_descriptor(&handle);
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&ipc->mutex);
        result = open_locked(context, device, &handle, import, out_memory);
        zepi_mutex_unlock(&ipc->mutex);
        close(descriptor_of(&handle)); // the driver has its own
    }
    if (result != ZEPI_SUCCESS)
        zepi_free(import);
    return result;
}

zepi_result_t zepi_ipc_open_physical(struct zepi_context *context, struct zepi_device *device,
                                     const void *bytes, size_t size_bytes,
                                     struct zepi_physical_memory **out_memory)
{
    struct zepi_ipc_handle handle;
    zepi_result_t result = read_handle(bytes, size_bytes, true, device, &handle);
    if (result == ZEPI_SUCCESS)
        result = take_descriptor(&handle);
    if (result != ZEPI_SUCCESS)
        return result;
    result =
        zepi_physical_memory_create(context, device, (size_t)handle.size_bytes,
                                    ZEPI_PHYSICAL_IMPORTED, descriptor_of(&handle), out_memory);
    if (result != ZEPI_SUCCESS)
        close(descriptor_of(&handle));
    return result;
}

zepi_result_t zepi_ipc_close(struct zepi_context *context, void *memory)
{
    struct zepi_ipc *ipc = ipc_of(context);
    zepi_mutex_lock(&ipc->mutex);
    struct zepi_address_node *found = zepi_address_tree_find(&ipc->by_memory, memory);
    if (found)
        zepi_address_tree_remove(&ipc->by_memory, found);
    zepi_mutex_unlock(&ipc->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no memory that was opened by a handle",
                         memory);
    zepi_defer(context, &IMPORT_OF(found, by_memory)->deferred);
    return ZEPI_SUCCESS;
}
