// SPDX-License-Identifier: MIT
#include "chain.h"
#include "entry.h"
#include "kernel.h"

#include <stdio.h>
#include <string.h>

static size_t read_size(const struct cpu_kernel *kernel, cl_kernel_work_group_info name)
{
    size_t value = 0;
    cpu_opencl()->api->clGetKernelWorkGroupInfo(kernel->code->properties, cpu_opencl()->device,
                                                name, sizeof(value), &value, NULL);
    return value;
}

static uint32_t sub_group_size(const struct cpu_kernel *kernel)
{
    const struct cpu_opencl *cl = cpu_opencl();
    const size_t local[3] = {64, 1, 1};
    size_t value = 0;
    if (kernel->code->required_sub_group_size != 0)
        return kernel->code->required_sub_group_size;
    if (cl->api->clGetKernelSubGroupInfo(kernel->code->properties, cl->device,
                                         CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof(local),
                                         local, sizeof(value), &value, NULL) != CL_SUCCESS)
        return 1;
    return (uint32_t)value;
}

ze_result_t ZE_APICALL cpu_zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                                 ze_kernel_properties_t *pKernelProperties)
{
    const struct cpu_kernel *kernel = (const struct cpu_kernel *)hKernel;
    const struct cpu_program_kernel *code = kernel->code;
    uint32_t sub_group = sub_group_size(kernel);
    uint32_t limit = (uint32_t)cpu_opencl()->maximum_group_size;
    ze_kernel_properties_t properties = {
        .stype = pKernelProperties->stype,
        .pNext = pKernelProperties->pNext,
        .numKernelArgs = code->argument_count,
        .requiredGroupSizeX = code->required_group_size[0],
        .requiredGroupSizeY = code->required_group_size[1],
        .requiredGroupSizeZ = code->required_group_size[2],
        .requiredSubgroupSize = code->required_sub_group_size,
        .maxSubgroupSize = sub_group,
        .maxNumSubgroups = sub_group != 0 ? limit / sub_group : limit,
        .localMemSize = (uint32_t)read_size(kernel, CL_KERNEL_LOCAL_MEM_SIZE),
        .privateMemSize = (uint32_t)read_size(kernel, CL_KERNEL_PRIVATE_MEM_SIZE),
    };
    // The name and the program tell kernels of one process apart.
    uintptr_t program = (uintptr_t)code->program;
    uint64_t hash = 14695981039346656037u;
    for (const char *c = code->name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    memcpy(properties.uuid.kid, &hash, sizeof(hash));
    memcpy(properties.uuid.mid, &program, sizeof(program));
    *pKernelProperties = properties;

    ze_kernel_preferred_group_size_properties_t *preferred =
        cpu_chain_find(properties.pNext, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
    if (preferred != NULL)
        preferred->preferredMultiple =
            (uint32_t)read_size(kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    ze_kernel_max_group_size_properties_ext_t *maximum =
        cpu_chain_find(properties.pNext, CPU_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES);
    if (maximum != NULL)
        maximum->maxGroupSize = (uint32_t)read_size(kernel, CL_KERNEL_WORK_GROUP_SIZE);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    const struct cpu_kernel *kernel = (const struct cpu_kernel *)hKernel;
    size_t needed = strlen(kernel->code->name) + 1;
    if (pName != NULL && *pSize > 0) {
        size_t copied = *pSize < needed ? *pSize : needed;
        memcpy(pName, kernel->code->name, copied);
        pName[copied - 1] = '\0';
    }
    *pSize = needed;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize,
                                                       char **pString)
{
    const struct cpu_program_kernel *code = ((const struct cpu_kernel *)hKernel)->code;
    const uint32_t *required = code->required_group_size, *hint = code->hinted_group_size;
    char text[192] = " ";
    size_t end = 0;
    if (required[0] != 0)
        end += (size_t)sprintf(text + end, " reqd_work_group_size(%u,%u,%u)", required[0],
                               required[1], required[2]);
    if (hint[0] != 0)
        end += (size_t)sprintf(text + end, " work_group_size_hint(%u,%u,%u)", hint[0], hint[1],
                               hint[2]);
    if (code->required_sub_group_size != 0)
        sprintf(text + end, " intel_reqd_sub_group_size(%u)", code->required_sub_group_size);
    const char *list = text + 1; // behind the first space
    const uint32_t needed = (uint32_t)strlen(list) + 1;
    if (pString != NULL && *pString != NULL && *pSize > 0)
        snprintf(*pString, *pSize, "%s", list);
    *pSize = needed;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel,
                                                     ze_kernel_indirect_access_flags_t *pFlags)
{
    *pFlags = ((const struct cpu_kernel *)hKernel)->indirect_access;
    return ZE_RESULT_SUCCESS;
}

// The largest divisor of `size` that is at most `limit`.
static uint32_t largest_divisor(uint32_t size, uint32_t limit)
{
    for (uint32_t divisor = limit < size ? limit : size; divisor > 1; divisor--)
        if (size % divisor == 0)
            return divisor;
    return 1;
}

ze_result_t ZE_APICALL cpu_zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel,
                                                    uint32_t globalSizeX, uint32_t globalSizeY,
                                                    uint32_t globalSizeZ, uint32_t *groupSizeX,
                                                    uint32_t *groupSizeY, uint32_t *groupSizeZ)
{
    const struct cpu_kernel *kernel = (const struct cpu_kernel *)hKernel;
    const uint32_t *required = kernel->code->required_group_size;
    if (globalSizeX == 0 || globalSizeY == 0 || globalSizeZ == 0)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
    if (required[0] != 0) {
        *groupSizeX = required[0];
        *groupSizeY = required[1];
        *groupSizeZ = required[2];
        return ZE_RESULT_SUCCESS;
    }
    // Groups of a few hundred items keep all cores busy and amortize the cost of a group.
    uint32_t left = 256;
    *groupSizeX = largest_divisor(globalSizeX, left);
    left /= *groupSizeX;
    *groupSizeY = largest_divisor(globalSizeY, left != 0 ? left : 1);
    left /= *groupSizeY;
    *groupSizeZ = largest_divisor(globalSizeZ, left != 0 ? left : 1);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                                   uint32_t *totalGroupCount)
{
    // Groups run one after another on each core; nothing promises that two make progress together.
    *totalGroupCount = 1;
    return ZE_RESULT_SUCCESS;
}
