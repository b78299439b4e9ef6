// SPDX-License-Identifier: MIT
#include "memory/virtual_memory.h"

#include "core/address_tree.h"
#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"

// Pages that were mapped together, or the rest that an unmapping left of them.
struct zepi_mapping {
    struct zepi_address_node node; // first; by the last byte: the first mapping at an address or
                                   // behind it is the one that has it, or follows
    uintptr_t start;
    struct zepi_physical_memory *memory; // one use
    struct zepi_mapping *next;           // of those that were taken out of the tree
};

struct zepi_mappings {
    struct zepi_mutex mutex;       // guards the tree; nothing is called under it
    struct zepi_address_tree tree; // of mappings that do not overlap; owned
    atomic_bool is_any;            // written under the mutex
};

static struct zepi_mappings *mappings_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_MAPPINGS];
}

// ---- Physical memory ----

static void physical_memory_drop_use(struct zepi_physical_memory *memory,
                                     struct zepi_context *context)
{
    // Release, acquire: as the references of an object.
    if (atomic_fetch_sub_explicit(&memory->uses, 1, memory_order_acq_rel) > 1)
        return;
    if (memory->ze)
        zepi_ze.zePhysicalMemDestroy(context->ze, memory->ze);
    zepi_object_discard_free(memory, &zepi_physical_memory_type);
}

static zepi_result_t physical_memory_recycle(void *object)
{
    struct zepi_physical_memory *memory = object;
    struct zepi_context *context = memory->context;
    zepi_object_set_free(memory);
    physical_memory_drop_use(memory, context);
    zepi_release(context);
    return ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(physical_memory, NULL, physical_memory_recycle);

zepi_result_t zepi_physical_memory_is_shareable(const struct zepi_device *device,
                                                bool *out_is_shareable)
{
    struct zepi_external_kinds kinds = {0};
    zepi_result_t result = ZEPI_SUCCESS;
    if (device->platform->optional.physical_mem_get_properties)
        result = zepi_device_get_external_kinds(device, &kinds);
    *out_is_shareable = kinds.imported & kinds.exported & ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
    return result;
}

// What another process has was checked there.
static zepi_result_t check_page_multiple(struct zepi_context *context, struct zepi_device *device,
                                         size_t size_bytes, enum zepi_physical_sharing sharing)
{
    size_t page_bytes = 0;
    if (sharing == ZEPI_PHYSICAL_IMPORTED)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        zepi_virtual_memory_get_page_size(context, device, size_bytes, &page_bytes);
    return result != ZEPI_SUCCESS || (size_bytes > 0 && size_bytes % page_bytes == 0)
               ? result
               : zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                           "physical memory of %zu bytes: expected a multiple of the page size, "
                           "%zu",
                           size_bytes, page_bytes);
}

static zepi_result_t check_sharing(const struct zepi_device *device,
                                   enum zepi_physical_sharing sharing)
{
    bool is_shareable = true;
    const zepi_result_t result = sharing == ZEPI_PHYSICAL_OWN
                                     ? ZEPI_SUCCESS
                                     : zepi_physical_memory_is_shareable(device, &is_shareable);
    if (result != ZEPI_SUCCESS || is_shareable)
        return result;
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the driver shares no physical memory with other processes");
}

zepi_result_t zepi_physical_memory_create(struct zepi_context *context, struct zepi_device *device,
                                          size_t size_bytes, enum zepi_physical_sharing sharing,
                                          int descriptor, struct zepi_physical_memory **out_memory)
{
    const ze_external_memory_export_desc_t exported = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
    const ze_external_memory_import_fd_t imported = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
        .fd = descriptor};
    const void *const chains[] = {
        [ZEPI_PHYSICAL_SHARED] = &exported, [ZEPI_PHYSICAL_IMPORTED] = &imported};
    ze_physical_mem_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .pNext = chains[sharing], .size = size_bytes};
    ze_physical_mem_handle_t ze = NULL;
    unsigned attempt = 0;
    ze_result_t created;
    zepi_result_t result = check_page_multiple(context, device, size_bytes, sharing);
    if (result == ZEPI_SUCCESS)
        result = check_sharing(device, sharing);
    if (result != ZEPI_SUCCESS)
        return result;
    // Quirk sizes-end-process: sizes that no device has.
    if (device->global_memory_bytes > 0 && size_bytes > device->global_memory_bytes)
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "physical memory of %zu bytes, the device has %llu", size_bytes,
                         (unsigned long long)device->global_memory_bytes);
    struct zepi_physical_memory *memory = zepi_object_create(&zepi_physical_memory_type);
    if (!memory)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    memory->context = zepi_retain(context);
    memory->device = device;
    memory->size_bytes = size_bytes;
    memory->sharing = sharing;
    memory->uses = 1;
    do
        created = zepi_ze.zePhysicalMemCreate(context->ze, device->ze, &desc, &ze);
    while (zepi_context_reclaim(context, created, &attempt));
    if (created != ZE_RESULT_SUCCESS) {
        zepi_release(memory);
        return zepi_check_ze(created, "zePhysicalMemCreate");
    }
    memory->ze = ze;
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_physical_memory_export(const struct zepi_physical_memory *memory,
                                          int *out_descriptor)
{
    const struct zepi_context *context = memory->context;
    const struct zepi_ze_optional *optional = &context->platform->optional;
    const bool is_drivers = optional->physical_mem_get_properties_is_drivers;
    ze_external_memory_export_fd_t exported = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
                                               .fd = -1};
    struct zepi_ze_physical_properties properties = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_PHYSICAL_PROPERTIES,
        .next = &exported};
    const zepi_result_t result = zepi_check_ze(
        optional->physical_mem_get_properties(
            is_drivers ? zepi_ze_driver_handle(ZEL_HANDLE_CONTEXT, context->ze) : context->ze,
            is_drivers ? zepi_ze_driver_handle(ZEL_HANDLE_PHYSICAL_MEM, memory->ze) : memory->ze,
            &properties),
        "zePhysicalMemGetProperties");
    *out_descriptor = exported.fd;
    return result;
}

// ---- Mappings ----

static void mapping_list_release(struct zepi_mapping *list, struct zepi_context *context)
{
    while (list) {
        struct zepi_mapping *next = list->next;
        physical_memory_drop_use(list->memory, context);
        zepi_free(list);
        list = next;
    }
}

// Destroys the physical memory of mappings that the host left.
static void mappings_finish(struct zepi_context *context)
{
    struct zepi_mappings *mappings = mappings_of(context);
    // Quirk mapped-memory-stays: it cannot be destroyed.
    while (mappings->tree.root) {
        struct zepi_mapping *mapping = (struct zepi_mapping *)mappings->tree.root;
        zepi_ze.zeVirtualMemUnmap(context->ze, (const void *)mapping->start,
                                  mapping->node.address + 1 - mapping->start);
        zepi_address_tree_remove(&mappings->tree, &mapping->node);
        mapping->next = NULL;
        mapping_list_release(mapping, context);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_MAPPINGS, .size_bytes = sizeof(struct zepi_mappings),
                      .finish = mappings_finish);

// The first mapping that has the address or lies behind it; NULL: none.
static struct zepi_mapping *mappings_find_locked(const struct zepi_mappings *mappings,
                                                 uintptr_t address)
{
    return (struct zepi_mapping *)zepi_address_tree_at_least(&mappings->tree, address);
}

// A mapping that reaches across the address becomes two, of which `spare` is the first, and is used
// up (NULL then).
static void mappings_split_locked(struct zepi_mappings *mappings, uintptr_t address,
                                  struct zepi_mapping **spare)
{
    struct zepi_mapping *rest = mappings_find_locked(mappings, address);
    if (!rest || rest->start >= address)
        return;
    struct zepi_mapping *first = *spare;
    *spare = NULL;
    *first = *rest;
    first->node.address = address - 1;
    atomic_fetch_add_explicit(&first->memory->uses, 1, memory_order_relaxed);
    rest->start = address;
    zepi_address_tree_add(&mappings->tree, &first->node);
}

// Takes the mappings out of the tree that lie in the range. `spares` are for those that reach
// across its ends.
static struct zepi_mapping *mappings_take(struct zepi_mappings *mappings, uintptr_t begin,
                                          uintptr_t end, struct zepi_mapping *spares[2])
{
    struct zepi_mapping *taken = NULL;
    struct zepi_mapping *mapping;
    zepi_mutex_lock(&mappings->mutex);
    mappings_split_locked(mappings, begin, &spares[0]);
    mappings_split_locked(mappings, end, &spares[1]);
    while ((mapping = mappings_find_locked(mappings, begin)) && mapping->start < end) {
        zepi_address_tree_remove(&mappings->tree, &mapping->node);
        mapping->next = taken;
        taken = mapping;
    }
    atomic_store_explicit(&mappings->is_any, mappings->tree.root != NULL, memory_order_relaxed);
    zepi_mutex_unlock(&mappings->mutex);
    return taken;
}

static void mappings_put_back(struct zepi_mappings *mappings, struct zepi_mapping *taken)
{
    zepi_mutex_lock(&mappings->mutex);
    for (struct zepi_mapping *mapping = taken; mapping; mapping = mapping->next)
        zepi_address_tree_add(&mappings->tree, &mapping->node);
    atomic_store_explicit(&mappings->is_any, mappings->tree.root != NULL, memory_order_relaxed);
    zepi_mutex_unlock(&mappings->mutex);
}

size_t zepi_mappings_room(const struct zepi_context *context, const void *address,
                          size_t size_bytes)
{
    struct zepi_mappings *mappings = mappings_of(context);
    const uintptr_t start = (uintptr_t)address;
    uintptr_t end = start;
    const struct zepi_mapping *mapping;
    // Relaxed: a thread that may use a mapping knows of it.
    if (!atomic_load_explicit(&mappings->is_any, memory_order_relaxed))
        return SIZE_MAX;
    zepi_mutex_lock(&mappings->mutex);
    // Mappings may lie side by side, and be used as one.
    while (end - start < size_bytes && (mapping = mappings_find_locked(mappings, end)) &&
           mapping->start <= end)
        end = mapping->node.address + 1;
    zepi_mutex_unlock(&mappings->mutex);
    return end == start ? SIZE_MAX : end - start;
}

// ---- Pages ----

static zepi_result_t query_page_size(ze_context_handle_t context, const struct zepi_device *device,
                                     size_t size_bytes, size_t *out_page_bytes)
{
    size_t page_bytes = 0;
    const zepi_result_t result =
        ZEPI_ZE(zeVirtualMemQueryPageSize, context, device->ze, size_bytes, &page_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    if (page_bytes == 0)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "device '%s' has no virtual memory",
                         device->properties.name);
    *out_page_bytes = page_bytes;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_virtual_memory_get_page_size(struct zepi_context *context,
                                                struct zepi_device *device, size_t size_bytes,
                                                size_t *out_page_bytes)
{
    size_t most = 0;
    // Quirks empty-page-query and sizes-end-process. No page is larger than this.
    const size_t largest = (size_t)1 << 46;
    const size_t at_least_one = size_bytes ? size_bytes : 1;
    const size_t size = at_least_one < largest ? at_least_one : largest;
    for (uint32_t i = 0; i < context->device_count; i++) {
        size_t page_bytes = 0;
        if (device && zepi_context_device_index(context, device) != i)
            continue;
        const zepi_result_t result =
            query_page_size(context->ze, context->devices[i], size, &page_bytes);
        if (result != ZEPI_SUCCESS)
            return result;
        // Powers of two: the largest is a multiple of the others.
        most = page_bytes > most ? page_bytes : most;
    }
    *out_page_bytes = most;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_has_virtual_memory(const struct zepi_device *device, bool *out_has)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t ze_device = device->ze;
    ze_context_handle_t context = NULL;
    size_t page_bytes = 0;
    const zepi_result_t result =
        ZEPI_ZE(zeContextCreateEx, device->platform->ze, &desc, 1, &ze_device, &context);
    if (result != ZEPI_SUCCESS)
        return result;
    const ze_result_t ze = zepi_ze.zeVirtualMemQueryPageSize(context, device->ze, 1, &page_bytes);
    zepi_ze.zeContextDestroy(context);
    *out_has = ze == ZE_RESULT_SUCCESS && page_bytes > 0;
    return zepi_check_ze_severe(ze, "zeVirtualMemQueryPageSize");
}

// ---- Ranges ----

static zepi_result_t check_virtual_range(const void *start, size_t size_bytes)
{
    if (size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "a range of 0 bytes");
    if ((uintptr_t)start + size_bytes < (uintptr_t)start)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "%zu bytes from %p reach past the end of memory",
                         size_bytes, start);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_virtual_memory_reserve(struct zepi_context *context, const void *preferred,
                                          size_t size_bytes, void **out_start)
{
    void *start;
    zepi_result_t result = check_virtual_range(preferred, size_bytes);
    // Quirk sizes-round-to-zero: there would be addresses, of none.
    if (result == ZEPI_SUCCESS && size_bytes > SIZE_MAX / 2)
        result = zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY, "%zu bytes of addresses", size_bytes);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeVirtualMemReserve, context->ze, preferred, size_bytes, &start);
    if (result == ZEPI_SUCCESS)
        *out_start = start;
    return result;
}

typedef ze_result_t range_fn(ze_context_handle_t context, const void *start, size_t size_bytes);

// Unmaps the range. Its mappings leave the tree before: once the driver has ended them, another
// thread may map there.
static zepi_result_t end_mappings_in(struct zepi_context *context, const void *start,
                                     size_t size_bytes, range_fn *function, const char *name)
{
    struct zepi_mappings *mappings = mappings_of(context);
    const uintptr_t begin = (uintptr_t)start;
    zepi_result_t result = check_virtual_range(start, size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_mapping *spares[2] = {zepi_allocate(1, sizeof(*spares[0])),
                                      zepi_allocate(1, sizeof(*spares[1]))};
    if (spares[0] && spares[1]) {
        struct zepi_mapping *taken = mappings_take(mappings, begin, begin + size_bytes, spares);
        result = zepi_check_ze(function(context->ze, start, size_bytes), name);
        if (result == ZEPI_SUCCESS)
            mapping_list_release(taken, context);
        else
            mappings_put_back(mappings, taken);
    } else {
        result = zepi_fail_no_memory();
    }
    zepi_free(spares[0]);
    zepi_free(spares[1]);
    return result;
}

zepi_result_t zepi_virtual_memory_free(struct zepi_context *context, const void *start,
                                       size_t size_bytes)
{
    return end_mappings_in(context, start, size_bytes, zepi_ze.zeVirtualMemFree,
                           "zeVirtualMemFree");
}

zepi_result_t zepi_virtual_memory_unmap(struct zepi_context *context, const void *start,
                                        size_t size_bytes)
{
    return end_mappings_in(context, start, size_bytes, zepi_ze.zeVirtualMemUnmap,
                           "zeVirtualMemUnmap");
}

static_assert((int)ZEPI_ACCESS_NONE == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE &&
                  (int)ZEPI_ACCESS_READ_WRITE == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE &&
                  (int)ZEPI_ACCESS_READ_ONLY == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY,
              "access has Level Zero's values");

zepi_result_t zepi_virtual_memory_map(struct zepi_context *context, const void *start,
                                      size_t size_bytes, struct zepi_physical_memory *memory,
                                      size_t offset_bytes, enum zepi_memory_access access)
{
    struct zepi_mappings *mappings = mappings_of(context);
    zepi_result_t result = check_virtual_range(start, size_bytes);
    if (result == ZEPI_SUCCESS &&
        (offset_bytes > memory->size_bytes || size_bytes > memory->size_bytes - offset_bytes))
        result =
            zepi_fail(ZEPI_ERROR_INVALID_SIZE, "%zu bytes from %zu on, of physical memory of %zu",
                      size_bytes, offset_bytes, memory->size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_mapping *mapping = zepi_allocate(1, sizeof(*mapping));
    if (!mapping)
        return zepi_fail_no_memory();
    result = ZEPI_ZE(zeVirtualMemMap, context->ze, start, size_bytes, memory->ze, offset_bytes,
                     (ze_memory_access_attribute_t)access);
    if (result != ZEPI_SUCCESS) {
        zepi_free(mapping);
        return result;
    }
    mapping->start = (uintptr_t)start;
    mapping->node.address = mapping->start + size_bytes - 1;
    mapping->memory = memory;
    zepi_mutex_lock(&mappings->mutex);
    zepi_address_tree_add(&mappings->tree, &mapping->node);
    atomic_store_explicit(&mappings->is_any, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&memory->uses, 1, memory_order_relaxed);
    zepi_mutex_unlock(&mappings->mutex);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_virtual_memory_set_access(struct zepi_context *context, const void *start,
                                             size_t size_bytes, enum zepi_memory_access access)
{
    const zepi_result_t result = check_virtual_range(start, size_bytes);
    return result == ZEPI_SUCCESS ? ZEPI_ZE(zeVirtualMemSetAccessAttribute, context->ze, start,
                                            size_bytes, (ze_memory_access_attribute_t)access)
                                  : result;
}

zepi_result_t zepi_virtual_memory_get_access(struct zepi_context *context, const void *start,
                                             size_t size_bytes, enum zepi_memory_access *out_access)
{
    ze_memory_access_attribute_t attribute = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    size_t same_bytes = 0;
    zepi_result_t result = check_virtual_range(start, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeVirtualMemGetAccessAttribute, context->ze, start, size_bytes, &attribute,
                         &same_bytes);
    if (result == ZEPI_SUCCESS && same_bytes < size_bytes)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "access changes after %zu of the %zu bytes from %p on", same_bytes,
                           size_bytes, start);
    if (result == ZEPI_SUCCESS)
        *out_access = (enum zepi_memory_access)attribute;
    return result;
}
