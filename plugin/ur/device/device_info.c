// SPDX-License-Identifier: MIT
// Identity of a device: names, versions, relatives.
#include "ur/device/device_info.h"

#include "device/device_details.h"
#include "device/platform.h"
#include "ur/handles.h"

#include <stdio.h>
#include <string.h>

static ur_device_type_t ur_device_type_of(const struct zepi_device *device)
{
    switch ((int)device->properties.type) {
    case ZE_DEVICE_TYPE_GPU:
        return UR_DEVICE_TYPE_GPU;
    case ZE_DEVICE_TYPE_CPU:
        return UR_DEVICE_TYPE_CPU;
    case ZE_DEVICE_TYPE_FPGA:
        return UR_DEVICE_TYPE_FPGA;
    case ZE_DEVICE_TYPE_MCA:
        return UR_DEVICE_TYPE_MCA;
    case ZE_DEVICE_TYPE_VPU:
        return UR_DEVICE_TYPE_VPU;
    default:
        return UR_DEVICE_TYPE_CUSTOM;
    }
}

static ur_result_t get_info_vendor(const struct zepi_device *device,
                                   const struct zepi_ur_info *info)
{
    char vendor[32];
    if (device->platform->quirks.is_on_cpu)
        return zepi_ur_info_return_string(info, "zepi");
    if (device->properties.vendorId == 0x8086)
        return zepi_ur_info_return_string(info, "Intel(R) Corporation");
    snprintf(vendor, sizeof(vendor), "0x%04x", device->properties.vendorId);
    return zepi_ur_info_return_string(info, vendor);
}

// The IP version of a GPU's architecture, as its vendor writes it, if that is this one; other
// devices have none.
static ur_result_t get_info_device_version(const struct zepi_device *device,
                                           const struct zepi_ur_info *info)
{
    char version[32];
    const uint32_t ip = device->ip_version;
    const uint32_t api = device->platform->api_version;
    if (ip > 0 && device->properties.vendorId == 0x8086 && !device->platform->quirks.is_on_cpu)
        snprintf(version, sizeof(version), "%u.%u.%u", ip >> 22, (ip >> 14) & 0xffu, ip & 0x3fu);
    else
        snprintf(version, sizeof(version), "%u.%u", api >> 16, api & 0xffffu);
    return zepi_ur_info_return_string(info, version);
}

static ur_result_t get_info_il_version(const struct zepi_device *device,
                                       const struct zepi_ur_info *info)
{
    char version[32];
    const uint32_t spirv = device->module.spirvVersionSupported;
    if (spirv == 0)
        return zepi_ur_info_return_string(info, "");
    // In OpenCL's form.
    snprintf(version, sizeof(version), "SPIR-V_%u.%u", ZE_MAJOR_VERSION(spirv),
             ZE_MINOR_VERSION(spirv));
    return zepi_ur_info_return_string(info, version);
}

// In OpenCL's words, which SYCL hosts look for.
static ur_result_t get_info_extensions(const struct zepi_device *device,
                                       const struct zepi_ur_info *info)
{
    char text[512] = "cl_khr_il_program cl_khr_subgroups cl_intel_subgroups "
                     "cl_intel_subgroups_short cl_intel_required_subgroup_size";
    const ze_device_module_flags_t flags = device->module.flags;
    if (flags & ZE_DEVICE_MODULE_FLAG_FP16)
        strcat(text, " cl_khr_fp16");
    if (flags & ZE_DEVICE_MODULE_FLAG_FP64)
        strcat(text, " cl_khr_fp64");
    if (flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS)
        strcat(text, " cl_khr_int64_base_atomics cl_khr_int64_extended_atomics");
    if (device->has_images)
        strcat(text, " cl_khr_3d_image_writes");
    if (device->platform->optional.has_bfloat16)
        strcat(text, " cl_intel_bfloat16_conversions");
    return zepi_ur_info_return_string(info, text);
}

static ur_result_t get_info_pci_address(const struct zepi_device *device,
                                        const struct zepi_ur_info *info)
{
    char address[ZEPI_PCI_ADDRESS_BYTES];
    const ur_result_t result = zepi_ur_result(zepi_device_get_pci_address(device, address));
    if (result != UR_RESULT_SUCCESS)
        return result;
    return address[0] ? zepi_ur_info_return_string(info, address)
                      : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}

static ur_result_t identity_info(const struct zepi_device *device, ur_device_info_t query,
                                 const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_TYPE:
        return zepi_ur_info_return_u32(info, ur_device_type_of(device));
    case UR_DEVICE_INFO_VENDOR_ID:
        return zepi_ur_info_return_u32(info, device->properties.vendorId);
    case UR_DEVICE_INFO_DEVICE_ID:
        return zepi_ur_info_return_u32(info, device->properties.deviceId);
    case UR_DEVICE_INFO_UUID:
        return zepi_ur_info_return(info, device->properties.uuid.id,
                                   sizeof(device->properties.uuid.id));
    case UR_DEVICE_INFO_NAME:
        return zepi_ur_info_return_string(info, device->properties.name);
    case UR_DEVICE_INFO_VENDOR:
        return get_info_vendor(device, info);
    case UR_DEVICE_INFO_DRIVER_VERSION:
    case UR_DEVICE_INFO_BACKEND_RUNTIME_VERSION:
        return zepi_ur_info_return_string(info, device->platform->version);
    case UR_DEVICE_INFO_PROFILE:
        return zepi_ur_info_return_string(info, "FULL_PROFILE");
    case UR_DEVICE_INFO_VERSION:
        return get_info_device_version(device, info);
    case UR_DEVICE_INFO_IL_VERSION:
        return get_info_il_version(device, info);
    case UR_DEVICE_INFO_EXTENSIONS:
        return get_info_extensions(device, info);
    case UR_DEVICE_INFO_BUILT_IN_KERNELS:
        return zepi_ur_info_return_string(info, "");
    case UR_DEVICE_INFO_PLATFORM:
        return zepi_ur_info_return_handle(info, device->platform);
    case UR_DEVICE_INFO_PCI_ADDRESS:
        return get_info_pci_address(device, info);
    case UR_DEVICE_INFO_COMPONENT_DEVICES: // none here is a composite device
        return zepi_ur_info_return(info, NULL, 0);
    case UR_DEVICE_INFO_COMPOSITE_DEVICE: // nor a component of one
        return zepi_ur_info_return_handle(info, NULL);
    case UR_DEVICE_INFO_IP_VERSION:
        return device->ip_version > 0 ? zepi_ur_info_return_u32(info, device->ip_version)
                                      : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

ur_result_t zepi_urDeviceGetInfo(ur_device_handle_t hDevice, ur_device_info_t propName,
                                 size_t propSize, void *pPropValue, size_t *pPropSizeRet)
{
    static ur_result_t (*const groups[])(const struct zepi_device *, ur_device_info_t,
                                         const struct zepi_ur_info *) = {
        identity_info,
        zepi_ur_device_partition_info,
        zepi_ur_device_compute_info,
        zepi_ur_device_memory_info,
        zepi_ur_device_feature_info};
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    ur_result_t result = zepi_ur_check_device(hDevice);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_info_check(&info);
    if (result != UR_RESULT_SUCCESS)
        return result;
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        result = groups[i](zepi_ur_device(hDevice), propName, &info);
        if (result != UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
            return result;
    }
    return zepi_ur_refuse_query(propName, UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP);
}
