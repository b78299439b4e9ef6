// SPDX-License-Identifier: MIT
#include "ur/device/device_value.h"

#include "device/free_memory.h"
#include "device/platform.h"
#include "memory/interop/host_memory.h"
#include "memory/interop/ipc.h"
#include "memory/virtual_memory.h"
#include "queue/command/host_function.h"
#include "ze/ze.h"

#include <stdio.h>
#include <string.h>

ur_device_type_t zepi_ur_device_type_of(const struct zepi_device *device)
{
    static const ur_device_type_t types[] = {
        [ZE_DEVICE_TYPE_GPU] = UR_DEVICE_TYPE_GPU,   [ZE_DEVICE_TYPE_CPU] = UR_DEVICE_TYPE_CPU,
        [ZE_DEVICE_TYPE_FPGA] = UR_DEVICE_TYPE_FPGA, [ZE_DEVICE_TYPE_MCA] = UR_DEVICE_TYPE_MCA,
        [ZE_DEVICE_TYPE_VPU] = UR_DEVICE_TYPE_VPU,
    };
    const uint32_t type = (uint32_t)device->properties.type;
    return type < sizeof(types) / sizeof(types[0]) && types[type] ? types[type]
                                                                  : UR_DEVICE_TYPE_CUSTOM;
}

// ---- Values that are no numbers ----

ur_result_t zepi_ur_device_vendor(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
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
ur_result_t zepi_ur_device_version(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    char version[32];
    const uint32_t ip = device->ip_version;
    const uint32_t api = device->platform->api_version;
    if (ip > 0 && device->properties.vendorId == 0x8086 && !device->platform->quirks.is_on_cpu)
        snprintf(version, sizeof(version), "%u.%u.%u", ip >> 22, (ip >> 14) & 0xffu, ip & 0x3fu);
    else
        snprintf(version, sizeof(version), "%u.%u", api >> 16, api & 0xffffu);
    return zepi_ur_info_return_string(info, version);
}

ur_result_t zepi_ur_device_driver_version(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    return zepi_ur_info_return_string(info, device->platform->version);
}

// In OpenCL's form.
ur_result_t zepi_ur_device_il_version(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    char version[32] = "";
    const uint32_t spirv = device->module.spirvVersionSupported;
    if (spirv > 0)
        snprintf(version, sizeof(version), "SPIR-V_%u.%u", ZE_MAJOR_VERSION(spirv),
                 ZE_MINOR_VERSION(spirv));
    return zepi_ur_info_return_string(info, version);
}

// In OpenCL's words, which SYCL hosts look for.
ur_result_t zepi_ur_device_extensions(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
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

ur_result_t zepi_ur_device_pci_address(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    char address[32];
    if (!device->platform->optional.has_pci)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    const ur_result_t result =
        zepi_ur_result(ZEPI_ZE(zeDevicePciGetPropertiesExt, device->ze, &pci));
    if (result != UR_RESULT_SUCCESS)
        return result;
    snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", pci.address.domain, pci.address.bus,
             pci.address.device, pci.address.function);
    return zepi_ur_info_return_string(info, address);
}

ur_result_t zepi_ur_device_free_memory(void *object, const struct zepi_ur_info *info)
{
    uint64_t bytes;
    const ur_result_t result = zepi_ur_result(zepi_device_get_free_memory(object, &bytes));
    if (result != UR_RESULT_SUCCESS)
        return result;
    return bytes == ZEPI_FREE_MEMORY_UNKNOWN ? UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION
                                             : zepi_ur_info_return(info, &bytes, sizeof(bytes));
}

ur_result_t zepi_ur_device_group_limits(void *object, const struct zepi_ur_info *info)
{
    const ze_device_compute_properties_t *compute = &((const struct zepi_device *)object)->compute;
    const size_t sizes[3] = {compute->maxGroupSizeX, compute->maxGroupSizeY,
                             compute->maxGroupSizeZ};
    const size_t counts[3] = {compute->maxGroupCountX, compute->maxGroupCountY,
                              compute->maxGroupCountZ};
    const bool is_count = info->query == UR_DEVICE_INFO_MAX_WORK_GROUPS_3D;
    return zepi_ur_info_return(info, is_count ? counts : sizes, sizeof(sizes));
}

ur_result_t zepi_ur_device_sub_group_sizes(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    const ze_device_compute_properties_t *compute = &device->compute;
    return zepi_ur_info_return(info, compute->subGroupSizes,
                               compute->numSubGroupSizes * sizeof(compute->subGroupSizes[0]));
}

ur_result_t zepi_ur_device_partitions(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    static const ur_device_partition_t type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
    return zepi_ur_info_return(info, &type, device->sub_device_count > 0 ? sizeof(type) : 0);
}

ur_result_t zepi_ur_device_partition_type(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_device *device = object;
    static const ur_device_partition_property_t property = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
    return zepi_ur_info_return(info, &property, device->parent ? sizeof(property) : 0);
}

// ---- Computed numbers ----

struct sub_groups {
    uint32_t least, most; // work-items
};

static struct sub_groups sub_groups_of(const struct zepi_device *device)
{
    struct sub_groups sizes = {.least = device->compute.maxTotalGroupSize};
    for (uint32_t i = 0; i < device->compute.numSubGroupSizes; i++) {
        const uint32_t size = device->compute.subGroupSizes[i];
        sizes.least = size < sizes.least ? size : sizes.least;
        sizes.most = size > sizes.most ? size : sizes.most;
    }
    return sizes;
}

// Constants are read as buffers of images are, on devices with images.
static uint64_t max_constant_bytes(const struct zepi_device *device)
{
    const uint64_t most = device->properties.maxMemAllocSize;
    const uint64_t image = device->has_images ? device->images.maxImageBufferSize : 0;
    return image > 0 && image < most ? image : most;
}

static ur_device_local_mem_type_t slm_type(const struct zepi_device *device)
{
    if (device->compute.maxSharedLocalMemory == 0)
        return UR_DEVICE_LOCAL_MEM_TYPE_NONE;
    return device->platform->quirks.is_on_cpu || device->properties.type == ZE_DEVICE_TYPE_CPU
               ? UR_DEVICE_LOCAL_MEM_TYPE_GLOBAL
               : UR_DEVICE_LOCAL_MEM_TYPE_LOCAL;
}

zepi_result_t zepi_ur_device_computed(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct zepi_device *device = object;
    const ze_device_properties_t *properties = &device->properties;
    const uint32_t cores = properties->numSlices * properties->numSubslicesPerSlice;
    // A device of several stacks has each as a sub-device.
    const uint32_t stacks = device->sub_device_count > 0 ? device->sub_device_count : 1;
    const struct sub_groups sub_groups = sub_groups_of(device);
    switch (parameter) {
    case UR_DEVICE_INFO_TYPE:
        *out_number = zepi_ur_device_type_of(device);
        break;
    case UR_DEVICE_INFO_REFERENCE_COUNT:
        // A sub-device has one more than the host's references: its parent's.
        *out_number = atomic_load_explicit(&device->object.references, memory_order_relaxed) -
                      (device->parent ? 1 : 0);
        break;
    case UR_DEVICE_INFO_MAX_COMPUTE_UNITS:
    case UR_DEVICE_INFO_GPU_EU_COUNT:
        *out_number = cores * properties->numEUsPerSubslice;
        break;
    case UR_DEVICE_INFO_NUM_COMPUTE_UNITS:
        *out_number = cores;
        break;
    case UR_DEVICE_INFO_XE_STACK_COUNT:
        *out_number = stacks;
        break;
    case UR_DEVICE_INFO_XE_CLUSTERS_PER_REGION:
        *out_number = properties->numSlices / stacks;
        break;
    case UR_DEVICE_INFO_MAX_NUM_SUB_GROUPS:
        // In the largest work-group.
        *out_number =
            sub_groups.least > 0 ? device->compute.maxTotalGroupSize / sub_groups.least : 0;
        break;
    case UR_DEVICE_INFO_MAX_LANES_PER_HW_THREAD:
        *out_number = sub_groups.most;
        break;
    case UR_DEVICE_INFO_MAX_CONSTANT_BUFFER_SIZE:
        *out_number = max_constant_bytes(device);
        break;
    case UR_DEVICE_INFO_LOCAL_MEM_TYPE:
        *out_number = slm_type(device);
        break;
    case UR_DEVICE_INFO_PARTITION_AFFINITY_DOMAIN:
        *out_number = device->sub_device_count > 0 ? ZEPI_UR_AFFINITY_DOMAINS : 0;
        break;
    default: // UR_DEVICE_INFO_PROFILING_TIMER_RESOLUTION
        *out_number = zepi_device_timer_resolution_ns(device);
        break;
    }
    return ZEPI_SUCCESS;
}

// ---- Numbers that the driver is asked for ----

zepi_result_t zepi_ur_device_fp_config(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct zepi_device *device = object;
    static const struct {
        ze_device_fp_flags_t ze;
        uint32_t ur;
    } flags[] = {
        {ZE_DEVICE_FP_FLAG_DENORM, UR_DEVICE_FP_CAPABILITY_FLAG_DENORM},
        {ZE_DEVICE_FP_FLAG_INF_NAN, UR_DEVICE_FP_CAPABILITY_FLAG_INF_NAN},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO},
        {ZE_DEVICE_FP_FLAG_ROUND_TO_INF, UR_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF},
        {ZE_DEVICE_FP_FLAG_FMA, UR_DEVICE_FP_CAPABILITY_FLAG_FMA},
        {ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT,
         UR_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT},
        {ZE_DEVICE_FP_FLAG_SOFT_FLOAT, UR_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT},
    };
    const ze_device_module_properties_t *module = &device->module;
    const ze_device_fp_flags_t ze = parameter == ZE_DEVICE_MODULE_FLAG_FP16   ? module->fp16flags
                                    : parameter == ZE_DEVICE_MODULE_FLAG_FP64 ? module->fp64flags
                                                                              : module->fp32flags;
    const bool has_type = (module->flags & parameter) == parameter;
    *out_number = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]) && has_type; i++)
        *out_number |= ze & flags[i].ze ? flags[i].ur : 0;
    return ZEPI_SUCCESS;
}

// Zeros: the driver does not tell them.
static zepi_result_t query_vector_widths(const struct zepi_device *device,
                                         struct zepi_ze_vector_widths *out_widths)
{
    const struct zepi_ze_optional *optional = &device->platform->optional;
    uint32_t count = 1;
    *out_widths = (struct zepi_ze_vector_widths){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_VECTOR_WIDTHS};
    if (!optional->device_get_vector_widths)
        return ZEPI_SUCCESS;
    const ze_device_handle_t ze = optional->device_get_vector_widths_is_drivers
                                      ? zepi_ze_driver_handle(ZEL_HANDLE_DEVICE, device->ze)
                                      : device->ze;
    return zepi_check_ze(optional->device_get_vector_widths(ze, &count, out_widths),
                         "zeDeviceGetVectorWidthPropertiesExt");
}

// Lanes of this size in one instruction of an execution unit, where the driver does not report
// them.
static uint32_t vector_lanes_of(const struct zepi_device *device, uint32_t element_bytes)
{
    const uint32_t lanes = device->properties.physicalEUSimdWidth / element_bytes;
    return lanes > 0 ? lanes : 1;
}

// 0 for types that the device does not have, and for no others: drivers that emulate a type may say
// so.
static void fit_vector_widths(struct zepi_ze_widths *widths, ze_device_module_flags_t flags)
{
    const uint32_t half = widths->of_half > 0 ? widths->of_half : 1;
    const uint32_t real = widths->of_double > 0 ? widths->of_double : 1;
    widths->of_half = flags & ZE_DEVICE_MODULE_FLAG_FP16 ? half : 0;
    widths->of_double = flags & ZE_DEVICE_MODULE_FLAG_FP64 ? real : 0;
}

zepi_result_t zepi_ur_device_width(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct zepi_device *device = object;
    struct zepi_ze_vector_widths widths;
    const zepi_result_t result = query_vector_widths(device, &widths);
    if (result != ZEPI_SUCCESS)
        return result;
    if (widths.native.of_char == 0) {
        widths.native = (struct zepi_ze_widths){
            .of_char = vector_lanes_of(device, 1),
            .of_short = vector_lanes_of(device, 2),
            .of_int = vector_lanes_of(device, 4),
            .of_long = vector_lanes_of(device, 8),
            .of_float = vector_lanes_of(device, 4),
            .of_double = vector_lanes_of(device, 8),
            .of_half = vector_lanes_of(device, 2),
        };
        widths.preferred = widths.native;
    }
    fit_vector_widths(&widths.native, device->module.flags);
    fit_vector_widths(&widths.preferred, device->module.flags);
    *out_number = *(const uint32_t *)((const char *)&widths + parameter);
    return ZEPI_SUCCESS;
}

// The largest cache is the one in front of global memory. All have lines of one size; 0: the driver
// does not tell it.
static zepi_result_t query_caches(const struct zepi_device *device, uint64_t *out_bytes,
                                  uint64_t *out_line_bytes)
{
    struct zepi_ze_size line = {.stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_CACHE_LINE};
    ze_device_cache_properties_t caches[16] = {{0}};
    uint32_t count = sizeof(caches) / sizeof(caches[0]);
    for (uint32_t i = 0; i < count; i++)
        caches[i].stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
    caches[0].pNext = device->platform->optional.has_cache_line ? &line : NULL;
    const zepi_result_t result = ZEPI_ZE(zeDeviceGetCacheProperties, device->ze, &count, caches);
    *out_bytes = 0;
    for (uint32_t i = 0; i < count && i < sizeof(caches) / sizeof(caches[0]); i++) {
        if (caches[i].cacheSize > *out_bytes)
            *out_bytes = caches[i].cacheSize;
    }
    *out_line_bytes = line.size_bytes;
    return result;
}

// The instructions of the device for arrays of two dimensions.
static zepi_result_t query_block_array(const struct zepi_device *device, uint64_t *out_flags)
{
    const uint32_t load = UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_LOAD;
    const uint32_t store = UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_STORE;
    struct zepi_ze_number array = {.stype =
                                       (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_BLOCK_ARRAY};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &array};
    const zepi_result_t result = device->platform->optional.has_block_array
                                     ? ZEPI_ZE(zeDeviceGetProperties, device->ze, &properties)
                                     : ZEPI_SUCCESS;
    *out_flags = (array.value & ZEPI_ZE_BLOCK_ARRAY_LOAD ? load : 0) |
                 (array.value & ZEPI_ZE_BLOCK_ARRAY_STORE ? store : 0);
    return result;
}

zepi_result_t zepi_ur_device_detail(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct zepi_device *device = object;
    uint64_t bytes, line_bytes;
    zepi_result_t result;
    switch (parameter) {
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHE_SIZE:
        return query_caches(device, out_number, &line_bytes);
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE:
        result = query_caches(device, &bytes, &line_bytes);
        *out_number =
            bytes > 0 ? UR_DEVICE_MEM_CACHE_TYPE_READ_WRITE_CACHE : UR_DEVICE_MEM_CACHE_TYPE_NONE;
        return result;
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHELINE_SIZE:
        *out_number = 64;
        if (!device->platform->optional.has_cache_line)
            return ZEPI_SUCCESS;
        result = query_caches(device, &bytes, &line_bytes);
        if (line_bytes > 0)
            *out_number = line_bytes;
        return result;
    default: // UR_DEVICE_INFO_2D_BLOCK_ARRAY_CAPABILITIES_EXP
        return query_block_array(device, out_number);
    }
}

zepi_result_t zepi_ur_device_feature(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct zepi_device *device = object;
    struct zepi_external_kinds kinds = {0};
    bool has_it = false;
    zepi_result_t result = ZEPI_SUCCESS;
    switch (parameter) {
    case UR_DEVICE_INFO_AVAILABLE:
        // Another error of the status does not make the device unusable.
        has_it = zepi_ze.zeDeviceGetStatus(device->ze) != ZE_RESULT_ERROR_DEVICE_LOST;
        break;
    case UR_DEVICE_INFO_BFLOAT16_CONVERSIONS_NATIVE:
        has_it = device->platform->optional.has_bfloat16;
        break;
    case UR_DEVICE_INFO_USE_NATIVE_ASSERT:
        has_it = device->platform->quirks.bits & ZEPI_QUIRK_UNTOLD_ASSERTS;
        break;
    case UR_DEVICE_INFO_ESIMD_SUPPORT:
        has_it =
            !device->platform->quirks.is_on_cpu && device->properties.type == ZE_DEVICE_TYPE_GPU;
        break;
    case UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP:
        has_it = zepi_device_has_host_functions(device);
        break;
    case UR_DEVICE_INFO_VIRTUAL_MEMORY_SUPPORT:
        result = zepi_device_has_virtual_memory(device, &has_it);
        break;
    case UR_DEVICE_INFO_IPC_MEMORY_SUPPORT_EXP:
        result = zepi_ipc_is_offered(device->platform, &has_it);
        break;
    case UR_DEVICE_INFO_IPC_PHYSICAL_MEMORY_SUPPORT_EXP:
        result = zepi_physical_memory_is_shareable(device, &has_it);
        break;
    case UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP:
        has_it = zepi_host_memory_can_register(device->platform);
        break;
    default:
        result = zepi_device_get_external_kinds(device, &kinds);
        has_it = parameter == UR_DEVICE_INFO_EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP ? kinds.imported
                                                                                : kinds.exported;
        break;
    }
    *out_number = has_it;
    return result;
}
