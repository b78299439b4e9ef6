// SPDX-License-Identifier: MIT
#include "ze/ze_counted.h"

#include "core/stats.h"
#include "ze/ze.h"

static struct zepi_ze plain;

static ze_result_t count_launch(ze_result_t result)
{
    if (result == ZE_RESULT_SUCCESS)
        zepi_stats_add(ZEPI_STAT_LAUNCHES, 1);
    return result;
}

static ze_result_t count_copy(ze_result_t result, uint64_t size_bytes)
{
    if (result == ZE_RESULT_SUCCESS) {
        zepi_stats_add(ZEPI_STAT_COPIES, 1);
        zepi_stats_add(ZEPI_STAT_COPY_BYTES, size_bytes);
    }
    return result;
}

static ze_result_t ZE_APICALL append_launch(ze_command_list_handle_t list,
                                            ze_kernel_handle_t kernel,
                                            const ze_group_count_t *count, ze_event_handle_t signal,
                                            uint32_t wait_count, ze_event_handle_t *waits)
{
    return count_launch(
        plain.zeCommandListAppendLaunchKernel(list, kernel, count, signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_cooperative_launch(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *count,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    return count_launch(plain.zeCommandListAppendLaunchCooperativeKernel(
        list, kernel, count, signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_copy(ze_command_list_handle_t list, void *to, const void *from,
                                          size_t size_bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits)
{
    return count_copy(
        plain.zeCommandListAppendMemoryCopy(list, to, from, size_bytes, signal, wait_count, waits),
        size_bytes);
}

static ze_result_t ZE_APICALL append_region_copy(
    ze_command_list_handle_t list, void *to, const ze_copy_region_t *to_region, uint32_t to_pitch,
    uint32_t to_slice_pitch, const void *from, const ze_copy_region_t *from_region,
    uint32_t from_pitch, uint32_t from_slice_pitch, ze_event_handle_t signal, uint32_t wait_count,
    ze_event_handle_t *waits)
{
    const uint64_t depth = to_region->depth > 0 ? to_region->depth : 1;
    return count_copy(plain.zeCommandListAppendMemoryCopyRegion(
                          list, to, to_region, to_pitch, to_slice_pitch, from, from_region,
                          from_pitch, from_slice_pitch, signal, wait_count, waits),
                      (uint64_t)to_region->width * to_region->height * depth);
}

static ze_result_t ZE_APICALL append_fill(ze_command_list_handle_t list, void *memory,
                                          const void *pattern, size_t pattern_bytes,
                                          size_t size_bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_result_t result = plain.zeCommandListAppendMemoryFill(
        list, memory, pattern, pattern_bytes, size_bytes, signal, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS) {
        zepi_stats_add(ZEPI_STAT_FILLS, 1);
        zepi_stats_add(ZEPI_STAT_FILL_BYTES, size_bytes);
    }
    return result;
}

// As the driver counts it, so that frees and allocations have the same sizes. 0: not a device's.
static uint64_t device_bytes_of(ze_context_handle_t context, const void *memory)
{
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    size_t size_bytes = 0;
    if (plain.zeMemGetAllocProperties(context, memory, &properties, NULL) != ZE_RESULT_SUCCESS ||
        properties.type != ZE_MEMORY_TYPE_DEVICE ||
        plain.zeMemGetAddressRange(context, memory, NULL, &size_bytes) != ZE_RESULT_SUCCESS)
        return 0;
    return size_bytes;
}

static ze_result_t ZE_APICALL allocate_device(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t *desc,
                                              size_t size_bytes, size_t alignment_bytes,
                                              ze_device_handle_t device, void **out_memory)
{
    const ze_result_t result =
        plain.zeMemAllocDevice(context, desc, size_bytes, alignment_bytes, device, out_memory);
    if (result == ZE_RESULT_SUCCESS)
        zepi_stats_take_memory(device_bytes_of(context, *out_memory));
    return result;
}

static ze_result_t ZE_APICALL free_memory(ze_context_handle_t context, void *memory)
{
    const uint64_t size_bytes = device_bytes_of(context, memory);
    const ze_result_t result = plain.zeMemFree(context, memory);
    if (result == ZE_RESULT_SUCCESS)
        zepi_stats_give_memory(size_bytes);
    return result;
}

void zepi_ze_count_calls(void)
{
    plain = zepi_ze;
    zepi_ze.zeCommandListAppendLaunchKernel = append_launch;
    zepi_ze.zeCommandListAppendLaunchCooperativeKernel = append_cooperative_launch;
    zepi_ze.zeCommandListAppendMemoryCopy = append_copy;
    zepi_ze.zeCommandListAppendMemoryCopyRegion = append_region_copy;
    zepi_ze.zeCommandListAppendMemoryFill = append_fill;
    zepi_ze.zeMemAllocDevice = allocate_device;
    zepi_ze.zeMemFree = free_memory;
}
