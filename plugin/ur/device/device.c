// SPDX-License-Identifier: MIT
#include "device/adapter.h"
#include "ur/device/device_value.h"
#include "ur/handles.h"
#include "ur/info.h"
#include "ze/ze.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool device_is_of_type(const struct zepi_device *device, ur_device_type_t type)
{
    return type == UR_DEVICE_TYPE_ALL || type == UR_DEVICE_TYPE_DEFAULT ||
           type == zepi_ur_device_type_of(device);
}

// Whether a selector of the DPC++ runtime, "BACKEND:DEVICE,...;!BACKEND:DEVICE...", asks Level Zero
// for GPUs: by a term that is not an exclusion.
static bool selects_gpus(const char *selector)
{
    char text[256];
    char *rest = NULL;
    snprintf(text, sizeof(text), "%s", selector);
    for (char *term = strtok_r(text, ";", &rest); term; term = strtok_r(NULL, ";", &rest)) {
        char *devices = strchr(term, ':');
        if (!devices)
            continue;
        *devices++ = '\0';
        if ((strcmp(term, "*") == 0 || strcasecmp(term, "level_zero") == 0) &&
            strcasestr(devices, "gpu"))
            return true;
    }
    return false;
}

// The DPC++ runtime asks for devices of all types and applies its own selector.
static bool asks_for_gpus(ur_device_type_t type)
{
    const char *selector =
        type == UR_DEVICE_TYPE_ALL ? secure_getenv("ONEAPI_DEVICE_SELECTOR") : NULL;
    return type == UR_DEVICE_TYPE_GPU || (selector && selects_gpus(selector));
}

// A program that asks for GPUs alone often ends without a reason that names the device.
static void note_missing_gpu(const struct zepi_platform *asked)
{
    static atomic_bool is_noted;
    struct zepi_platform *const *platforms;
    uint32_t count;
    if (!asked->quirks.is_on_cpu || zepi_adapter_get(&platforms, &count) != ZEPI_SUCCESS)
        return;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < platforms[i]->device_count; j++) {
            if (platforms[i]->devices[j]->properties.type == ZE_DEVICE_TYPE_GPU)
                return;
        }
    }
    if (!atomic_exchange(&is_noted, true))
        fprintf(stderr, "zepi: the program asks for a GPU, and " ZEPI_DRIVER_GPU_HINT "\n");
}

ur_result_t zepi_urDeviceGet(ur_platform_handle_t hPlatform, ur_device_type_t DeviceType,
                             uint32_t NumEntries, ur_device_handle_t *phDevices,
                             uint32_t *pNumDevices)
{
    const struct zepi_platform *platform = zepi_ur_platform(hPlatform);
    uint32_t count = 0;
    ur_result_t result;
    if ((result = zepi_ur_check_platform(hPlatform)) ||
        (((DeviceType < UR_DEVICE_TYPE_DEFAULT || DeviceType > UR_DEVICE_TYPE_CUSTOM)) &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                  "device type %d is not known", (int)DeviceType))) ||
        (result = zepi_ur_check_list(NumEntries, phDevices)) ||
        (NumEntries > 0 && (result = zepi_ur_check_pointer(phDevices, "phDevices"))))
        return result;
    for (uint32_t i = 0; i < platform->device_count; i++) {
        struct zepi_device *device = platform->devices[i];
        if (!device_is_of_type(device, DeviceType) ||
            (DeviceType == UR_DEVICE_TYPE_DEFAULT && count > 0))
            continue;
        if (count < NumEntries)
            phDevices[count] = (ur_device_handle_t)device;
        count++;
    }
    if (asks_for_gpus(DeviceType))
        note_missing_gpu(platform);
    if (pNumDevices)
        *pNumDevices = count;
    return UR_RESULT_SUCCESS;
}

// Retain and release do not change a root device's count: it stays 1, the platform's. Sub-devices
// are counted.
ur_result_t zepi_urDeviceRetain(ur_device_handle_t hDevice)
{
    const ur_result_t result = zepi_ur_check_device(hDevice);
    return result == UR_RESULT_SUCCESS && zepi_ur_device(hDevice)->parent
               ? zepi_ur_retain(result, hDevice)
               : result;
}

ur_result_t zepi_urDeviceRelease(ur_device_handle_t hDevice)
{
    const ur_result_t result = zepi_ur_check_device(hDevice);
    return result == UR_RESULT_SUCCESS && zepi_ur_device(hDevice)->parent
               ? zepi_ur_release(result, hDevice)
               : result;
}

// Code for GPUs is for them alone, and comes first: nothing is left to compile. SPIR-V is for every
// device that compiles it. 0: the device does not take the binary.
static int binary_rank(const struct zepi_device *device, const ur_device_binary_t *binary)
{
    const char *target = binary->pDeviceTargetSpec ? binary->pDeviceTargetSpec : "";
    if (strcmp(target, UR_DEVICE_BINARY_TARGET_SPIRV64_GEN) == 0)
        return !device->platform->quirks.is_on_cpu && device->properties.type == ZE_DEVICE_TYPE_GPU
                   ? 2
                   : 0;
    return strcmp(target, UR_DEVICE_BINARY_TARGET_SPIRV64) == 0 &&
           device->module.spirvVersionSupported > 0;
}

ur_result_t zepi_urDeviceSelectBinary(ur_device_handle_t hDevice,
                                      const ur_device_binary_t *pBinaries, uint32_t NumBinaries,
                                      uint32_t *pSelectedBinary)
{
    const struct zepi_device *device = zepi_ur_device(hDevice);
    uint32_t best = 0;
    int best_rank = 0;
    ur_result_t result;
    if ((result = zepi_ur_check_device(hDevice)) ||
        (result = zepi_ur_check_pointer(pBinaries, "pBinaries")) ||
        (result = zepi_ur_check_pointer(pSelectedBinary, "pSelectedBinary")) ||
        (NumBinaries == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no binary to choose from"))))
        return result;
    for (uint32_t i = 0; i < NumBinaries; i++) {
        const int rank = binary_rank(device, &pBinaries[i]);
        if (rank > best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    if (best_rank == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_BINARY,
                              "none of %u binaries is for device '%s'", NumBinaries,
                              device->properties.name);
    *pSelectedBinary = best;
    return UR_RESULT_SUCCESS;
}

ZEPI_UR_DEFINE_GET_NATIVE(Device, device)

ur_result_t zepi_urDeviceCreateWithNativeHandle(ur_native_handle_t hNativeDevice,
                                                ur_adapter_handle_t hAdapter,
                                                const ur_device_native_properties_t *pProperties,
                                                ur_device_handle_t *phDevice)
{
    struct zepi_platform *const *platforms;
    uint32_t count;
    (void)pProperties; // devices belong to their driver
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (result = zepi_ur_check_pointer(phDevice, "phDevice")) ||
        (result = zepi_ur_result(zepi_adapter_get(&platforms, &count))))
        return result;
    for (uint32_t i = 0; i < count; i++) {
        struct zepi_device *device = zepi_device_find(
            platforms[i]->devices, platforms[i]->device_count, (ze_device_handle_t)hNativeDevice);
        if (device) {
            *phDevice = (ur_device_handle_t)device;
            return zepi_urDeviceRetain(*phDevice);
        }
    }
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "0x%llx is none of the drivers' devices",
                          (unsigned long long)hNativeDevice);
}

ur_result_t zepi_urDeviceGetGlobalTimestamps(ur_device_handle_t hDevice, uint64_t *pDeviceTimestamp,
                                             uint64_t *pHostTimestamp)
{
    uint64_t host_ns;
    uint64_t device_ns;
    ur_result_t result;
    if ((result = zepi_ur_check_device(hDevice)) ||
        (result =
             zepi_ur_result(zepi_device_get_time(zepi_ur_device(hDevice), &host_ns, &device_ns))))
        return result;
    if (pDeviceTimestamp)
        *pDeviceTimestamp = device_ns;
    if (pHostTimestamp)
        *pHostTimestamp = host_ns;
    return UR_RESULT_SUCCESS;
}

// ---- Sub-devices ----

static ur_result_t check_partition(const struct zepi_device *device,
                                   const ur_device_partition_properties_t *properties)
{
    if (properties->PropCount != 1)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%zu ways to divide a device, expected one", properties->PropCount);
    const ur_device_partition_property_t *property = properties->pProperties;
    if (property->type != UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "partition type 0x%x is none that Level Zero has",
                              (unsigned)property->type);
    if (device->sub_device_count == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
                              "device '%s' has no sub-devices", device->properties.name);
    const ur_device_affinity_domain_flags_t domain = property->value.affinity_domain;
    return domain != 0 && !(domain & ~(ur_device_affinity_domain_flags_t)ZEPI_UR_AFFINITY_DOMAINS)
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "affinity domain 0x%x, expected NUMA or next partitionable",
                                domain);
}

ur_result_t zepi_urDevicePartition(ur_device_handle_t hDevice,
                                   const ur_device_partition_properties_t *pProperties,
                                   uint32_t NumDevices, ur_device_handle_t *phSubDevices,
                                   uint32_t *pNumDevicesRet)
{
    const struct zepi_device *device = zepi_ur_device(hDevice);
    ur_result_t result;
    if ((result = zepi_ur_check_device(hDevice)) ||
        (result = zepi_ur_check_pointer(pProperties, "pProperties")) ||
        (result = zepi_ur_check_pointer(pProperties->pProperties, "pProperties->pProperties")) ||
        (result = check_partition(device, pProperties)))
        return result;
    const uint32_t count = device->sub_device_count;
    for (uint32_t i = 0; i < count && i < NumDevices && phSubDevices; i++)
        phSubDevices[i] = (ur_device_handle_t)zepi_retain(device->sub_devices[i]);
    if (pNumDevicesRet)
        *pNumDevicesRet = count;
    return UR_RESULT_SUCCESS;
}
