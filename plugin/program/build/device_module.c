// SPDX-License-Identifier: MIT
#include "program/build/device_module.h"

#include "core/alloc.h"
#include "program/build/ze_module.h"
#include "ze/ze.h"

static void device_module_destroy_deferred(struct zepi_deferred *deferred)
{
    struct zepi_device_module *device_module = (struct zepi_device_module *)deferred;
    for (uint32_t i = 0; i < device_module->ze_module_count; i++) {
        if (device_module->ownership == ZEPI_OWNERSHIP_TRANSFER)
            zepi_ze.zeModuleDestroy(device_module->ze_modules[i].ze);
        zepi_free(device_module->ze_modules[i].kernel_names);
        zepi_blob_release(device_module->ze_modules[i].native);
    }
    for (uint32_t i = 0; i < device_module->source_count; i++)
        zepi_blob_release(device_module->sources[i]);
    zepi_blob_release(device_module->container);
    zepi_free(device_module->sources);
    zepi_free(device_module->options);
    zepi_free(device_module);
}

void zepi_device_module_destroy(void *pointer)
{
    struct zepi_device_module *device_module = pointer;
    device_module->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    device_module->deferred.run = device_module_destroy_deferred;
    zepi_defer(device_module->context, &device_module->deferred);
}

// The names in the SPIR-V, for a driver that lists none.
static zepi_result_t list_spirv_kernels(struct zepi_ze_module *ze_module, uint32_t source_count,
                                        struct zepi_blob *const *sources)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < source_count; i++)
        count += sources[i] ? sources[i]->spirv.kernel_count : 0;
    ze_module->kernel_names = zepi_allocate(count, sizeof(char *));
    if (!ze_module->kernel_names)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < source_count; i++) {
        for (uint32_t at = 0; sources[i] && at < sources[i]->spirv.kernel_count; at++)
            ze_module->kernel_names[ze_module->kernel_count++] = sources[i]->spirv.kernels[at].name;
    }
    zepi_sort_kernel_names(ze_module->kernel_names, ze_module->kernel_count);
    return ZEPI_SUCCESS;
}

// After fill_sources.
static zepi_result_t fill_ze_modules(struct zepi_device_module *device_module, uint32_t count,
                                     const struct zepi_ze_module *ze_modules)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_blob *const *sources = device_module->sources;
    const uint32_t source_count = device_module->source_count;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        struct zepi_ze_module *ze_module = &device_module->ze_modules[i];
        const bool has_own = count > 1 && i < source_count;
        ze_module->ze = ze_modules[i].ze;
        ze_module->group = ze_modules[i].group;
        device_module->ze_module_count++;
        result = zepi_ze_module_get_kernel_names(ze_module->ze, &ze_module->kernel_names,
                                                 &ze_module->kernel_count);
        if (result == ZEPI_SUCCESS && !ze_module->kernel_names)
            result = list_spirv_kernels(ze_module, has_own ? 1 : source_count,
                                        sources + (has_own ? i : 0));
    }
    return result;
}

static zepi_result_t fill_sources(struct zepi_device_module *device_module, uint32_t source_count,
                                  struct zepi_blob *const *sources)
{
    device_module->sources = zepi_allocate(source_count, sizeof(struct zepi_blob *));
    if (!device_module->sources)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < source_count; i++)
        device_module->sources[i] = sources[i] ? zepi_blob_retain(sources[i]) : NULL;
    device_module->source_count = source_count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_module_create(struct zepi_context *context, struct zepi_device *device,
                                        uint32_t count, struct zepi_ze_module *ze_modules,
                                        uint32_t source_count, struct zepi_blob *const *sources,
                                        struct zepi_device_module **out_device_module)
{
    static atomic_uint_fast64_t last_id;
    struct zepi_device_module *device_module =
        zepi_allocate(1, sizeof(*device_module) + count * sizeof(device_module->ze_modules[0]));
    if (!device_module)
        return zepi_fail_no_memory();
    zepi_result_t result = fill_sources(device_module, source_count, sources);
    if (result == ZEPI_SUCCESS)
        result = fill_ze_modules(device_module, count, ze_modules);
    if (result != ZEPI_SUCCESS) {
        device_module->ownership = ZEPI_OWNERSHIP_KEEP;
        device_module_destroy_deferred(&device_module->deferred);
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        device_module->ze_modules[i].native = ze_modules[i].native;
        device_module->ze_modules[i].native_bytes = ze_modules[i].native_bytes;
        ze_modules[i] = (struct zepi_ze_module){0};
    }
    device_module->context = context;
    device_module->device = device;
    device_module->ownership = ZEPI_OWNERSHIP_TRANSFER;
    // Relaxed: only uniqueness matters.
    device_module->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    *out_device_module = device_module;
    return ZEPI_SUCCESS;
}

static uint64_t blob_size(const struct zepi_blob *blob)
{
    return blob ? blob->size_bytes : 0;
}

enum zepi_build_status zepi_device_module_end_build(struct zepi_build_output *output,
                                                    zepi_result_t result,
                                                    struct zepi_device_module *device_module,
                                                    struct zepi_text *log)
{
    if (result == ZEPI_SUCCESS) {
        output->payload = device_module;
        output->destroy = zepi_device_module_destroy;
        output->cost_bytes = blob_size(device_module->container);
        for (uint32_t i = 0; i < device_module->source_count; i++)
            output->cost_bytes += blob_size(device_module->sources[i]);
        // The driver's share is about as large as its native code.
        for (uint32_t i = 0; i < device_module->ze_module_count; i++)
            output->cost_bytes += device_module->ze_modules[i].native_bytes +
                                  blob_size(device_module->ze_modules[i].native);
    }
    return zepi_build_output_end(output, result, log);
}

const struct zepi_spirv_kernel *
zepi_device_module_describe_kernel(const struct zepi_device_module *device_module, const char *name)
{
    const struct zepi_spirv_kernel *kernel = NULL;
    for (uint32_t i = 0; i < device_module->source_count && !kernel; i++) {
        if (device_module->sources[i])
            kernel = zepi_spirv_find_kernel(&device_module->sources[i]->spirv, name);
    }
    return kernel;
}

ze_module_handle_t zepi_device_module_find_kernel(const struct zepi_device_module *device_module,
                                                  const char *name, const char **out_name)
{
    for (uint32_t i = 0; i < device_module->ze_module_count; i++) {
        const struct zepi_ze_module *ze_module = &device_module->ze_modules[i];
        const char *own =
            zepi_find_kernel_name(ze_module->kernel_names, ze_module->kernel_count, name);
        if (own && out_name)
            *out_name = own;
        if (own)
            return ze_module->ze;
    }
    return NULL;
}

zepi_result_t zepi_ze_module_native_blob(const struct zepi_ze_module *ze_module,
                                         struct zepi_blob **out_native)
{
    void *bytes;
    size_t size_bytes;
    *out_native = ze_module->native ? zepi_blob_retain(ze_module->native) : NULL;
    if (ze_module->native)
        return ZEPI_SUCCESS;
    zepi_result_t result = zepi_ze_module_get_native(ze_module->ze, &bytes, &size_bytes);
    if (result != ZEPI_SUCCESS || size_bytes == 0)
        return result;
    result = zepi_blob_get(bytes, size_bytes, false, out_native);
    zepi_free(bytes);
    return result;
}
