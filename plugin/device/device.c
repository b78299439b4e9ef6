// SPDX-License-Identifier: MIT
#include "device/device.h"

#include "core/alloc.h"
#include "core/options.h"
#include "core/sys.h"
#include "device/platform.h"
#include "ze/ze.h"

// A pair of clocks (zepi_device_ticks_at): how long it serves, how long a query may take, how many
// are tried.
#define CLOCK_PAIR_NS 100000000
#define CLOCK_QUERY_NS 20000
#define CLOCK_QUERIES 3

#define MOST 16 // memories or queue groups of a device; further ones are not asked for

static void device_destroy(void *object)
{
    struct zepi_device *device = object;
    for (uint32_t i = 0; i < device->sub_device_count; i++)
        zepi_release(device->sub_devices[i]);
    zepi_free(device->sub_devices);
}

ZEPI_DEFINE_TYPE(device, device_destroy);

static zepi_result_t query_properties(struct zepi_device *device)
{
    struct zepi_ze_number ip = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT};
    struct zepi_ze_mutable_list_properties mutability = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_LIST_PROPERTIES};
    const struct zepi_ze_optional *optional = &device->platform->optional;
    // With the 1.2 structure type the timer's resolution is in cycles a second.
    device->properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    mutability.next = optional->has_ip_version ? &ip : NULL;
    device->properties.pNext = optional->has_mutable_lists ? &mutability : mutability.next;
    zepi_result_t result = ZEPI_ZE(zeDeviceGetProperties, device->ze, &device->properties);
    device->properties.pNext = NULL;
    if (result != ZEPI_SUCCESS)
        return result;
    device->ip_version = ip.value;
    device->mutable_flags = mutability.command_flags;
    device->timer_hz =
        device->properties.timerResolution ? device->properties.timerResolution : 1000000000u;
    const uint32_t bits = device->properties.kernelTimestampValidBits;
    device->timestamp_mask = bits == 0 || bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    device->compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
    result = ZEPI_ZE(zeDeviceGetComputeProperties, device->ze, &device->compute);
    if (result != ZEPI_SUCCESS)
        return result;
    device->module.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    return ZEPI_ZE(zeDeviceGetModuleProperties, device->ze, &device->module);
}

// Bytes a second; 0: the driver does not tell.
static uint64_t bandwidth_of(const ze_device_memory_ext_properties_t *details)
{
    const uint64_t most = details->readBandwidth > details->writeBandwidth
                              ? details->readBandwidth
                              : details->writeBandwidth;
    return details->bandwidthUnit == ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC ? most * 1000000000u : 0;
}

// A limit below the device's memory is that of code which addresses allocations by 32 bits (quirk
// four-gigabytes): a larger allocation needs a relaxed limit and code that was compiled for it.
static void set_allocation_limit(struct zepi_device *device)
{
    const bool is_relaxed = zepi_options()->large_allocations &&
                            device->platform->optional.has_relaxed_allocation_limits;
    device->max_allocation_bytes = device->properties.maxMemAllocSize;
    if (is_relaxed && device->max_allocation_bytes > 0 &&
        device->max_allocation_bytes < device->global_memory_bytes) {
        device->max_allocation_bytes = device->global_memory_bytes;
        device->has_large_allocations = true;
    }
    // A part may have no memory beyond the limit, and use its parent's.
    if (device->parent && device->parent->has_large_allocations)
        device->has_large_allocations = true;
}

static zepi_result_t query_memory(struct zepi_device *device)
{
    ze_device_memory_properties_t memories[MOST] = {0};
    ze_device_memory_ext_properties_t details[MOST] = {0};
    uint32_t count = MOST;
    for (uint32_t i = 0; i < MOST; i++) {
        details[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES;
        details[i].bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
        memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        memories[i].pNext = device->platform->optional.has_memory_details ? &details[i] : NULL;
    }
    zepi_result_t result = ZEPI_ZE(zeDeviceGetMemoryProperties, device->ze, &count, memories);
    if (result != ZEPI_SUCCESS)
        return result;
    // The driver may keep some of the memory for itself, and say 0 for a size that it cannot tell.
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        const uint64_t bandwidth = bandwidth_of(&details[i]);
        device->global_memory_bytes +=
            details[i].physicalSize > 0 ? details[i].physicalSize : memories[i].totalSize;
        if (bandwidth > device->memory_bandwidth)
            device->memory_bandwidth = bandwidth;
    }
    if (count > 0) {
        device->memory_clock_mhz = memories[0].maxClockRate;
        device->memory_bus_bits = memories[0].maxBusWidth;
    }

    device->access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
    result = ZEPI_ZE(zeDeviceGetMemoryAccessProperties, device->ze, &device->access);
    if (result == ZEPI_SUCCESS)
        set_allocation_limit(device);
    return result;
}

static zepi_result_t query_queue_groups(struct zepi_device *device)
{
    ze_command_queue_group_properties_t groups[MOST] = {0};
    uint32_t count = MOST;
    for (uint32_t i = 0; i < MOST; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    const zepi_result_t result =
        ZEPI_ZE(zeDeviceGetCommandQueueGroupProperties, device->ze, &count, groups);
    if (result != ZEPI_SUCCESS)
        return result;
    device->copy_ordinal = UINT32_MAX;
    bool has_compute = false;
    for (uint32_t i = count < MOST ? count : MOST; i-- > 0;) {
        const ze_command_queue_group_property_flags_t flags = groups[i].flags;
        if (flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) {
            has_compute = true;
            device->compute_ordinal = i;
            device->compute_count = groups[i].numQueues;
            device->max_fill_pattern_bytes = groups[i].maxMemoryFillPatternSize;
        } else if (flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) {
            device->copy_ordinal = i;
        }
    }
    // Quirk no-queue-group: queue 0 of group 0 is always there.
    if (!has_compute || device->compute_count == 0)
        device->compute_count = 1;
    return ZEPI_SUCCESS;
}

static zepi_result_t query_image_limits(struct zepi_device *device)
{
    device->images.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
    const ze_result_t ze = zepi_ze.zeDeviceGetImageProperties(device->ze, &device->images);
    device->has_images = ze == ZE_RESULT_SUCCESS && device->images.maxImageDims2D > 0;
    return zepi_check_ze_severe(ze, "zeDeviceGetImageProperties");
}

struct zepi_device *zepi_device_find(struct zepi_device *const *devices, uint32_t count,
                                     ze_device_handle_t ze)
{
    struct zepi_device *found = NULL;
    for (uint32_t i = 0; i < count && !found; i++)
        found = devices[i]->ze == ze
                    ? devices[i]
                    : zepi_device_find(devices[i]->sub_devices, devices[i]->sub_device_count, ze);
    return found;
}

// Root devices of the platform (parent: NULL), or parts of a device, with one reference to each.
// After a failure the list has the devices that were made before it.
static zepi_result_t create_devices(struct zepi_platform *platform, struct zepi_device *parent,
                                    struct zepi_device ***out_devices, uint32_t *out_count);

static zepi_result_t device_create(struct zepi_platform *platform, struct zepi_device *parent,
                                   ze_device_handle_t ze, struct zepi_device **out_device)
{
    struct zepi_device *device = zepi_object_create(&zepi_device_type);
    if (!device)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    device->platform = platform;
    device->parent = parent;
    device->ze = ze;
    zepi_result_t result = query_properties(device);
    if (result == ZEPI_SUCCESS)
        result = query_memory(device);
    if (result == ZEPI_SUCCESS)
        result = query_queue_groups(device);
    if (result == ZEPI_SUCCESS)
        result = query_image_limits(device);
    if (result == ZEPI_SUCCESS)
        result = create_devices(platform, device, &device->sub_devices, &device->sub_device_count);
    if (result != ZEPI_SUCCESS) {
        zepi_release(device);
        return result;
    }
    *out_device = device;
    return ZEPI_SUCCESS;
}

static zepi_result_t list_device_handles(const struct zepi_platform *platform,
                                         const struct zepi_device *parent, uint32_t *count,
                                         ze_device_handle_t *handles)
{
    return parent ? ZEPI_ZE(zeDeviceGetSubDevices, parent->ze, count, handles)
                  : ZEPI_ZE(zeDeviceGet, platform->ze, count, handles);
}

static zepi_result_t create_devices(struct zepi_platform *platform, struct zepi_device *parent,
                                    struct zepi_device ***out_devices, uint32_t *out_count)
{
    uint32_t count = 0;
    zepi_result_t result = list_device_handles(platform, parent, &count, NULL);
    if (result != ZEPI_SUCCESS || count == 0)
        return result;
    ze_device_handle_t *handles = zepi_allocate(count, sizeof(*handles));
    *out_devices = zepi_allocate(count, sizeof(struct zepi_device *));
    if (!handles || !*out_devices)
        result = zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS)
        result = list_device_handles(platform, parent, &count, handles);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        // Quirk own-sub-device: it would have no end.
        if (parent &&
            (handles[i] == parent->ze || (parent->parent && handles[i] == parent->parent->ze)))
            continue;
        result = device_create(platform, parent, handles[i], &(*out_devices)[*out_count]);
        if (result == ZEPI_SUCCESS)
            ++*out_count;
    }
    zepi_free(handles);
    return result;
}

zepi_result_t zepi_device_create_roots(struct zepi_platform *platform)
{
    return create_devices(platform, NULL, &platform->devices, &platform->device_count);
}

zepi_result_t zepi_device_get_external_kinds(const struct zepi_device *device,
                                             struct zepi_external_kinds *out_kinds)
{
    static const uint32_t known =
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    ze_device_external_memory_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    const ze_result_t ze = zepi_ze.zeDeviceGetExternalMemoryProperties(device->ze, &properties);
    *out_kinds = (struct zepi_external_kinds){0};
    if (ze == ZE_RESULT_SUCCESS) {
        out_kinds->imported = properties.memoryAllocationImportTypes & known;
        out_kinds->exported = properties.memoryAllocationExportTypes & known;
    }
    return zepi_check_ze_severe(ze, "zeDeviceGetExternalMemoryProperties");
}

// ---- Clocks ----

uint64_t zepi_device_ticks_to_ns(const struct zepi_device *device, uint64_t ticks)
{
    const uint64_t hz = device->timer_hz;
    // In two steps, since the product of a 64-bit count with 1e9 would overflow.
    return ticks / hz * 1000000000u + (uint64_t)((__uint128_t)(ticks % hz) * 1000000000u / hz);
}

// A thread that loses its processor in the middle tries again.
static zepi_result_t device_read_clocks(const struct zepi_device *device,
                                        struct zepi_clock_pair *out_pair)
{
    zepi_result_t result = ZEPI_SUCCESS;
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < CLOCK_QUERIES && result == ZEPI_SUCCESS && least_ns > CLOCK_QUERY_NS; i++) {
        // Not the driver's host time: Level Zero does not say of which clock that is.
        struct zepi_clock_pair pair = {.host_ns = zepi_clock_ns()};
        uint64_t driver_ns;
        result = ZEPI_ZE(zeDeviceGetGlobalTimestamps, device->ze, &driver_ns, &pair.ticks);
        const uint64_t needed_ns = zepi_clock_ns() - pair.host_ns;
        if (result == ZEPI_SUCCESS && needed_ns < least_ns) {
            least_ns = needed_ns;
            *out_pair = pair;
        }
    }
    return result;
}

zepi_result_t zepi_device_ticks_at(struct zepi_device *device, uint64_t host_ns,
                                   uint64_t *out_ticks)
{
    zepi_mutex_lock(&device->clock_mutex);
    struct zepi_clock_pair pair = device->clock;
    zepi_mutex_unlock(&device->clock_mutex);
    if (pair.ticks == 0 || host_ns > pair.host_ns + CLOCK_PAIR_NS) {
        const zepi_result_t result = device_read_clocks(device, &pair);
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_mutex_lock(&device->clock_mutex);
        device->clock = pair;
        zepi_mutex_unlock(&device->clock_mutex);
    }
    const bool is_later = host_ns >= pair.host_ns;
    const uint64_t apart_ns = is_later ? host_ns - pair.host_ns : pair.host_ns - host_ns;
    const uint64_t apart = (uint64_t)((__uint128_t)apart_ns * device->timer_hz / 1000000000u);
    *out_ticks = is_later ? pair.ticks + apart : apart < pair.ticks ? pair.ticks - apart : 1;
    return ZEPI_SUCCESS;
}

uint64_t zepi_device_timer_resolution_ns(const struct zepi_device *device)
{
    const uint64_t tick_ns = (1000000000u + device->timer_hz / 2) / device->timer_hz;
    return tick_ns > 0 ? tick_ns : 1;
}

zepi_result_t zepi_device_get_time(struct zepi_device *device, uint64_t *out_host_ns,
                                   uint64_t *out_device_ns)
{
    uint64_t ticks;
    const zepi_result_t result =
        ZEPI_ZE(zeDeviceGetGlobalTimestamps, device->ze, out_host_ns, &ticks);
    if (result == ZEPI_SUCCESS)
        *out_device_ns = zepi_device_ticks_to_ns(device, ticks);
    return result;
}
