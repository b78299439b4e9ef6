// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"

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

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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
    return context->parts[ZEPI_PART_IPC];
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
    if (shared->handle.kind == ZEPI_IPC_PHYSICAL)
        close(descriptor_of(&shared->handle));
    // Drivers before 1.6 have no such function (quirk no-put-of-handles).
    else if (optional->put_ipc_handle)
        optional->put_ipc_handle(optional->is_put_ipc_handle_drivers
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

ZEPI_DEFINE_CONTEXT_PART(ZEPI_PART_IPC, .size_bytes = sizeof(struct zepi_ipc),
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

static zepi_result_t fill_usm_handle(struct zepi_context *context, const void *memory,
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
    result = zepi_ipc_handle_begin(handle, ZEPI_IPC_USM, info.device);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeMemGetAddressRange, context->ze, memory, &base, &size_bytes);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeMemGetIpcHandle, context->ze, base, &handle->ze);
    if (result != ZEPI_SUCCESS)
        return result;
    handle->offset_bytes = (uint64_t)((const char *)memory - (const char *)base);
    zepi_ipc_handle_seal(handle);
    return ZEPI_SUCCESS;
}

static zepi_result_t fill_physical_handle(struct zepi_physical_memory *memory,
                                          struct zepi_ipc_handle *handle)
{
    int descriptor;
    zepi_result_t result = zepi_ipc_handle_begin(handle, ZEPI_IPC_PHYSICAL, memory->device);
    if (result == ZEPI_SUCCESS)
        result = zepi_physical_memory_export(memory, &descriptor);
    if (result != ZEPI_SUCCESS)
        return result;
    memcpy(handle->ze.data, &descriptor, sizeof(descriptor));
    handle->size_bytes = memory->size_bytes;
    zepi_ipc_handle_seal(handle);
    return ZEPI_SUCCESS;
}

// A handle that is the context's from now on, of `physical` or, if that is NULL, of USM.
static zepi_result_t ipc_export(struct zepi_context *context, const void *memory,
                                struct zepi_physical_memory *physical,
                                const struct zepi_ipc_handle **out_handle)
{
    struct zepi_ipc *ipc = ipc_of(context);
    struct ipc_export *shared = zepi_allocate(1, sizeof(*shared));
    if (!shared)
        return zepi_fail_no_memory();
    const zepi_result_t result = physical ? fill_physical_handle(physical, &shared->handle)
                                          : fill_usm_handle(context, memory, &shared->handle);
    if (result != ZEPI_SUCCESS) {
        zepi_free(shared);
        return result;
    }
    shared->node.address = (uintptr_t)&shared->handle;
    zepi_mutex_lock(&ipc->mutex);
    zepi_address_tree_add(&ipc->exports, &shared->node);
    zepi_mutex_unlock(&ipc->mutex);
    *out_handle = &shared->handle;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_get(struct zepi_context *context, const void *memory,
                           const struct zepi_ipc_handle **out_handle)
{
    return ipc_export(context, memory, NULL, out_handle);
}

zepi_result_t zepi_ipc_get_physical(struct zepi_physical_memory *memory,
                                    const struct zepi_ipc_handle **out_handle)
{
    return ipc_export(memory->context, NULL, memory, out_handle);
}

zepi_result_t zepi_ipc_put(struct zepi_context *context, enum zepi_ipc_kind kind,
                           const void *handle)
{
    struct zepi_ipc *ipc = ipc_of(context);
    zepi_mutex_lock(&ipc->mutex);
    const struct zepi_address_node *node = zepi_address_tree_find(&ipc->exports, handle);
    struct ipc_export *found = node ? (struct ipc_export *)node->address : NULL;
    if (found && found->handle.kind != (uint32_t)kind)
        found = NULL;
    if (found)
        zepi_address_tree_remove(&ipc->exports, &found->node);
    zepi_mutex_unlock(&ipc->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no handle of %s of the context", handle,
                         kind == ZEPI_IPC_USM ? "USM" : "physical memory");
    export_destroy(context, found);
    return ZEPI_SUCCESS;
}

// ---- Opening ----

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
    int descriptor = -1;
    zepi_result_t result = check_is_offered(context);
    if (result == ZEPI_SUCCESS)
        result = zepi_ipc_handle_read(bytes, size_bytes, ZEPI_IPC_USM, device, &handle);
    if (result != ZEPI_SUCCESS)
        return result;
    struct ipc_import *import = zepi_allocate(1, sizeof(*import));
    if (!import)
        return zepi_fail_no_memory();
    result = zepi_ipc_handle_take_descriptor(&handle, &descriptor);
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

zepi_result_t zepi_ipc_open_physical(struct zepi_context *context, struct zepi_device *device,
                                     const void *bytes, size_t size_bytes,
                                     struct zepi_physical_memory **out_memory)
{
    struct zepi_ipc_handle handle;
    int descriptor;
    zepi_result_t result = zepi_physical_memory_check_shares(device);
    if (result == ZEPI_SUCCESS)
        result = zepi_ipc_handle_read(bytes, size_bytes, ZEPI_IPC_PHYSICAL, device, &handle);
    if (result == ZEPI_SUCCESS)
        result = zepi_ipc_handle_take_descriptor(&handle, &descriptor);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_physical_memory_import(context, device, (size_t)handle.size_bytes, descriptor,
                                         out_memory);
    if (result != ZEPI_SUCCESS)
        close(descriptor);
    return result;
}
