// SPDX-License-Identifier: MIT
#include "launch/device_kernel_create.h"

#include "core/alloc.h"
#include "core/unload.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "launch/kernel_instance.h"
#include "program/build/device_build.h"
#include "program/build/handle_caches.h"
#include "ze/ze.h"

#define FREE_INSTANCES 8 // of a kernel

static void destroy_deferred_kernel(struct zepi_deferred *deferred)
{
    struct zepi_device_kernel *device_kernel = (struct zepi_device_kernel *)deferred;
    while (device_kernel->free) {
        struct zepi_kernel_instance *instance = device_kernel->free;
        device_kernel->free = instance->next;
        zepi_kernel_instance_free(instance);
    }
    for (uint32_t i = 0; i < ZEPI_QUEUE_NUMBERS; i++) {
        struct zepi_kernel_instance *instance =
            atomic_load_explicit(&device_kernel->of_queue[i], memory_order_acquire);
        if (instance)
            zepi_kernel_instance_free(instance);
    }
    zepi_build_result_release(device_kernel->device_module);
    zepi_free(device_kernel->arguments);
    zepi_free(device_kernel);
}

// Defers the destruction of ze_kernels. A host that kept the ze_module destroys it as soon as
// zepi's module object is gone, and Level Zero requires that its kernels are destroyed before.
static void defer_of_kernel(const struct zepi_device_kernel *device_kernel,
                            struct zepi_deferred *deferred)
{
    const struct zepi_device_module *device_module =
        zepi_device_module_of(device_kernel->device_module);
    if (device_module->is_private && device_module->ownership == ZEPI_OWNERSHIP_KEEP)
        zepi_defer_no_longer(device_module->context, deferred);
    else
        zepi_defer(device_module->context, deferred);
}

static void device_kernel_destroy(void *payload)
{
    struct zepi_device_kernel *device_kernel = payload;
    device_kernel->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    device_kernel->deferred.run = destroy_deferred_kernel;
    defer_of_kernel(device_kernel, &device_kernel->deferred);
}

// Native code has no declarations, but some drivers tell how many bytes of each argument the code
// reads.
static zepi_result_t query_kernel_sizes(struct zepi_device_kernel *device_kernel,
                                        ze_kernel_handle_t ze)
{
    const struct zepi_ze_optional *optional =
        &zepi_device_module_of(device_kernel->device_module)->context->platform->optional;
    zepi_result_t result = ZEPI_SUCCESS;
    if (!optional->kernel_get_argument_size)
        return ZEPI_SUCCESS;
    ze = zepi_ze_driver_handle(ZEL_HANDLE_KERNEL, ze);
    for (uint32_t i = 0; i < device_kernel->argument_count && result == ZEPI_SUCCESS; i++)
        result = zepi_check_ze_severe(
            optional->kernel_get_argument_size(ze, i, &device_kernel->arguments[i].size_bytes),
            "zexKernelGetArgumentSize");
    return result;
}

// Reads properties and arguments: their number is the SPIR-V's, else the driver's.
static zepi_result_t device_kernel_describe(struct zepi_device_kernel *device_kernel,
                                            ze_kernel_handle_t ze)
{
    const struct zepi_spirv_kernel *kernel = zepi_device_module_describe_kernel(
        zepi_device_module_of(device_kernel->device_module), device_kernel->name);
    struct zepi_ze_number file = {.stype =
                                      (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_REGISTER_FILE};
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES};
    // Quirk unknown-structure-hangs. No extension names this one: drivers that know block arrays
    // know it, too.
    if (zepi_device_module_of(device_kernel->device_module)
            ->context->platform->optional.has_block_array)
        preferred.pNext = &file;
    device_kernel->properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    device_kernel->properties.pNext = &preferred;
    const zepi_result_t result = ZEPI_ZE(zeKernelGetProperties, ze, &device_kernel->properties);
    device_kernel->properties.pNext = NULL;
    if (result != ZEPI_SUCCESS)
        return result;
    // Quirk structures-passed-over: either may be as it was.
    device_kernel->register_count = file.value;
    device_kernel->preferred_multiple =
        preferred.preferredMultiple > 0                 ? preferred.preferredMultiple
        : device_kernel->properties.maxSubgroupSize > 0 ? device_kernel->properties.maxSubgroupSize
                                                        : 1;
    device_kernel->is_described = kernel != NULL;
    device_kernel->argument_count =
        kernel ? kernel->argument_count : device_kernel->properties.numKernelArgs;
    device_kernel->arguments =
        zepi_allocate(device_kernel->argument_count, sizeof(device_kernel->arguments[0]));
    if (!device_kernel->arguments)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < device_kernel->argument_count; i++)
        device_kernel->arguments[i] =
            kernel ? (struct zepi_kernel_argument){kernel->arguments[i].kind,
                                                   kernel->arguments[i].size_bytes}
                   : (struct zepi_kernel_argument){ZEPI_SPIRV_ARGUMENT_OTHER, 0};
    return kernel ? ZEPI_SUCCESS : query_kernel_sizes(device_kernel, ze);
}

// A device kernel with its first instance: a kernel that cannot be made is found out here, not at a
// launch.
static zepi_result_t device_kernel_create(struct zepi_build_result *device_module, const char *name,
                                          struct zepi_device_kernel **out_device_kernel)
{
    ze_kernel_handle_t ze;
    struct zepi_device_kernel *device_kernel = zepi_allocate(1, sizeof(*device_kernel));
    if (!device_kernel)
        return zepi_fail_no_memory();
    device_kernel->device_module = zepi_build_result_retain(device_module);
    device_kernel->module = zepi_device_module_find_kernel(zepi_device_module_of(device_module),
                                                           name, &device_kernel->name);
    zepi_result_t result = zepi_kernel_instance_create_ze(device_kernel, &ze);
    if (result == ZEPI_SUCCESS) {
        result = device_kernel_describe(device_kernel, ze);
        if (result == ZEPI_SUCCESS)
            result = zepi_kernel_instance_adopt(device_kernel, ze, &device_kernel->free);
        else
            zepi_ze.zeKernelDestroy(ze);
    }
    if (result != ZEPI_SUCCESS) {
        destroy_deferred_kernel(&device_kernel->deferred);
        return result;
    }
    device_kernel->free_count = 1;
    *out_device_kernel = device_kernel;
    return ZEPI_SUCCESS;
}

struct kernel_request {
    struct zepi_build_result *device_module;
    const char *name;
};

static enum zepi_build_status device_kernel_build(void *user, struct zepi_build_output *output)
{
    const struct kernel_request *request = user;
    struct zepi_device_kernel *device_kernel = NULL;
    struct zepi_text no_log = {0};
    zepi_result_t result = zepi_build_hold();
    if (result == ZEPI_SUCCESS) {
        result = device_kernel_create(request->device_module, request->name, &device_kernel);
        zepi_process_let_go();
    }
    if (result == ZEPI_SUCCESS) {
        output->payload = device_kernel;
        output->destroy = device_kernel_destroy;
        output->cost_bytes = ZEPI_DEVICE_KERNEL_COST;
    }
    return zepi_build_output_end(output, result, &no_log);
}

zepi_result_t zepi_device_kernel_get(struct zepi_build_result *device_module, const char *name,
                                     struct zepi_build_result **out_result)
{
    struct kernel_request request = {device_module, name};
    struct zepi_build_result *result = NULL;
    struct zepi_key key;
    // A kernel of private code is in no cache, since a cached kernel would keep that code alive.
    const bool is_private = zepi_device_module_of(device_module)->is_private;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_u64(&key, ZEPI_KEY_CODE, zepi_device_module_of(device_module)->id);
    zepi_key_add_string(&key, ZEPI_KEY_NAME, name);
    const enum zepi_build_lookup lookup = zepi_build_cache_find_or_build(
        zepi_handle_caches_of(zepi_device_module_of(device_module)->context)->kernels,
        is_private ? NULL : &key, device_kernel_build, &request, &result);
    zepi_key_finish(&key);
    if (lookup == ZEPI_LOOKUP_SUCCEEDED) {
        *out_result = result;
        return ZEPI_SUCCESS;
    }
    if (!result)
        return zepi_lookup_fail(lookup);
    const zepi_result_t failure = zepi_build_fail(result);
    zepi_build_result_release(result);
    return failure;
}

zepi_result_t zepi_kernel_instance_take(struct zepi_device_kernel *device_kernel,
                                        struct zepi_kernel_instance **out_instance)
{
    zepi_mutex_lock(&device_kernel->mutex);
    struct zepi_kernel_instance *instance = device_kernel->free;
    if (instance) {
        device_kernel->free = instance->next;
        device_kernel->free_count--;
    }
    zepi_mutex_unlock(&device_kernel->mutex);
    if (!instance)
        return zepi_kernel_instance_create(device_kernel, out_instance);
    *out_instance = instance;
    return ZEPI_SUCCESS;
}

void zepi_kernel_instance_give(struct zepi_device_kernel *device_kernel,
                               struct zepi_kernel_instance *instance)
{
    zepi_mutex_lock(&device_kernel->mutex);
    const bool is_kept = device_kernel->free_count < FREE_INSTANCES;
    if (is_kept) {
        instance->next = device_kernel->free;
        device_kernel->free = instance;
        device_kernel->free_count++;
    }
    zepi_mutex_unlock(&device_kernel->mutex);
    if (!is_kept)
        zepi_kernel_instance_destroy(device_kernel, instance);
}

struct zepi_kernel_instance *zepi_kernel_instance_keep(struct zepi_device_kernel *device_kernel,
                                                       uint32_t queue_number,
                                                       struct zepi_kernel_instance *instance)
{
    struct zepi_kernel_instance *kept = NULL;
    // Acquire and release: the instance was made, or used, by another thread.
    if (atomic_compare_exchange_strong_explicit(&device_kernel->of_queue[queue_number], &kept,
                                                instance, memory_order_acq_rel,
                                                memory_order_acquire))
        return instance;
    zepi_kernel_instance_give(device_kernel, instance);
    return kept;
}

static void destroy_deferred_instance(struct zepi_deferred *deferred)
{
    zepi_kernel_instance_free((struct zepi_kernel_instance *)deferred);
}

void zepi_kernel_instance_destroy(struct zepi_device_kernel *device_kernel,
                                  struct zepi_kernel_instance *instance)
{
    instance->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    instance->deferred.run = destroy_deferred_instance;
    defer_of_kernel(device_kernel, &instance->deferred);
}
