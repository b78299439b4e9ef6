// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_DEVICE_H
#define ZE_CPU_DEVICE_H

#include "object.h"

#include <stdbool.h>

#define CPU_DEVICE_MAXIMUM 16

// All devices are the same CPU. They live in static storage and are made by cpu_devices_init; they
// are immutable from then on.
struct cpu_device {
    struct cpu_object object;
    uint32_t index;            // among its siblings
    struct cpu_device *parent; // borrowed; NULL for a root device
};

// The ordinals of the queue groups that every device has.
#define CPU_GROUP_COMPUTE 0
#define CPU_GROUP_COPY 1
#define CPU_GROUP_COUNT 2
#define CPU_GROUP_QUEUES 8

#define CPU_TIMER_HZ 1000000000ull
#define CPU_PAGE_BYTES 4096u

void cpu_devices_init(void);
// Of ZE_MAX_DEVICE_UUID_SIZE bytes; and back: NULL: none.
void cpu_device_uuid(const struct cpu_device *device, uint8_t *out_uuid);
const struct cpu_device *cpu_device_of_uuid(const uint8_t *uuid);
// Bytes that one allocation has at most unless its limit is relaxed; NULL: host memory.
uint64_t cpu_device_allocation_limit(ze_device_handle_t device);
// Bytes that new allocations could have at the moment.
uint64_t cpu_device_usable_bytes(void);

// For arrays of handles, which the layer of checks does not see.
ze_result_t cpu_devices_check(uint32_t count, const ze_device_handle_t *devices,
                              const char *function);

// Whether `device` is `other` or one of its sub-devices: objects made for a device serve these too.
bool cpu_device_is_part_of(ze_device_handle_t device, ze_device_handle_t other);

// The device itself, or the one that it is a part of.
const struct cpu_device *cpu_device_root(ze_device_handle_t device);

// Ticks of the device clock, all 64 bits: nanoseconds of the host's monotonic clock.
uint64_t cpu_device_clock(void);

// Truncated to the valid bits of a kernel's timestamps.
uint64_t cpu_device_ticks(uint64_t clock);

#endif
