// SPDX-License-Identifier: MIT
#include "core/alloc.h"
#include "launch/device_kernel.h"
#include "ur/info.h"
#include "ur/program/kernel.h"

#include <stdio.h>

const struct zepi_device_kernel *zepi_ur_kernel_any_device_kernel(const struct zepi_kernel *kernel)
{
    uint32_t index = 0;
    while (!kernel->device_kernels[index])
        index++;
    return zepi_device_kernel_of(kernel->device_kernels[index]);
}

static ur_result_t get_info_attributes(const struct zepi_kernel *kernel,
                                       const struct zepi_ur_info *info)
{
    const ze_kernel_properties_t *properties =
        &zepi_ur_kernel_any_device_kernel(kernel)->properties;
    char text[128] = "";
    if (properties->requiredGroupSizeX > 0)
        snprintf(text, sizeof(text), "reqd_work_group_size(%u,%u,%u)",
                 properties->requiredGroupSizeX, properties->requiredGroupSizeY,
                 properties->requiredGroupSizeZ);
    if (properties->requiredSubgroupSize > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%sintel_reqd_sub_group_size(%u)", text[0] ? " " : "",
                 properties->requiredSubgroupSize);
    return zepi_ur_info_return_string(info, text);
}

// One number for each device that the kernel has code for.
static ur_result_t get_info_spill(const struct zepi_kernel *kernel, const struct zepi_ur_info *info)
{
    const uint32_t device_count = kernel->context->device_count;
    uint32_t count = 0;
    uint32_t *sizes = zepi_allocate(device_count, sizeof(*sizes));
    if (!sizes)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < device_count; i++) {
        if (kernel->device_kernels[i])
            sizes[count++] =
                zepi_device_kernel_of(kernel->device_kernels[i])->properties.spillMemSize;
    }
    const ur_result_t result = zepi_ur_info_return(info, sizes, count * sizeof(*sizes));
    zepi_free(sizes);
    return result;
}

static ur_result_t get_info_registers(const struct zepi_kernel *kernel,
                                      const struct zepi_ur_info *info)
{
    const uint32_t count = zepi_ur_kernel_any_device_kernel(kernel)->register_count;
    return count > 0 ? zepi_ur_info_return_u32(info, count)
                     : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}

ur_result_t zepi_urKernelGetInfo(ur_kernel_handle_t hKernel, ur_kernel_info_t propName,
                                 size_t propSize, void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    const struct zepi_kernel *kernel = zepi_ur_kernel(hKernel);
    const ur_result_t result = zepi_ur_check_kernel(hKernel) ?: zepi_ur_info_check(&info);
    if (result != UR_RESULT_SUCCESS)
        return result;
    switch (propName) {
    case UR_KERNEL_INFO_FUNCTION_NAME:
        return zepi_ur_info_return_string(&info, kernel->name);
    case UR_KERNEL_INFO_NUM_ARGS:
        return zepi_ur_info_return_u32(&info,
                                       zepi_ur_kernel_any_device_kernel(kernel)->argument_count);
    case UR_KERNEL_INFO_REFERENCE_COUNT:
        return zepi_ur_info_return_references(&info, kernel);
    case UR_KERNEL_INFO_CONTEXT:
        return zepi_ur_info_return_handle(&info, kernel->context);
    case UR_KERNEL_INFO_PROGRAM:
        return zepi_ur_info_return_handle(&info, kernel->front_end);
    case UR_KERNEL_INFO_ATTRIBUTES:
        return get_info_attributes(kernel, &info);
    case UR_KERNEL_INFO_NUM_REGS:
        return get_info_registers(kernel, &info);
    case UR_KERNEL_INFO_SPILL_MEM_SIZE:
        return get_info_spill(kernel, &info);
    default:
        return zepi_ur_refuse_query(propName, UR_KERNEL_INFO_SPILL_MEM_SIZE);
    }
}

// The kernel's properties on a device of its context.
static ur_result_t kernel_on_device(ur_kernel_handle_t handle, ur_device_handle_t device,
                                    const struct zepi_ur_info *info,
                                    struct zepi_device_kernel **out_device_kernel)
{
    uint32_t index;
    ur_result_t result = zepi_ur_check_kernel(handle);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_device_in(zepi_ur_kernel(handle)->context, device, &index);
    result = result ?: zepi_ur_info_check(info);
    return result
               ?: zepi_ur_result(zepi_kernel_get_device_kernel(zepi_ur_kernel(handle), index,
                                                               out_device_kernel));
}

ur_result_t zepi_urKernelGetGroupInfo(ur_kernel_handle_t hKernel, ur_device_handle_t hDevice,
                                      ur_kernel_group_info_t propName, size_t propSize,
                                      void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    struct zepi_device_kernel *device_kernel;
    const ur_result_t result = kernel_on_device(hKernel, hDevice, &info, &device_kernel);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const ze_device_compute_properties_t *compute = &zepi_ur_device(hDevice)->compute;
    const ze_kernel_properties_t *properties = &device_kernel->properties;
    const size_t global[3] = {(size_t)compute->maxGroupSizeX * compute->maxGroupCountX,
                              (size_t)compute->maxGroupSizeY * compute->maxGroupCountY,
                              (size_t)compute->maxGroupSizeZ * compute->maxGroupCountZ};
    const size_t required[3] = {properties->requiredGroupSizeX, properties->requiredGroupSizeY,
                                properties->requiredGroupSizeZ};
    switch (propName) {
    case UR_KERNEL_GROUP_INFO_GLOBAL_WORK_SIZE:
        return zepi_ur_info_return(&info, global, sizeof(global));
    case UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE:
        return zepi_ur_info_return_size(&info, compute->maxTotalGroupSize);
    case UR_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE:
        return zepi_ur_info_return(&info, required, sizeof(required));
    case UR_KERNEL_GROUP_INFO_LOCAL_MEM_SIZE:
        return zepi_ur_info_return_size(&info, properties->localMemSize);
    case UR_KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return zepi_ur_info_return_size(&info, device_kernel->preferred_multiple);
    case UR_KERNEL_GROUP_INFO_PRIVATE_MEM_SIZE:
        return zepi_ur_info_return_size(&info, properties->privateMemSize);
    default:
        return zepi_ur_refuse_query(propName,
                                    UR_KERNEL_GROUP_INFO_COMPILE_MAX_LINEAR_WORK_GROUP_SIZE);
    }
}

ur_result_t zepi_urKernelGetSubGroupInfo(ur_kernel_handle_t hKernel, ur_device_handle_t hDevice,
                                         ur_kernel_sub_group_info_t propName, size_t propSize,
                                         void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    struct zepi_device_kernel *device_kernel;
    const ur_result_t result = kernel_on_device(hKernel, hDevice, &info, &device_kernel);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const ze_kernel_properties_t *properties = &device_kernel->properties;
    switch (propName) {
    case UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE:
        return zepi_ur_info_return_u32(&info, properties->maxSubgroupSize);
    case UR_KERNEL_SUB_GROUP_INFO_MAX_NUM_SUB_GROUPS:
        return zepi_ur_info_return_u32(&info, properties->maxNumSubgroups);
    case UR_KERNEL_SUB_GROUP_INFO_COMPILE_NUM_SUB_GROUPS:
        return zepi_ur_info_return_u32(&info, properties->requiredNumSubGroups);
    case UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL:
        return zepi_ur_info_return_u32(&info, properties->requiredSubgroupSize);
    default:
        return zepi_ur_refuse_query(propName, UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL);
    }
}
