// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_DEVICE_H
#define ZEPI_DEVICE_DEVICE_H

#include "cache/digest.h"
#include "core/mutex.h"
#include "core/object.h"

struct zepi_platform;

// One moment on the clocks of host and device.
struct zepi_clock_pair {
    uint64_t host_ns; // zepi_clock_ns
    uint64_t ticks;   // 0: none yet
};

// A device or sub-device. Made with its platform, and there as long; filled, then never written but
// for properties that are found out later.
struct zepi_device {
    struct zepi_object object;
    struct zepi_platform *platform; // borrowed
    struct zepi_device *parent;     // borrowed; NULL: a root device
    ze_device_handle_t ze;
    ze_device_properties_t properties;
    ze_device_compute_properties_t compute;
    ze_device_module_properties_t module;
    uint64_t global_memory_bytes;
    uint64_t max_allocation_bytes; // 0: unknown
    bool has_large_allocations;    // beyond the driver's limit: its code is compiled for them
    uint64_t memory_bandwidth; // bytes a second, of the fastest memory; 0: the driver does not tell
    uint32_t memory_clock_mhz; // of the first memory, which stands for all
    uint32_t memory_bus_bits;
    ze_device_memory_access_properties_t access;
    bool has_images;
    ze_device_image_properties_t images; // limits; of no use without images
    uint32_t ip_version;                 // 0: unknown
    uint32_t mutable_flags;   // the fields of commands in closed lists that can be changed; 0: none
    uint32_t compute_ordinal; // of the command queue group for everything
    uint32_t compute_count;   // of queues in that group
    uint32_t copy_ordinal;    // of a group for copies alone, UINT32_MAX: none
    size_t max_fill_pattern_bytes;
    uint64_t timer_hz;                // of timestamps
    uint64_t timestamp_mask;          // valid bits of a kernel's timestamps
    struct zepi_mutex clock_mutex;    // guards the next; nothing is called under it
    struct zepi_clock_pair clock;     // zepi_device_ticks_at
    struct zepi_device **sub_devices; // owned
    uint32_t sub_device_count;
    atomic_uint next_engine; // for compute, of the next command list that may be on any
};

extern const struct zepi_type zepi_device_type;

static inline const struct zepi_device *zepi_device_root(const struct zepi_device *device)
{
    while (device->parent)
        device = device->parent;
    return device;
}

// Makes the devices of a new platform, which has one reference to each.
zepi_result_t zepi_device_create_roots(struct zepi_platform *platform);

// The device of this handle among `devices` and their parts; NULL: none.
struct zepi_device *zepi_device_find(struct zepi_device *const *devices, uint32_t count,
                                     ze_device_handle_t ze);

// The kinds of memory of other interfaces that the driver imports, and as which it exports device
// memory: ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD and _DMA_BUF. Asked for each time; a driver that
// does not tell has none.
struct zepi_external_kinds {
    uint32_t imported;
    uint32_t exported;
};
zepi_result_t zepi_device_get_external_kinds(const struct zepi_device *device,
                                             struct zepi_external_kinds *out_kinds);

// ---- Clocks ----

// Nanoseconds of a number of ticks of the device's clock.
uint64_t zepi_device_ticks_to_ns(const struct zepi_device *device, uint64_t ticks);

// The device's clock at a moment of zepi_clock_ns in the past: at least 1 tick. Asks the driver if
// the moment is more than 100 ms behind the last pair of both clocks. The result is late by the
// time of a query of the driver at most (three are tried, until one takes less than 20
// microseconds); to this comes the drift of the clocks between the moment and the pair: of clocks
// that differ by 100 ppm, 10 microseconds if the moment is asked for within 100 ms, and 6
// milliseconds for each minute that it is asked for later.
zepi_result_t zepi_device_ticks_at(struct zepi_device *device, uint64_t host_ns,
                                   uint64_t *out_ticks);

// Nanoseconds between two ticks, rounded, at least 1.
uint64_t zepi_device_timer_resolution_ns(const struct zepi_device *device);

// Now, on the clocks of host and device.
zepi_result_t zepi_device_get_time(struct zepi_device *device, uint64_t *out_host_ns,
                                   uint64_t *out_device_ns);

#endif
