// SPDX-License-Identifier: MIT
#include "program/native_fit.h"

#include "core/alloc.h"
#include "device/context.h"
#include "program/module.h"

static const struct zepi_spec_declaration *find_united(const struct zepi_module *input, uint32_t id)
{
    return zepi_spec_find_declaration(input->declarations, input->declaration_count, id);
}

bool zepi_native_states_other_values(const struct zepi_module *input,
                                     const struct zepi_device_image *native,
                                     const struct zepi_spec_values *values,
                                     enum zepi_native_use use)
{
    for (uint32_t i = 0; i < native->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &native->declarations[i];
        if (use == ZEPI_NATIVE_EMULATED && zepi_device_image_is_emulated(native, declaration->id))
            continue;
        const struct zepi_spec_declaration *united = find_united(input, declaration->id);
        const struct zepi_spec_entry *set = zepi_spec_values_find(values, declaration->id);
        const uint8_t *value = set                       ? set->value
                               : united->has_baked_value ? declaration->default_value
                                                         : united->default_value;
        if (memcmp(value, declaration->default_value, declaration->size_bytes) != 0)
            return true;
    }
    return false;
}

zepi_result_t zepi_native_values(const struct zepi_module *input,
                                 const struct zepi_device_image *native,
                                 struct zepi_spec_values *values,
                                 struct zepi_spec_values **out_values)
{
    uint32_t count = 0;
    *out_values = NULL;
    struct zepi_spec_entry *entries = zepi_allocate(native->emulated_count, sizeof(*entries));
    if (!entries)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < native->emulated_count; i++) {
        const uint32_t id = native->emulated[i].id;
        const struct zepi_spec_declaration *own = zepi_device_image_find_constant(native, id);
        const struct zepi_spec_declaration *united = find_united(input, id);
        if (zepi_spec_values_find(values, id) ||
            memcmp(own->default_value, united->default_value, own->size_bytes) == 0)
            continue;
        entries[count] = (struct zepi_spec_entry){.id = id, .size_bytes = own->size_bytes};
        memcpy(entries[count++].value, united->default_value, own->size_bytes);
    }
    *out_values = count > 0 ? zepi_spec_values_with(values, count, entries, NULL)
                            : zepi_spec_values_retain(values);
    zepi_free(entries);
    return count > 0 && !*out_values ? ZEPI_ERROR_OUT_OF_HOST_MEMORY : ZEPI_SUCCESS;
}

// Whether a constant of the other image has a value that the native one, which does not state it,
// may not have.
static bool is_value_unstated(const struct zepi_native_fit *fit,
                              const struct zepi_device_image *other)
{
    for (uint32_t i = 0; i < other->declaration_count; i++) {
        const uint32_t id = other->declarations[i].id;
        const struct zepi_spec_entry *set = zepi_spec_values_find(fit->values, id);
        if (!set || zepi_device_image_find_constant(fit->native, id))
            continue;
        const struct zepi_spec_declaration *united = find_united(fit->input, id);
        if (united->has_baked_value ||
            memcmp(set->value, united->default_value, united->size_bytes) != 0)
            return true;
    }
    return false;
}

struct kernel_search {
    const struct zepi_device_module *device_module;
    bool is_found;
};

static bool search_shared_kernel(void *user, const char *name)
{
    struct kernel_search *search = user;
    search->is_found = zepi_device_module_find_kernel(search->device_module, name);
    return !search->is_found;
}

static zepi_result_t shares_kernel(const struct zepi_native_fit *fit,
                                   struct zepi_device_image *other, bool *out_shares)
{
    struct kernel_search search = {.device_module = fit->device_module};
    const struct zepi_spirv *spirv = zepi_device_image_spirv(other);
    struct zepi_build_result *device_module = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; spirv && i < spirv->kernel_count && !search.is_found; i++)
        search_shared_kernel(&search, spirv->kernels[i].name);
    if (!spirv)
        result = zepi_device_module_get(fit->input->context, fit->device_index, other, fit->values,
                                        fit->options, fit->kind, &device_module);
    if (device_module)
        zepi_device_module_for_each_kernel(zepi_device_module_of(device_module),
                                           search_shared_kernel, &search);
    zepi_build_result_release(device_module);
    *out_shares = search.is_found;
    // Code that the device does not take is no other code of the kernel.
    return result == ZEPI_ERROR_COMPILE_FAILURE ? ZEPI_SUCCESS : result;
}

// `listed` has room for all images of the module.
static zepi_result_t check_native_against(const struct zepi_native_fit *fit,
                                          struct zepi_device_image *other,
                                          struct zepi_device_image **listed, bool *out_fits)
{
    const struct zepi_module *input = fit->input;
    bool is_unstated = false;
    bool shares = false;
    zepi_result_t result = ZEPI_SUCCESS;
    listed[0] = other;
    const uint32_t count =
        zepi_device_images_add_needed(input->image_count, input->images, 1, listed);
    for (uint32_t i = 0; i < count && !is_unstated; i++)
        is_unstated = is_value_unstated(fit, listed[i]);
    if (is_unstated)
        result = shares_kernel(fit, other, &shares);
    *out_fits = !shares;
    return result;
}

zepi_result_t zepi_native_fit_check(const struct zepi_native_fit *fit, bool *out_fits)
{
    const struct zepi_module *input = fit->input;
    const struct zepi_device *device = input->context->devices[fit->device_index];
    zepi_result_t result = ZEPI_SUCCESS;
    *out_fits = true;
    if (!fit->values || input->image_count == 1)
        return ZEPI_SUCCESS;
    struct zepi_device_image **listed =
        zepi_allocate(input->image_count, sizeof(struct zepi_device_image *));
    if (!listed)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < input->image_count && *out_fits && result == ZEPI_SUCCESS; i++) {
        if (input->images[i] != fit->native && zepi_device_image_is_for(input->images[i], device))
            result = check_native_against(fit, input->images[i], listed, out_fits);
    }
    zepi_free(listed);
    return result;
}
