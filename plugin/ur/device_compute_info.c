// SPDX-License-Identifier: MIT
#include "ur/device_info.h"

#include "device/platform.h"

// SYCL's vector widths, which Level Zero does not know: lanes of this size in what an execution
// unit works on at once.
static ur_result_t answer_vector_width(const struct zepi_device *device, uint32_t element_bytes,
                                       const struct zepi_ur_info *info)
{
    const uint32_t lanes = device->properties.physicalEUSimdWidth / element_bytes;
    return zepi_ur_answer_u32(info, lanes > 0 ? lanes : 1);
}

static ur_result_t vector_info(const struct zepi_device *device, ur_device_info_t question,
                               const struct zepi_ur_info *info)
{
    switch ((int)question) {
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_CHAR:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR:
        return answer_vector_width(device, 1, info);
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_SHORT:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT:
        return answer_vector_width(device, 2, info);
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_INT:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT:
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_FLOAT:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT:
        return answer_vector_width(device, 4, info);
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_LONG:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG:
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_LONG_LONG:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG_LONG:
        return answer_vector_width(device, 8, info);
    // 0: the device has no such type.
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE:
        return device->module.flags & ZE_DEVICE_MODULE_FLAG_FP64
                   ? answer_vector_width(device, 8, info)
                   : zepi_ur_answer_u32(info, 0);
    case UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_HALF:
    case UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF:
        return device->module.flags & ZE_DEVICE_MODULE_FLAG_FP16
                   ? answer_vector_width(device, 2, info)
                   : zepi_ur_answer_u32(info, 0);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

static ur_result_t answer_fp_config(ze_device_fp_flags_t ze, const struct zepi_ur_info *info)
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
    return zepi_ur_answer_u32(info, flags);
}

static ur_result_t arithmetic_info(const struct zepi_device *device, ur_device_info_t question,
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
    switch ((int)question) {
    case UR_DEVICE_INFO_SINGLE_FP_CONFIG:
        return answer_fp_config(module->fp32flags, info);
    case UR_DEVICE_INFO_HALF_FP_CONFIG:
        return answer_fp_config(module->flags & ZE_DEVICE_MODULE_FLAG_FP16 ? module->fp16flags : 0,
                                info);
    case UR_DEVICE_INFO_DOUBLE_FP_CONFIG:
        return answer_fp_config(module->flags & ZE_DEVICE_MODULE_FLAG_FP64 ? module->fp64flags : 0,
                                info);
    case UR_DEVICE_INFO_ATOMIC_64:
        return zepi_ur_answer_bool(info, module->flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
    case UR_DEVICE_INFO_ATOMIC_MEMORY_ORDER_CAPABILITIES:
    case UR_DEVICE_INFO_ATOMIC_FENCE_ORDER_CAPABILITIES:
        return zepi_ur_answer_u32(info, orders);
    case UR_DEVICE_INFO_ATOMIC_MEMORY_SCOPE_CAPABILITIES:
    case UR_DEVICE_INFO_ATOMIC_FENCE_SCOPE_CAPABILITIES:
        return zepi_ur_answer_u32(info, scopes);
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

static ur_result_t size_info(const struct zepi_device *device, ur_device_info_t question,
                             const struct zepi_ur_info *info)
{
    const ze_device_compute_properties_t *compute = &device->compute;
    const size_t item_sizes[3] = {compute->maxGroupSizeX, compute->maxGroupSizeY,
                                  compute->maxGroupSizeZ};
    const size_t group_counts[3] = {compute->maxGroupCountX, compute->maxGroupCountY,
                                    compute->maxGroupCountZ};
    switch ((int)question) {
    case UR_DEVICE_INFO_MAX_COMPUTE_UNITS:
    case UR_DEVICE_INFO_NUM_COMPUTE_UNITS:
        return zepi_ur_answer_u32(info, compute_units(device));
    case UR_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS:
        return zepi_ur_answer_u32(info, 3);
    case UR_DEVICE_INFO_MAX_WORK_ITEM_SIZES:
        return zepi_ur_answer(info, item_sizes, sizeof(item_sizes));
    case UR_DEVICE_INFO_MAX_WORK_GROUP_SIZE:
        return zepi_ur_answer_size(info, compute->maxTotalGroupSize);
    case UR_DEVICE_INFO_MAX_WORK_GROUPS_3D:
        return zepi_ur_answer(info, group_counts, sizeof(group_counts));
    case UR_DEVICE_INFO_MAX_WORK_GROUPS:
        return zepi_ur_answer_size(info, SIZE_MAX);
    case UR_DEVICE_INFO_MAX_NUM_SUB_GROUPS:
        return zepi_ur_answer_u32(info, max_sub_groups(device));
    case UR_DEVICE_INFO_SUB_GROUP_SIZES_INTEL:
        return zepi_ur_answer(info, compute->subGroupSizes,
                              compute->numSubGroupSizes * sizeof(compute->subGroupSizes[0]));
    case UR_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
        return zepi_ur_answer_bool(info, false);
    case UR_DEVICE_INFO_MAX_CLOCK_FREQUENCY:
        return zepi_ur_answer_u32(info, device->properties.coreClockRate);
    case UR_DEVICE_INFO_ADDRESS_BITS:
        return zepi_ur_answer_u32(info, 64);
    case UR_DEVICE_INFO_MAX_PARAMETER_SIZE:
        return zepi_ur_answer_size(info, device->module.maxArgumentsSize);
    case UR_DEVICE_INFO_PRINTF_BUFFER_SIZE:
        return zepi_ur_answer_size(info, device->module.printfBufferSize);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

// How an Intel GPU is made up; others have no such parts.
static ur_result_t gpu_info(const struct zepi_device *device, ur_device_info_t question,
                            const struct zepi_ur_info *info)
{
    const ze_device_properties_t *properties = &device->properties;
    if (properties->type != ZE_DEVICE_TYPE_GPU)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    switch ((int)question) {
    case UR_DEVICE_INFO_GPU_EU_COUNT:
        return zepi_ur_answer_u32(info, compute_units(device));
    case UR_DEVICE_INFO_GPU_EU_SIMD_WIDTH:
        return zepi_ur_answer_u32(info, properties->physicalEUSimdWidth);
    case UR_DEVICE_INFO_GPU_EU_SLICES:
        return zepi_ur_answer_u32(info, properties->numSlices);
    case UR_DEVICE_INFO_GPU_EU_COUNT_PER_SUBSLICE:
        return zepi_ur_answer_u32(info, properties->numEUsPerSubslice);
    case UR_DEVICE_INFO_GPU_SUBSLICES_PER_SLICE:
        return zepi_ur_answer_u32(info, properties->numSubslicesPerSlice);
    case UR_DEVICE_INFO_GPU_HW_THREADS_PER_EU:
        return zepi_ur_answer_u32(info, properties->numThreadsPerEU);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

ur_result_t zepi_ur_device_compute_info(const struct zepi_device *device, ur_device_info_t question,
                                        const struct zepi_ur_info *info)
{
    ur_result_t result = size_info(device, question, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = arithmetic_info(device, question, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = vector_info(device, question, info);
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? gpu_info(device, question, info)
                                                             : result;
}
