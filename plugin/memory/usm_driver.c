// SPDX-License-Identifier: MIT
#include "memory/usm_driver.h"

#include "device/device.h"
#include "ze/ze.h"

#include <string.h>

static ze_result_t allocate_from_driver(const struct zepi_context *context,
                                        const struct zepi_device *device, zepi_usm_kind_t kind,
                                        size_t size_bytes, size_t alignment_bytes, const void *next,
                                        void **out_memory)
{
    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = next};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                                .pNext = kind == ZEPI_USM_HOST ? next : NULL};
    if (kind == ZEPI_USM_HOST)
        return zepi_ze.zeMemAllocHost(context->ze, &host_desc, size_bytes, alignment_bytes,
                                      out_memory);
    if (kind == ZEPI_USM_DEVICE)
        return zepi_ze.zeMemAllocDevice(context->ze, &device_desc, size_bytes, alignment_bytes,
                                        device->ze, out_memory);
    return zepi_ze.zeMemAllocShared(context->ze, &device_desc, &host_desc, size_bytes,
                                    alignment_bytes, device ? device->ze : NULL, out_memory);
}

zepi_result_t zepi_usm_driver_allocate(struct zepi_context *context, struct zepi_device *device,
                                       zepi_usm_kind_t kind, enum zepi_usm_contents contents,
                                       size_t size_bytes, size_t alignment_bytes, const void *next,
                                       struct zepi_usm_attempts *attempts, void **out_memory)
{
    static const char *const functions[] = {[ZEPI_USM_HOST] = "zeMemAllocHost",
                                            [ZEPI_USM_DEVICE] = "zeMemAllocDevice",
                                            [ZEPI_USM_SHARED] = "zeMemAllocShared"};
    void *memory;
    ze_result_t ze;
    do
        ze =
            allocate_from_driver(context, device, kind, size_bytes, alignment_bytes, next, &memory);
    while (zepi_context_reclaim(context, ze, &attempts->of_driver));
    zepi_result_t result = zepi_check_ze(ze, functions[kind]);
    if (result == ZEPI_SUCCESS && contents == ZEPI_USM_ZEROS) {
        if (kind == ZEPI_USM_DEVICE)
            result = (*zepi_usm_write_of(context))(context, device, memory, NULL, size_bytes);
        else
            memset(memory, 0, size_bytes);
        if (result != ZEPI_SUCCESS)
            zepi_ze.zeMemFree(context->ze, memory);
    }
    if (result == ZEPI_SUCCESS)
        *out_memory = memory;
    return result;
}

zepi_result_t zepi_usm_driver_room(const struct zepi_context *context, const void *memory,
                                   size_t *out_bytes)
{
    void *start = NULL;
    size_t size_bytes = 0;
    const zepi_result_t result =
        ZEPI_ZE(zeMemGetAddressRange, context->ze, memory, &start, &size_bytes);
    *out_bytes = size_bytes - ((uintptr_t)memory - (uintptr_t)start);
    return result;
}
