// SPDX-License-Identifier: MIT
#include "device/context.h"
#include "launch/kernel.h"
#include "launch/kernel_instance.h"
#include "program/module.h"

static void destroy_exported_kernel(void *user, uint32_t index, void *item)
{
    const struct zepi_kernel *kernel = user;
    zepi_kernel_instance_destroy(zepi_device_kernel_of(kernel->pools[index]), item);
}

void zepi_kernel_destroy_exports(struct zepi_kernel *kernel)
{
    zepi_exports_finish(&kernel->exports, destroy_exported_kernel, kernel);
}

zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle)
{
    uint32_t index;
    struct zepi_device_kernel *device_kernel;
    struct zepi_kernel_instance *made;
    zepi_result_t result = zepi_check_object(kernel, &zepi_kernel_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_context_check_device(kernel->module->context, device, &index);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_get_pool(kernel, index, &device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_native_handle)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the native handle is NULL");
    struct zepi_kernel_instance *instance = zepi_exports_get(&kernel->exports, index);
    if (!instance) {
        result = zepi_kernel_instance_create(device_kernel, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        instance =
            zepi_exports_put(&kernel->exports, kernel->module->context->device_count, index, made);
        if (instance != made)
            zepi_kernel_instance_destroy(device_kernel, made);
        if (!instance)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_native_handle = instance->ze;
    return ZEPI_SUCCESS;
}
