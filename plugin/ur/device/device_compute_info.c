// SPDX-License-Identifier: MIT
#include "ur/device/device_info.h"

#include "device/device_details.h"
#include "device/platform.h"

#include <stddef.h>

// Lanes of this size in one instruction of an execution unit, where the driver does not report
// them.
static uint32_t vector_lanes_of(const struct zepi_device *device, uint32_t element_bytes)
{
    const uint32_t lanes = device->properties.physicalEUSimdWidth / element_bytes;
    return lanes > 0 ? lanes : 1;
}

// 0 for types that the device does not have, and for no others: drivers that emulate a type may say
// so.
static void fit_vector_width(uint32_t *width, bool has_type)
{
    if (!has_type)
        *width = 0;
    else if (*width == 0)
        *width = 1;
}

static ur_result_t get_vector_widths(const struct zepi_device *device,
                                     struct zepi_ze_vector_widths *widths)
{
    const ur_result_t result = zepi_ur_result(zepi_device_get_vector_widths(device, widths));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (widths->native.of_char == 0) {
        widths->native = (struct zepi_ze_widths){
            .of_char = vector_lanes_of(device, 1),
            .of_short = vector_lanes_of(device, 2),
            .of_int = vector_lanes_of(device, 4),
            .of_long = vector_lanes_of(device, 8),
            .of_float = vector_lanes_of(device, 4),
            .of_double = vector_lanes_of(device, 8),
            .of_half = vector_lanes_of(device, 2),
        };
        widths->preferred = widths->native;
    }
    fit_vector_width(&widths->native.of_double, device->module.flags & ZE_DEVICE_MODULE_FLAG_FP64);
    fit_vector_width(&widths->preferred.of_double,
                     device->module.flags & ZE_DEVICE_MODULE_FLAG_FP64);
    fit_vector_width(&widths->native.of_half, device->module.flags & ZE_DEVICE_MODULE_FLAG_FP16);
    fit_vector_width(&widths->preferred.of_half, device->module.flags & ZE_DEVICE_MODULE_FLAG_FP16);
    return UR_RESULT_SUCCESS;
}

static ur_result_t vector_info(const struct zepi_device *device, ur_device_info_t query,
                               const struct zepi_ur_info *info)
{
    static const struct {
        ur_device_info_t preferred;
        ur_device_info_t native;
        size_t offset; // in the widths
    } table[] = {
#define WIDTH(TYPE, member)                                                                        \
    {UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_##TYPE, UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_##TYPE,      \
     offsetof(struct zepi_ze_widths, member)}
        WIDTH(CHAR, of_char),     WIDTH(SHORT, of_short),    WIDTH(INT, of_int),
        WIDTH(LONG, of_long),     WIDTH(LONG_LONG, of_long), WIDTH(FLOAT, of_float),
        WIDTH(DOUBLE, of_double), WIDTH(HALF, of_half),
#undef WIDTH
    };
    struct zepi_ze_vector_widths widths;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (query != table[i].preferred && query != table[i].native)
            continue;
        const ur_result_t result = get_vector_widths(device, &widths);
        const struct zepi_ze_widths *asked =
            query == table[i].native ? &widths.native : &widths.preferred;
        return result == UR_RESULT_SUCCESS
                   ? zepi_ur_info_return_u32(
                         info, *(const uint32_t *)((const char *)asked + table[i].offset))
                   : result;
    }
    return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}

static ur_result_t get_info_fp_config(ze_device_fp_flags_t ze, const struct zepi_ur_info *info)
{
    static const struct {
        ze_device_fp_flags_t ze;
        ur_device_fp_capability_flags_t ur;
    } table[] = {
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
    ur_device_fp_capability_flags_t flags = 0;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        flags |= ze & table[i].ze ? table[i].ur : 0;
    return zepi_ur_info_return_u32(info, flags);
}

static ur_result_t arithmetic_info(const struct zepi_device *device, ur_device_info_t query,
                                   const struct zepi_ur_info *info)
{
    const ze_device_module_properties_t *module = &device->module;
    const ur_memory_order_capability_flags_t orders =
        UR_MEMORY_ORDER_CAPABILITY_FLAG_RELAXED | UR_MEMORY_ORDER_CAPABILITY_FLAG_ACQUIRE |
        UR_MEMORY_ORDER_CAPABILITY_FLAG_RELEASE | UR_MEMORY_ORDER_CAPABILITY_FLAG_ACQ_REL |
        UR_MEMORY_ORDER_CAPABILITY_FLAG_SEQ_CST;
    const ur_memory_scope_capability_flags_t scopes =
        UR_MEMORY_SCOPE_CAPABILITY_FLAG_WORK_ITEM | UR_MEMORY_SCOPE_CAPABILITY_FLAG_SUB_GROUP |
        UR_MEMORY_SCOPE_CAPABILITY_FLAG_WORK_GROUP | UR_MEMORY_SCOPE_CAPABILITY_FLAG_DEVICE |
        UR_MEMORY_SCOPE_CAPABILITY_FLAG_SYSTEM;
    switch ((int)query) {
    case UR_DEVICE_INFO_SINGLE_FP_CONFIG:
        return get_info_fp_config(module->fp32flags, info);
    case UR_DEVICE_INFO_HALF_FP_CONFIG:
        return get_info_fp_config(
            module->flags & ZE_DEVICE_MODULE_FLAG_FP16 ? module->fp16flags : 0, info);
    case UR_DEVICE_INFO_DOUBLE_FP_CONFIG:
        return get_info_fp_config(
            module->flags & ZE_DEVICE_MODULE_FLAG_FP64 ? module->fp64flags : 0, info);
    case UR_DEVICE_INFO_ATOMIC_64:
        return zepi_ur_info_return_bool(info, module->flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
    case UR_DEVICE_INFO_ATOMIC_MEMORY_ORDER_CAPABILITIES:
    case UR_DEVICE_INFO_ATOMIC_FENCE_ORDER_CAPABILITIES:
        return zepi_ur_info_return_u32(info, orders);
    case UR_DEVICE_INFO_ATOMIC_MEMORY_SCOPE_CAPABILITIES:
    case UR_DEVICE_INFO_ATOMIC_FENCE_SCOPE_CAPABILITIES:
        return zepi_ur_info_return_u32(info, scopes);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

static uint32_t compute_units(const struct zepi_device *device)
{
    const ze_device_properties_t *properties = &device->properties;
    return properties->numSlices * properties->numSubslicesPerSlice * properties->numEUsPerSubslice;
}

// Work-groups of one work-item would have most of them.
static uint32_t max_sub_groups(const struct zepi_device *device)
{
    uint32_t least = device->compute.maxTotalGroupSize;
    for (uint32_t i = 0; i < device->compute.numSubGroupSizes; i++) {
        if (device->compute.subGroupSizes[i] < least)
            least = device->compute.subGroupSizes[i];
    }
    return least > 0 ? device->compute.maxTotalGroupSize / least : 0;
}

static ur_result_t size_info(const struct zepi_device *device, ur_device_info_t query,
                             const struct zepi_ur_info *info)
{
    const ze_device_compute_properties_t *compute = &device->compute;
    const size_t item_sizes[3] = {compute->maxGroupSizeX, compute->maxGroupSizeY,
                                  compute->maxGroupSizeZ};
    const size_t group_counts[3] = {compute->maxGroupCountX, compute->maxGroupCountY,
                                    compute->maxGroupCountZ};
    switch ((int)query) {
    case UR_DEVICE_INFO_MAX_COMPUTE_UNITS:
        return zepi_ur_info_return_u32(info, compute_units(device));
    case UR_DEVICE_INFO_NUM_COMPUTE_UNITS: // cores, of several execution units each
        return zepi_ur_info_return_u32(info, device->properties.numSlices *
                                                 device->properties.numSubslicesPerSlice);
    case UR_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS:
        return zepi_ur_info_return_u32(info, 3);
    case UR_DEVICE_INFO_MAX_WORK_ITEM_SIZES:
        return zepi_ur_info_return(info, item_sizes, sizeof(item_sizes));
    case UR_DEVICE_INFO_MAX_WORK_GROUP_SIZE:
        return zepi_ur_info_return_size(info, compute->maxTotalGroupSize);
    case UR_DEVICE_INFO_MAX_WORK_GROUPS_3D:
        return zepi_ur_info_return(info, group_counts, sizeof(group_counts));
    case UR_DEVICE_INFO_MAX_WORK_GROUPS:
        return zepi_ur_info_return_size(info, SIZE_MAX);
    case UR_DEVICE_INFO_MAX_NUM_SUB_GROUPS:
        return zepi_ur_info_return_u32(info, max_sub_groups(device));
    case UR_DEVICE_INFO_SUB_GROUP_SIZES_INTEL:
        return zepi_ur_info_return(info, compute->subGroupSizes,
                                   compute->numSubGroupSizes * sizeof(compute->subGroupSizes[0]));
    case UR_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
        return zepi_ur_info_return_bool(info, false);
    case UR_DEVICE_INFO_MAX_CLOCK_FREQUENCY:
        return zepi_ur_info_return_u32(info, device->properties.coreClockRate);
    case UR_DEVICE_INFO_ADDRESS_BITS:
        return zepi_ur_info_return_u32(info, 64);
    case UR_DEVICE_INFO_MAX_PARAMETER_SIZE:
        return zepi_ur_info_return_size(info, device->module.maxArgumentsSize);
    case UR_DEVICE_INFO_PRINTF_BUFFER_SIZE:
        return zepi_ur_info_return_size(info, device->module.printfBufferSize);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

// A device of several stacks has each as a sub-device.
static uint32_t xe_stacks(const struct zepi_device *device)
{
    return device->sub_device_count > 0 ? device->sub_device_count : 1;
}

static uint32_t max_lanes(const struct zepi_device *device)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < device->compute.numSubGroupSizes; i++) {
        if (device->compute.subGroupSizes[i] > most)
            most = device->compute.subGroupSizes[i];
    }
    return most;
}

// How a GPU is made up; other devices have no such parts.
static ur_result_t gpu_info(const struct zepi_device *device, ur_device_info_t query,
                            const struct zepi_ur_info *info)
{
    const ze_device_properties_t *properties = &device->properties;
    if (properties->type != ZE_DEVICE_TYPE_GPU)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    switch ((int)query) {
    case UR_DEVICE_INFO_GPU_EU_COUNT:
        return zepi_ur_info_return_u32(info, compute_units(device));
    case UR_DEVICE_INFO_GPU_EU_SIMD_WIDTH:
        return zepi_ur_info_return_u32(info, properties->physicalEUSimdWidth);
    case UR_DEVICE_INFO_GPU_EU_SLICES:
        return zepi_ur_info_return_u32(info, properties->numSlices);
    case UR_DEVICE_INFO_GPU_EU_COUNT_PER_SUBSLICE:
        return zepi_ur_info_return_u32(info, properties->numEUsPerSubslice);
    case UR_DEVICE_INFO_GPU_SUBSLICES_PER_SLICE:
        return zepi_ur_info_return_u32(info, properties->numSubslicesPerSlice);
    case UR_DEVICE_INFO_GPU_HW_THREADS_PER_EU:
        return zepi_ur_info_return_u32(info, properties->numThreadsPerEU);
    case UR_DEVICE_INFO_XE_STACK_COUNT:
        return zepi_ur_info_return_u32(info, xe_stacks(device));
    case UR_DEVICE_INFO_XE_REGIONS_PER_STACK:
        return zepi_ur_info_return_u32(info, 1);
    case UR_DEVICE_INFO_XE_CLUSTERS_PER_REGION:
        return zepi_ur_info_return_u32(info, properties->numSlices / xe_stacks(device));
    case UR_DEVICE_INFO_XE_CORES_PER_CLUSTER:
        return zepi_ur_info_return_u32(info, properties->numSubslicesPerSlice);
    case UR_DEVICE_INFO_EUS_PER_XE_CORE:
        return zepi_ur_info_return_u32(info, properties->numEUsPerSubslice);
    case UR_DEVICE_INFO_MAX_LANES_PER_HW_THREAD:
        return zepi_ur_info_return_u32(info, max_lanes(device));
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

ur_result_t zepi_ur_device_compute_info(const struct zepi_device *device, ur_device_info_t query,
                                        const struct zepi_ur_info *info)
{
    ur_result_t result = size_info(device, query, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = arithmetic_info(device, query, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = vector_info(device, query, info);
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? gpu_info(device, query, info)
                                                             : result;
}
