// SPDX-License-Identifier: MIT
#include "launch/kernel.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/device_kernel_create.h"
#include "launch/emulation.h"
#include "launch/kernel_instance.h"
#include "launch/work_size.h"
#include "program/module.h"
#include "ze/ze.h"

#include <assert.h>

static void kernel_destroy(void *object)
{
    struct zepi_kernel *kernel = object;
    for (uint32_t i = 0; kernel->devices && i < kernel->context->device_count; i++) {
        struct zepi_kernel_on_device *own = &kernel->devices[i];
        // Acquire: it is seen whole. The host's handles go once no command can use them.
        struct zepi_kernel_instance *exported =
            atomic_load_explicit(&own->exported, memory_order_acquire);
        if (exported)
            zepi_kernel_instance_destroy(zepi_device_kernel_of(own->target.device_kernel),
                                         exported);
        zepi_build_result_release(own->target.device_kernel);
    }
    if (kernel->devices != kernel->inline_devices)
        zepi_free(kernel->devices);
    if (kernel->adopted)
        zepi_ze.zeKernelDestroy(kernel->adopted);
    zepi_release(kernel->front_end);
    zepi_release(atomic_load_explicit(&kernel->front_end_state, memory_order_relaxed));
    zepi_release(kernel->module);
}

ZEPI_DEFINE_TYPE(kernel, kernel_destroy);

// The first part of the module that has the kernel serves a device.
static zepi_result_t kernel_get_all_devices(struct zepi_kernel *kernel, const char *name)
{
    const struct zepi_module *module = kernel->module;
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        const struct zepi_module_part *part = zepi_module_find_part(module, i, name);
        struct zepi_target *target = &kernel->devices[i].target;
        uint32_t image_index;
        if (!part)
            continue;
        const zepi_result_t result =
            zepi_device_kernel_get(part->device_module[i], name, &target->device_kernel);
        if (result != ZEPI_SUCCESS)
            return result;
        kernel->name = zepi_device_kernel_of(target->device_kernel)->name;
        target->image = zepi_emulation_find(part, name, &image_index);
        if (target->image)
            target->values = part->values[image_index];
    }
    if (kernel->name)
        return ZEPI_SUCCESS;
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND, "the module has no kernel '%s'", name);
    zepi_module_append_kernel_names(module);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

// Makes a kernel object without device kernels.
static inline zepi_result_t kernel_create(struct zepi_module *module,
                                          struct zepi_kernel **out_kernel)
{
    const size_t device_count = module->context->device_count;
    struct zepi_kernel *kernel = zepi_object_create(&zepi_kernel_type);
    if (!kernel)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    kernel->module = zepi_retain(module);
    kernel->context = module->context;
    kernel->devices = device_count <= ZEPI_KERNEL_INLINE_DEVICES
                          ? kernel->inline_devices
                          : zepi_allocate(device_count, sizeof(kernel->devices[0]));
    if (!kernel->devices) {
        zepi_release(kernel);
        return zepi_fail_no_memory();
    }
    *out_kernel = kernel;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_get_kernel(struct zepi_module *module, const char *name,
                                     struct zepi_kernel **out_kernel)
{
    struct zepi_kernel *kernel = NULL;
    zepi_result_t result = kernel_create(module, &kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    result = kernel_get_all_devices(kernel, name);
    if (result != ZEPI_SUCCESS) {
        zepi_release(kernel);
        return result;
    }
    *out_kernel = kernel;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_kernel_get_device_kernel(const struct zepi_kernel *kernel, uint32_t device_index,
                                            struct zepi_device_kernel **out_device_kernel)
{
    struct zepi_build_result *device_kernel = kernel->devices[device_index].target.device_kernel;
    if (!device_kernel)
        return zepi_fail(ZEPI_ERROR_INVALID_KERNEL, "kernel '%s' has no code for device '%s'",
                         kernel->name, kernel->context->devices[device_index]->properties.name);
    *out_device_kernel = zepi_device_kernel_of(device_kernel);
    return ZEPI_SUCCESS;
}

static zepi_result_t kernel_find_on_device(const struct zepi_kernel *kernel,
                                           const struct zepi_device *device,
                                           struct zepi_device_kernel **out_device_kernel)
{
    return zepi_kernel_get_device_kernel(kernel, zepi_context_device_index(kernel->context, device),
                                         out_device_kernel);
}

zepi_result_t zepi_kernel_suggest_group_size(zepi_kernel_t kernel, zepi_device_t device,
                                             uint32_t work_dim, const size_t *global_size,
                                             size_t *out_group_size)
{
    struct zepi_device_kernel *device_kernel = NULL;
    struct zepi_kernel_instance *instance;
    struct zepi_work_size size;
    struct zepi_launch launch;
    zepi_result_t result = kernel_find_on_device(kernel, device, &device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_kernel_instance_take(device_kernel, &instance);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_launch_set_sizes(&launch, work_dim, global_size, NULL, NULL);
    result = zepi_work_size_init(&size, device_kernel, device, instance->ze, &launch);
    zepi_kernel_instance_give(device_kernel, instance);
    for (uint32_t i = 0; i < work_dim && result == ZEPI_SUCCESS; i++)
        out_group_size[i] = size.is_empty ? 1 : size.group[i];
    return result;
}

zepi_result_t zepi_kernel_max_cooperative_groups(zepi_kernel_t kernel, zepi_device_t device,
                                                 uint32_t work_dim, const size_t *group_size,
                                                 uint32_t *out_count)
{
    struct zepi_device_kernel *device_kernel = NULL;
    struct zepi_kernel_instance *instance;
    uint32_t group[3] = {1, 1, 1};
    assert(work_dim >= 1 && work_dim <= 3);
    zepi_result_t result = kernel_find_on_device(kernel, device, &device_kernel);
    for (uint32_t i = 0; i < work_dim && result == ZEPI_SUCCESS; i++) {
        if (group_size[i] == 0 || group_size[i] > UINT32_MAX)
            result = zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                               "the group has %zu work-items in dimension "
                               "%u",
                               group_size[i], i);
        group[i] = (uint32_t)group_size[i];
    }
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_instance_take(device_kernel, &instance);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_kernel_instance_set_group_size(instance, group);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeKernelSuggestMaxCooperativeGroupCount, instance->ze, out_count);
    zepi_kernel_instance_give(device_kernel, instance);
    return result;
}

// ---- Native handles ----

zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle)
{
    const uint32_t index = zepi_context_device_index(kernel->context, device);
    struct zepi_kernel_on_device *own = &kernel->devices[index];
    struct zepi_device_kernel *device_kernel = NULL;
    struct zepi_kernel_instance *made;
    zepi_result_t result = zepi_kernel_get_device_kernel(kernel, index, &device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    // Acquire, here and below: what another thread made is seen whole.
    struct zepi_kernel_instance *instance =
        atomic_load_explicit(&own->exported, memory_order_acquire);
    if (!instance) {
        result = zepi_kernel_instance_create(device_kernel, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        if (atomic_compare_exchange_strong_explicit(&own->exported, &instance, made,
                                                    memory_order_acq_rel, memory_order_acquire))
            instance = made;
        else
            zepi_kernel_instance_destroy(device_kernel, made);
    }
    *out_native_handle = instance->ze;
    return ZEPI_SUCCESS;
}
