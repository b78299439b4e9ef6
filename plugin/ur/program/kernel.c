// SPDX-License-Identifier: MIT
#include "ur/program/kernel.h"

#include "core/alloc.h"
#include "launch/device_kernel.h"
#include "launch/work_size.h"
#include "ze/ze.h"

// The first device that the kernel has code for.
static uint32_t first_device_of(const struct zepi_kernel *kernel)
{
    uint32_t index = 0;
    while (!kernel->devices[index].target.device_kernel)
        index++;
    return index;
}

const struct zepi_device_kernel *zepi_ur_kernel_any_device_kernel(const struct zepi_kernel *kernel)
{
    return zepi_device_kernel_of(kernel->devices[first_device_of(kernel)].target.device_kernel);
}

static ur_result_t kernel_create_by_name(struct zepi_ur_program *program, const char *name,
                                         struct zepi_kernel **out_kernel)
{
    struct zepi_kernel *kernel;
    struct zepi_module *module;
    ur_result_t result = zepi_ur_program_executable(program, "kernels", &module);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_ur_result(zepi_module_get_kernel(module, name, &kernel));
    zepi_release(module);
    if (result != UR_RESULT_SUCCESS)
        return result;
    kernel->front_end = zepi_retain(program);
    *out_kernel = kernel;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urKernelCreate(ur_program_handle_t hProgram, const char *pKernelName,
                                ur_kernel_handle_t *phKernel)
{
    ur_result_t result;
    if ((result = zepi_ur_check_program(hProgram)) ||
        (result = zepi_ur_check_pointer(pKernelName, "pKernelName")) ||
        (result = zepi_ur_check_pointer(phKernel, "phKernel")))
        return result;
    return kernel_create_by_name(zepi_ur_program(hProgram), pKernelName,
                                 (struct zepi_kernel **)phKernel);
}

static ur_result_t kernel_get_name(ze_kernel_handle_t native, char **out_name)
{
    size_t size = 0;
    ur_result_t result = zepi_ur_result(ZEPI_ZE(zeKernelGetName, native, &size, NULL));
    if (result != UR_RESULT_SUCCESS)
        return result;
    char *name = zepi_allocate(size + 1, 1);
    if (!name)
        return zepi_ur_result(zepi_fail_no_memory());
    result = zepi_ur_result(ZEPI_ZE(zeKernelGetName, native, &size, name));
    if (result == UR_RESULT_SUCCESS)
        *out_name = name;
    else
        zepi_free(name);
    return result;
}

// The program's kernel of that name. The handle itself is not launched: arguments come with each
// launch here, so that there is nothing on it to keep.
ur_result_t zepi_urKernelCreateWithNativeHandle(ur_native_handle_t hNativeKernel,
                                                ur_context_handle_t hContext,
                                                ur_program_handle_t hProgram,
                                                const ur_kernel_native_properties_t *pProperties,
                                                ur_kernel_handle_t *phKernel)
{
    char *name = NULL;
    struct zepi_kernel *kernel = NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (result = zepi_ur_check_program_in(zepi_ur_context(hContext), hProgram,
                                           UR_RESULT_ERROR_INVALID_CONTEXT)) ||
        (result = zepi_ur_check_pointer((void *)hNativeKernel, "hNativeKernel")) ||
        (result = zepi_ur_check_pointer(phKernel, "phKernel")) ||
        (result = kernel_get_name((ze_kernel_handle_t)hNativeKernel, &name)))
        return result;
    result = kernel_create_by_name(zepi_ur_program(hProgram), name, &kernel);
    zepi_free(name);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (pProperties && pProperties->isNativeHandleOwned)
        kernel->adopted = (ze_kernel_handle_t)hNativeKernel;
    *phKernel = (ur_kernel_handle_t)kernel;
    return UR_RESULT_SUCCESS;
}

ZEPI_UR_DEFINE_REFERENCES(Kernel, , ur_kernel_handle_t, zepi_ur_check_kernel)

// Every kernel may access memory through pointers in memory (kernel_instance.c), and a list of
// pointers says no more than that.
ur_result_t zepi_urKernelSetExecInfo(ur_kernel_handle_t hKernel, ur_kernel_exec_info_t query,
                                     size_t value_size,
                                     const ur_kernel_exec_info_properties_t *pProperties,
                                     const void *value)
{
    (void)pProperties;
    ur_result_t result = zepi_ur_check_kernel(hKernel);
    if (result == UR_RESULT_SUCCESS && query > UR_KERNEL_EXEC_INFO_CACHE_CONFIG)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                "execution attribute %d is not known", (int)query);
    result = result ? result : zepi_ur_check_pointer(value, "pPropValue");
    if (result != UR_RESULT_SUCCESS || query != UR_KERNEL_EXEC_INFO_CACHE_CONFIG)
        return result;
    if (value_size < sizeof(ur_kernel_cache_config_t))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a cache configuration of %zu bytes",
                              value_size);
    ur_kernel_cache_config_t config;
    memcpy(&config, value, sizeof(config));
    if (config > UR_KERNEL_CACHE_CONFIG_LARGE_DATA)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "cache configuration %d is not known", (int)config);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urKernelGetNativeHandle(ur_kernel_handle_t hKernel,
                                         ur_native_handle_t *phNativeKernel)
{
    ur_result_t result;
    if ((result = zepi_ur_check_kernel(hKernel)) ||
        (result = zepi_ur_check_pointer(phNativeKernel, "phNativeKernel")))
        return result;
    struct zepi_kernel *kernel = zepi_ur_kernel(hKernel);
    return zepi_ur_result(zepi_kernel_get_native(
        kernel, kernel->context->devices[first_device_of(kernel)], (void **)phNativeKernel));
}

static ur_result_t check_work_dim(uint32_t work_dim)
{
    return work_dim >= 1 && work_dim <= 3
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                                "%u dimensions, expected 1 to 3", work_dim);
}

ur_result_t zepi_urKernelGetSuggestedLocalWorkSize(ur_kernel_handle_t hKernel,
                                                   ur_queue_handle_t hQueue, uint32_t numWorkDim,
                                                   const size_t *pGlobalWorkOffset,
                                                   const size_t *pGlobalWorkSize,
                                                   size_t *pSuggestedLocalWorkSize)
{
    const struct zepi_queue *queue = zepi_ur_queue(hQueue);
    ur_result_t result;
    if ((result = zepi_ur_check_kernel(hKernel)) || (result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_pointer(pGlobalWorkSize, "pGlobalWorkSize")) ||
        (result = zepi_ur_check_pointer(pSuggestedLocalWorkSize, "pSuggestedLocalWorkSize")) ||
        (result = check_work_dim(numWorkDim)) ||
        (result = zepi_ur_check_same_context(queue->context, zepi_ur_kernel(hKernel)->context,
                                             UR_RESULT_ERROR_INVALID_KERNEL, "the kernel")) ||
        (result = zepi_ur_check_pointer(pGlobalWorkOffset, "pGlobalWorkOffset")))
        return result;
    return zepi_ur_result(zepi_kernel_suggest_group_size(zepi_ur_kernel(hKernel), queue->device,
                                                         numWorkDim, pGlobalWorkSize,
                                                         pSuggestedLocalWorkSize));
}

// Level Zero's suggestion does not depend on arguments.
ur_result_t zepi_urKernelGetSuggestedLocalWorkSizeWithArgs(
    ur_kernel_handle_t hKernel, ur_queue_handle_t hQueue, uint32_t numWorkDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, uint32_t numArgs,
    const ur_exp_kernel_arg_properties_t *pArgs, size_t *pSuggestedLocalWorkSize)
{
    ur_result_t result = zepi_ur_check_kernel(hKernel);
    if (result == UR_RESULT_SUCCESS && numArgs > 0)
        result = zepi_ur_check_pointer(pArgs, "pArgs");
    for (uint32_t i = 0; i < numArgs && result == UR_RESULT_SUCCESS; i++) {
        if (pArgs[i].type > UR_EXP_KERNEL_ARG_TYPE_SAMPLER)
            result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                    "argument %u has the unknown type %d", i, (int)pArgs[i].type);
    }
    return result ? result
                  : zepi_urKernelGetSuggestedLocalWorkSize(hKernel, hQueue, numWorkDim,
                                                           pGlobalWorkOffset, pGlobalWorkSize,
                                                           pSuggestedLocalWorkSize);
}

// Level Zero counts the kernel's own local memory alone. Groups that run at the same time share a
// sub-slice's.
static uint32_t limit_by_local_memory(const struct zepi_device_kernel *device_kernel,
                                      const struct zepi_device *device, size_t dynamic_bytes,
                                      uint32_t count)
{
    const uint64_t own_bytes = device_kernel->properties.localMemSize;
    const uint64_t all_bytes = device->compute.maxSharedLocalMemory;
    const uint64_t sub_slices =
        (uint64_t)device->properties.numSlices * device->properties.numSubslicesPerSlice;
    if (dynamic_bytes == 0)
        return count;
    if (dynamic_bytes > all_bytes || own_bytes > all_bytes - dynamic_bytes)
        return 0;
    const uint64_t most = sub_slices * (all_bytes / (own_bytes + dynamic_bytes));
    return most < count ? (uint32_t)most : count;
}

ur_result_t zepi_urKernelSuggestMaxCooperativeGroupCount(
    ur_kernel_handle_t hKernel, ur_device_handle_t hDevice, uint32_t workDim,
    const size_t *pLocalWorkSize, size_t dynamicSharedMemorySize, uint32_t *pGroupCountRet)
{
    uint32_t count;
    uint32_t index;
    ur_result_t result;
    if ((result = zepi_ur_check_kernel(hKernel)) ||
        (result = zepi_ur_check_device_in(zepi_ur_kernel(hKernel)->context, hDevice, &index)) ||
        (result = zepi_ur_check_pointer(pLocalWorkSize, "pLocalWorkSize")) ||
        (result = zepi_ur_check_pointer(pGroupCountRet, "pGroupCountRet")) ||
        (result = check_work_dim(workDim)) ||
        (result = zepi_ur_result(zepi_kernel_max_cooperative_groups(
             zepi_ur_kernel(hKernel), zepi_ur_device(hDevice), workDim, pLocalWorkSize, &count))))
        return result;
    const struct zepi_target *target = &zepi_ur_kernel(hKernel)->devices[index].target;
    *pGroupCountRet =
        limit_by_local_memory(zepi_device_kernel_of(target->device_kernel), zepi_ur_device(hDevice),
                              dynamicSharedMemorySize, count);
    return UR_RESULT_SUCCESS;
}
