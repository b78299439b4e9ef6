// SPDX-License-Identifier: MIT
#include "device.h"

#include "entry.h"
#include "opencl.h"
#include "options.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static struct cpu_device devices[CPU_DEVICE_MAXIMUM];
static struct cpu_device sub_devices[CPU_DEVICE_MAXIMUM][CPU_DEVICE_MAXIMUM];
static pthread_once_t devices_once = PTHREAD_ONCE_INIT;

static void make_devices(void)
{
    for (uint32_t i = 0; i < cpu_options()->devices; i++) {
        cpu_object_init(&devices[i].object, CPU_DEVICE);
        devices[i].index = i;
        for (uint32_t j = 0; j < cpu_options()->sub_devices; j++) {
            cpu_object_init(&sub_devices[i][j].object, CPU_DEVICE);
            sub_devices[i][j].index = j;
            sub_devices[i][j].parent = &devices[i];
        }
    }
}

void cpu_devices_init(void)
{
    pthread_once(&devices_once, make_devices);
}

void cpu_device_uuid(const struct cpu_device *device, uint8_t *out_uuid)
{
    uint32_t parent = device->parent != NULL ? device->parent->index + 1 : 0;
    memset(out_uuid, 0, ZE_MAX_DEVICE_UUID_SIZE);
    memcpy(out_uuid, "zepi-cpu-dev", 12);
    out_uuid[13] = (uint8_t)parent;
    out_uuid[14] = (uint8_t)device->index;
}

const struct cpu_device *cpu_device_of_uuid(const uint8_t *uuid)
{
    uint8_t own[ZE_MAX_DEVICE_UUID_SIZE];
    for (uint32_t i = 0; i < cpu_options()->devices; i++) {
        for (uint32_t j = 0; j <= cpu_options()->sub_devices; j++) {
            const struct cpu_device *device = j == 0 ? &devices[i] : &sub_devices[i][j - 1];
            cpu_device_uuid(device, own);
            if (memcmp(own, uuid, sizeof(own)) == 0)
                return device;
        }
    }
    return NULL;
}

ze_result_t cpu_devices_check(uint32_t count, const ze_device_handle_t *handles,
                              const char *function)
{
    return count > 0 && handles == NULL ? ZE_RESULT_ERROR_INVALID_SIZE
                                        : cpu_objects_check(count, handles, CPU_DEVICE, function);
}

bool cpu_device_is_part_of(ze_device_handle_t device, ze_device_handle_t other)
{
    return device == other || (ze_device_handle_t)((struct cpu_device *)device)->parent == other;
}

const struct cpu_device *cpu_device_root(ze_device_handle_t device)
{
    const struct cpu_device *found = (const struct cpu_device *)device;
    return found->parent != NULL ? found->parent : found;
}

uint64_t cpu_device_clock(void)
{
    struct timespec now;
    // The host's side of zeDeviceGetGlobalTimestamps, on the same clock as with Intel's driver.
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cpu_device_ticks(uint64_t clock)
{
    uint32_t bits = cpu_options()->timestamp_bits;
    return bits >= 64 ? clock : clock & ((UINT64_C(1) << bits) - 1);
}

static ze_result_t give_devices(struct cpu_device *first, uint32_t available, uint32_t *pCount,
                                ze_device_handle_t *handles)
{
    if (handles == NULL || *pCount == 0) {
        *pCount = available;
        return ZE_RESULT_SUCCESS;
    }
    if (*pCount > available)
        *pCount = available;
    for (uint32_t i = 0; i < *pCount; i++)
        handles[i] = (ze_device_handle_t)&first[i];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                       ze_device_handle_t *phDevices)
{
    return give_devices(devices, cpu_options()->devices, pCount, phDevices);
}

ze_result_t ZE_APICALL cpu_zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                                 ze_device_handle_t *phSubdevices)
{
    const struct cpu_device *device = (const struct cpu_device *)hDevice;
    uint32_t available = device->parent == NULL ? cpu_options()->sub_devices : 0;
    return give_devices(sub_devices[device->index], available, pCount, phSubdevices);
}

ze_result_t ZE_APICALL cpu_zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                                 ze_device_handle_t *phRootDevice)
{
    const struct cpu_device *device = (const struct cpu_device *)hDevice;
    *phRootDevice = (ze_device_handle_t)device->parent; // NULL for a root device, says the spec
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetStatus(ze_device_handle_t hDevice)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                                       uint64_t *hostTimestamp,
                                                       uint64_t *deviceTimestamp)
{
    *hostTimestamp = cpu_device_clock();
    *deviceTimestamp = *hostTimestamp;
    return ZE_RESULT_SUCCESS;
}

static bool can_access(ze_device_handle_t device, ze_device_handle_t peer)
{
    return cpu_options()->has_peers || cpu_device_root(device) == cpu_device_root(peer);
}

ze_result_t ZE_APICALL cpu_zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                                 ze_device_handle_t hPeerDevice, ze_bool_t *value)
{
    *value = can_access(hDevice, hPeerDevice);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                                    ze_device_handle_t hPeerDevice,
                                                    ze_device_p2p_properties_t *pP2PProperties)
{
    pP2PProperties->flags =
        can_access(hDevice, hPeerDevice)
            ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS
            : 0;
    return ZE_RESULT_SUCCESS;
}
