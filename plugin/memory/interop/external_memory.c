// SPDX-License-Identifier: MIT
#include "memory/interop/external_memory.h"

#include "core/address_tree.h"
#include "core/alloc.h"
#include "core/mutex.h"
#include "device/device.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "ze/ze.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <unistd.h>

struct external_mapping {
    struct zepi_address_node node;       // first; the address is the mapping's
    struct zepi_external_memory *memory; // one use
};

struct zepi_external {
    struct zepi_mutex mutex;           // guards the tree; nothing is called under it
    struct zepi_address_tree mappings; // owned
};

static struct zepi_external *external_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_EXTERNAL];
}

static void external_memory_end(struct zepi_deferred *deferred)
{
    struct zepi_external_memory *memory =
        (struct zepi_external_memory *)((char *)deferred -
                                        offsetof(struct zepi_external_memory, deferred));
    if (memory->base)
        zepi_ze.zeMemFree(memory->context->ze, memory->base);
    zepi_object_discard_free(memory, &zepi_external_memory_type);
}

// True: that was the last use.
static bool external_memory_drop_use(struct zepi_external_memory *memory)
{
    // Release, acquire: as the references of an object.
    return atomic_fetch_sub_explicit(&memory->uses, 1, memory_order_acq_rel) == 1;
}

static zepi_result_t external_memory_recycle(void *object)
{
    struct zepi_external_memory *memory = object;
    struct zepi_context *context = memory->context;
    zepi_object_set_free(memory);
    if (external_memory_drop_use(memory))
        zepi_defer(context, &memory->deferred);
    zepi_release(context);
    return ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(external_memory, NULL, external_memory_recycle);

// Mappings that the host left.
static void external_finish(struct zepi_context *context)
{
    struct zepi_address_tree *mappings = &external_of(context)->mappings;
    while (mappings->root) {
        struct external_mapping *mapping = (struct external_mapping *)mappings->root;
        zepi_address_tree_remove(mappings, &mapping->node);
        if (external_memory_drop_use(mapping->memory))
            external_memory_end(&mapping->memory->deferred);
        zepi_free(mapping);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_EXTERNAL, .size_bytes = sizeof(struct zepi_external),
                      .finish = external_finish);

// ---- Import ----

static const char *name_of(enum zepi_external_kind kind)
{
    return kind == ZEPI_EXTERNAL_DMA_BUF ? "a dma_buf" : "an opaque file descriptor";
}

static zepi_result_t check_import(const struct zepi_device *device, enum zepi_external_kind kind,
                                  size_t size_bytes)
{
    struct zepi_external_kinds kinds;
    const zepi_result_t result = zepi_device_get_external_kinds(device, &kinds);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!(kinds.imported & kind))
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver imports no memory of %s",
                         name_of(kind));
    return size_bytes > 0 ? ZEPI_SUCCESS
                          : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "an import of 0 bytes");
}

// A copy of the descriptor is the driver's after success (quirk import-keeps-descriptor).
static zepi_result_t import_descriptor(struct zepi_context *context,
                                       const struct zepi_device *device,
                                       enum zepi_external_kind kind, size_t size_bytes,
                                       int descriptor, void **out_base)
{
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return zepi_fail(errno == EBADF ? ZEPI_ERROR_INVALID_VALUE : ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                         "%d cannot be used as a file descriptor (error %d)", descriptor, errno);
    const ze_external_memory_import_fd_t import = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, .flags = kind, .fd = copy};
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                             .pNext = &import};
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = zepi_ze.zeMemAllocDevice(context->ze, &desc, size_bytes, 0, device->ze, out_base);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze != ZE_RESULT_SUCCESS)
        close(copy);
    return zepi_check_ze(ze, "zeMemAllocDevice");
}

zepi_result_t zepi_external_memory_import(struct zepi_context *context, struct zepi_device *device,
                                          enum zepi_external_kind kind, size_t size_bytes,
                                          int descriptor, struct zepi_external_memory **out_memory)
{
    zepi_result_t result = check_import(device, kind, size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_external_memory *memory = zepi_object_create(&zepi_external_memory_type);
    if (!memory)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    memory->context = zepi_retain(context);
    memory->device = device;
    memory->size_bytes = size_bytes;
    memory->uses = 1;
    memory->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    memory->deferred.run = external_memory_end;
    size_t room_bytes = 0;
    result = import_descriptor(context, device, kind, size_bytes, descriptor, &memory->base);
    // An import may be of all the memory, whatever was asked for (quirk import-takes-all).
    if (result == ZEPI_SUCCESS)
        result = zepi_usm_driver_room(context, memory->base, &room_bytes);
    if (result == ZEPI_SUCCESS && size_bytes > room_bytes)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "an import of %zu bytes, the memory has %zu",
                           size_bytes, room_bytes);
    if (result != ZEPI_SUCCESS) {
        zepi_release(memory);
        return result;
    }
    close(descriptor);
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

// ---- Mappings ----

zepi_result_t zepi_external_memory_map(struct zepi_external_memory *memory, uint64_t offset_bytes,
                                       uint64_t size_bytes, void **out_memory)
{
    struct zepi_external *external = external_of(memory->context);
    if (size_bytes == 0 || offset_bytes > memory->size_bytes ||
        size_bytes > memory->size_bytes - offset_bytes)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "%" PRIu64 " bytes from %" PRIu64 " on, of external memory of %zu",
                         size_bytes, offset_bytes, memory->size_bytes);
    struct external_mapping *mapping = zepi_allocate(1, sizeof(*mapping));
    if (!mapping)
        return zepi_fail_no_memory();
    void *start = (char *)memory->base + offset_bytes;
    mapping->node.address = (uintptr_t)start;
    mapping->memory = memory;
    atomic_fetch_add_explicit(&memory->uses, 1, memory_order_relaxed);
    zepi_mutex_lock(&external->mutex);
    zepi_address_tree_add(&external->mappings, &mapping->node);
    zepi_mutex_unlock(&external->mutex);
    *out_memory = start;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_external_memory_unmap(struct zepi_context *context, const void *memory)
{
    struct zepi_external *external = external_of(context);
    zepi_mutex_lock(&external->mutex);
    struct external_mapping *found =
        (struct external_mapping *)zepi_address_tree_find(&external->mappings, memory);
    if (found)
        zepi_address_tree_remove(&external->mappings, &found->node);
    zepi_mutex_unlock(&external->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "no external memory is mapped at %p", memory);
    if (external_memory_drop_use(found->memory))
        zepi_defer(context, &found->memory->deferred);
    zepi_free(found);
    return ZEPI_SUCCESS;
}

// ---- Export ----

zepi_result_t zepi_external_memory_allocate(struct zepi_context *context,
                                            struct zepi_device *device,
                                            enum zepi_external_kind kind, size_t size_bytes,
                                            size_t alignment_bytes, void **out_memory)
{
    const struct zepi_usm_alloc_desc desc = {.device = device,
                                             .kind = ZEPI_USM_DEVICE,
                                             .size_bytes = size_bytes,
                                             .alignment_bytes = alignment_bytes,
                                             .export_types = kind};
    struct zepi_external_kinds kinds;
    const zepi_result_t result = zepi_device_get_external_kinds(device, &kinds);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!(kinds.exported & kind))
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver exports no memory as %s",
                         name_of(kind));
    return zepi_usm_pool_allocate(zepi_usm_pools_of(context)->own, &desc, out_memory);
}

// Of memory that was allocated for export, and begins there.
static zepi_result_t find_export_types(const struct zepi_context *context,
                                       const struct zepi_device *device, const void *memory,
                                       ze_external_memory_type_flags_t *out_types)
{
    const struct zepi_usm_region *region = zepi_usm_region_find_own(context, memory);
    zepi_usm_info_t info;
    *out_types = region ? atomic_load_explicit(&region->export_types, memory_order_relaxed) : 0;
    if (*out_types && zepi_usm_region_describe(region, memory, &info) && info.base == memory &&
        info.device == device)
        return ZEPI_SUCCESS;
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                     "%p is not where memory for export of the device begins, or was freed",
                     memory);
}

zepi_result_t zepi_external_memory_free(struct zepi_context *context,
                                        const struct zepi_device *device, void *memory)
{
    ze_external_memory_type_flags_t types;
    const zepi_result_t result = find_export_types(context, device, memory, &types);
    return result == ZEPI_SUCCESS ? zepi_usm_put(context, memory) : result;
}

// The driver's descriptor stays the driver's, which may have one for all exports (quirk
// one-descriptor-of-exports).
zepi_result_t zepi_external_memory_export(struct zepi_context *context,
                                          const struct zepi_device *device,
                                          enum zepi_external_kind kind, const void *memory,
                                          int *out_descriptor)
{
    ze_external_memory_type_flags_t types;
    ze_external_memory_export_fd_t exported = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, .flags = kind, .fd = -1};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &exported};
    zepi_result_t result = find_export_types(context, device, memory, &types);
    if (result == ZEPI_SUCCESS && !(types & kind))
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p was not allocated for export as %s",
                           memory, name_of(kind));
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeMemGetAllocProperties, context->ze, memory, &properties, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    const int copy = fcntl(exported.fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return zepi_fail(errno == EBADF ? ZEPI_ERROR_UNSUPPORTED : ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                         "the driver's descriptor %d of the memory cannot be copied (error %d)",
                         exported.fd, errno);
    *out_descriptor = copy;
    return ZEPI_SUCCESS;
}
