// SPDX-License-Identifier: MIT
#include "memory/usm.h"

#include "base/list.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"

static zepi_result_t check_device(const struct zepi_context *context, zepi_device_t device,
                                  zepi_usm_kind_t kind)
{
    uint32_t index;
    switch (kind) {
    case ZEPI_USM_HOST:
        return device ? zepi_fail(ZEPI_ERROR_INVALID_VALUE, "host memory belongs to no device: "
                                                            "expected NULL")
                      : ZEPI_SUCCESS;
    case ZEPI_USM_SHARED:
        return device ? zepi_context_check_device(context, device, &index) : ZEPI_SUCCESS;
    case ZEPI_USM_DEVICE:
        return zepi_context_check_device(context, device, &index);
    case ZEPI_USM_UNKNOWN:
        break;
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "kind %d of USM is none of host, device and shared",
                     (int)kind);
}

// Drivers refuse allocations above a limit unless they are asked in this way.
static zepi_result_t relax_limit(const struct zepi_context *context, zepi_device_t device,
                                 size_t size_bytes,
                                 ze_relaxed_allocation_limits_exp_desc_t *relaxed,
                                 const void **out_next)
{
    *out_next = NULL;
    if (!device || size_bytes <= device->properties.maxMemAllocSize ||
        device->properties.maxMemAllocSize == 0)
        return ZEPI_SUCCESS;
    if (!context->platform->optional.has_relaxed_allocation_limits ||
        (device->global_memory_bytes > 0 && size_bytes > device->global_memory_bytes))
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: the device allocates at most %llu at once",
                         size_bytes, (unsigned long long)device->properties.maxMemAllocSize);
    *relaxed = (ze_relaxed_allocation_limits_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    *out_next = relaxed;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_usm_allocate(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind,
                                size_t size_bytes, size_t alignment_bytes, void **out_memory)
{
    ze_relaxed_allocation_limits_exp_desc_t relaxed;
    const void *next;
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result == ZEPI_SUCCESS)
        result = check_device(context, device, kind);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the memory is NULL");
    if (size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "an allocation of 0 bytes");
    if (alignment_bytes & (alignment_bytes - 1))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the alignment is %zu, expected a power of two or 0", alignment_bytes);
    result = relax_limit(context, device, size_bytes, &relaxed, &next);
    if (result != ZEPI_SUCCESS)
        return result;

    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = next};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    if (kind == ZEPI_USM_HOST)
        result =
            ZEPI_ZE(zeMemAllocHost, context->ze, &host_desc, size_bytes, alignment_bytes, &memory);
    else if (kind == ZEPI_USM_DEVICE)
        result = ZEPI_ZE(zeMemAllocDevice, context->ze, &device_desc, size_bytes, alignment_bytes,
                         device->ze, &memory);
    else
        result = ZEPI_ZE(zeMemAllocShared, context->ze, &device_desc, &host_desc, size_bytes,
                         alignment_bytes, device ? device->ze : NULL, &memory);
    if (result == ZEPI_SUCCESS)
        *out_memory = memory;
    return result;
}

zepi_result_t zepi_usm_free(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the memory is NULL");
    return ZEPI_ZE(zeMemFree, context->ze, memory);
}

static zepi_usm_kind_t kind_of(ze_memory_type_t type)
{
    switch ((int)type) {
    case ZE_MEMORY_TYPE_HOST:
        return ZEPI_USM_HOST;
    case ZE_MEMORY_TYPE_DEVICE:
        return ZEPI_USM_DEVICE;
    case ZE_MEMORY_TYPE_SHARED:
        return ZEPI_USM_SHARED;
    default:
        return ZEPI_USM_UNKNOWN;
    }
}

zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info)
{
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!address)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the address is NULL");
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = NULL;
    result = ZEPI_ZE(zeMemGetAllocProperties, context->ze, address, &properties, &device);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_usm_info_t info = {.kind = kind_of(properties.type), .id = properties.id};
    if (info.kind != ZEPI_USM_UNKNOWN) {
        result = ZEPI_ZE(zeMemGetAddressRange, context->ze, address, &info.base, &info.size_bytes);
        if (result != ZEPI_SUCCESS)
            return result;
        if (info.kind != ZEPI_USM_HOST)
            info.device = zepi_device_find(context->devices, context->device_count, device);
    }
    return zepi_copy_info(out_info, &info, sizeof(info));
}

bool zepi_usm_is_inside(const struct zepi_context *context, const void *address, size_t size_bytes)
{
    const char *next = address;
    // Mappings of virtual memory may lie side by side, and be used as one.
    while (size_bytes > 0) {
        void *base = NULL;
        size_t room = 0;
        if (zepi_ze.zeMemGetAddressRange(context->ze, next, &base, &room) != ZE_RESULT_SUCCESS ||
            !base || (const char *)base > next || (size_t)(next - (const char *)base) >= room)
            return next == (const char *)address;
        room -= (size_t)(next - (const char *)base);
        if (size_bytes <= room)
            return true;
        size_bytes -= room;
        next += room;
    }
    return true;
}
