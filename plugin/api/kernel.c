// SPDX-License-Identifier: MIT
// Kernel objects.
#include "launch/kernel.h"
#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "device/device.h"
#include "launch/device_kernel.h"
#include "program/module.h"

zepi_result_t zepi_api_module_get_kernel(zepi_module_t module, const char *name,
                                         zepi_kernel_t *out_kernel)
{
    zepi_result_t result = zepi_api_check_pointer(module, &zepi_module_type, name, "kernel's name");
    result = result ? result : zepi_api_check_output(out_kernel, "output for the kernel");
    if (result == ZEPI_SUCCESS && module->state != ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE,
                         "kernels are in executable modules; this one is %s",
                         zepi_module_state_name(module->state));
    return result ? result : zepi_module_get_kernel(module, name, out_kernel);
}

// A kernel, and a device of its context.
static zepi_result_t check_kernel_device(zepi_kernel_t kernel, zepi_device_t device)
{
    const zepi_result_t result = zepi_check_object(kernel, &zepi_kernel_type);
    return result ? result : zepi_context_check_device(kernel->context, device);
}

zepi_result_t zepi_api_kernel_get_info(zepi_kernel_t kernel, zepi_device_t device,
                                       zepi_kernel_info_t *out_info)
{
    struct zepi_device_kernel *device_kernel = NULL;
    zepi_result_t result;
    if ((result = check_kernel_device(kernel, device)) ||
        (result = zepi_kernel_get_device_kernel(
             kernel, zepi_context_device_index(kernel->context, device), &device_kernel)))
        return result;
    const ze_kernel_properties_t *properties = &device_kernel->properties;
    const zepi_kernel_info_t info = {.name = kernel->name,
                                     .module = kernel->module,
                                     .argument_count = device_kernel->argument_count,
                                     .required_group_size = {properties->requiredGroupSizeX,
                                                             properties->requiredGroupSizeY,
                                                             properties->requiredGroupSizeZ},
                                     .required_sub_group_size = properties->requiredSubgroupSize,
                                     .max_group_size = device->compute.maxTotalGroupSize,
                                     .max_sub_group_size = properties->maxSubgroupSize,
                                     .max_sub_group_count = properties->maxNumSubgroups,
                                     .local_memory_bytes = properties->localMemSize,
                                     .private_memory_bytes = properties->privateMemSize,
                                     .spill_memory_bytes = properties->spillMemSize};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_kernel_suggest_group_size(zepi_kernel_t kernel, zepi_device_t device,
                                                 uint32_t work_dim, const size_t *global_size,
                                                 size_t *out_group_size)
{
    zepi_result_t result;
    if ((result = check_kernel_device(kernel, device)) ||
        (result = zepi_api_check_work_dim(work_dim)) ||
        (result = zepi_api_check_output(global_size, "global size")) ||
        (result = zepi_api_check_output(out_group_size, "output for the group size")))
        return result;
    return zepi_kernel_suggest_group_size(kernel, device, work_dim, global_size, out_group_size);
}

zepi_result_t zepi_api_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                         void **out_native_handle)
{
    zepi_result_t result;
    if ((result = check_kernel_device(kernel, device)) ||
        (result = zepi_api_check_output(out_native_handle, "output for the native handle")))
        return result;
    return zepi_kernel_get_native(kernel, device, out_native_handle);
}
