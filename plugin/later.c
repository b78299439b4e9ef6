// SPDX-License-Identifier: MIT
#include "later.h"

#include "base/status.h"

static zepi_result_t fail(const char *function)
{
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "%s is not supported by this version", function);
}

zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer)
{
    (void)context;
    (void)size_bytes;
    (void)host_data;
    (void)out_buffer;
    return fail("buffer_create");
}

zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes)
{
    (void)buffer;
    (void)device;
    (void)out_address;
    (void)out_size_bytes;
    return fail("buffer_get_address");
}

zepi_result_t zepi_module_join(uint32_t module_count, const zepi_module_t *modules,
                               zepi_module_t *out_module)
{
    (void)module_count;
    (void)modules;
    (void)out_module;
    return fail("module_join");
}

zepi_result_t zepi_module_is_equal(zepi_module_t a, zepi_module_t b, bool *out_is_equal)
{
    (void)a;
    (void)b;
    (void)out_is_equal;
    return fail("module_is_equal");
}

zepi_result_t zepi_module_get_hash(zepi_module_t module, uint64_t *out_hash)
{
    (void)module;
    (void)out_hash;
    return fail("module_get_hash");
}

zepi_result_t zepi_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                             void *native_handle, zepi_module_state_t state,
                                             zepi_ownership_t ownership, zepi_module_t *out_module)
{
    (void)context;
    (void)device;
    (void)native_handle;
    (void)state;
    (void)ownership;
    (void)out_module;
    return fail("module_create_from_native");
}

zepi_result_t zepi_module_get_native(zepi_module_t module, zepi_device_t device,
                                     void **out_native_handle)
{
    (void)module;
    (void)device;
    (void)out_native_handle;
    return fail("module_get_native");
}

zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value)
{
    (void)queue;
    (void)desc;
    (void)id;
    (void)size_bytes;
    (void)out_value;
    return fail("spec_constant_get_for_launch");
}

zepi_result_t zepi_unit_register(zepi_unit_t unit, uint32_t image_count,
                                 const zepi_image_desc_t *images)
{
    (void)unit;
    (void)image_count;
    (void)images;
    return fail("unit_register");
}

zepi_result_t zepi_unit_unregister(zepi_unit_t unit)
{
    (void)unit;
    return fail("unit_unregister");
}

zepi_result_t zepi_unit_get_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, zepi_module_t *out_module)
{
    (void)unit;
    (void)context;
    (void)state;
    (void)out_module;
    return fail("unit_get_module");
}

zepi_result_t zepi_unit_has_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, bool *out_has)
{
    (void)unit;
    (void)context;
    (void)state;
    (void)out_has;
    return fail("unit_has_module");
}

zepi_result_t zepi_unit_has_any_module(zepi_unit_t unit, zepi_context_t context, bool *out_has)
{
    (void)unit;
    (void)context;
    (void)out_has;
    return fail("unit_has_any_module");
}

zepi_result_t zepi_context_get_modules(zepi_context_t context, zepi_module_state_t state,
                                       uint32_t capacity, zepi_module_t *out_modules,
                                       uint32_t *out_count)
{
    (void)context;
    (void)state;
    (void)capacity;
    (void)out_modules;
    (void)out_count;
    return fail("context_get_modules");
}

zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle)
{
    (void)kernel;
    (void)device;
    (void)out_native_handle;
    return fail("kernel_get_native");
}
