// SPDX-License-Identifier: MIT
#include "launch/dispatch_module.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/emulation.h"
#include "launch/kernel.h"
#include "program/built_image.h"

// Whether a part was built with a value that the launch has: with it, with another one, or without
// the constant.
enum fit { FITS, DIFFERS, LACKS };

static enum fit fit_value(const struct zepi_module_part *part, const struct zepi_spec_entry *entry,
                          const uint8_t **out_built)
{
    enum fit fit = LACKS;
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_device_image *image = part->images[i];
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(image, entry->id);
        if (!declaration)
            continue;
        const uint8_t *built = zepi_spec_effective(declaration, part->values[i]);
        if (memcmp(built, entry->value, declaration->size_bytes) != 0 &&
            !zepi_device_image_is_emulated(image, entry->id)) {
            *out_built = built;
            return DIFFERS;
        }
        fit = FITS;
    }
    return fit;
}

// A value of a constant that the part does not have must be that of another part.
static enum fit fit_value_of_others(const struct zepi_module *module,
                                    const struct zepi_spec_entry *entry, const uint8_t **out_built)
{
    enum fit fit = LACKS;
    for (uint32_t i = 0; i < module->part_count && fit != FITS; i++) {
        const enum fit other = fit_value(&module->parts[i], entry, out_built);
        if (other != LACKS)
            fit = other;
    }
    return fit;
}

// The declaration of another part with the kernel; NULL: none has the constant.
static const struct zepi_spec_declaration *
find_declaration_of_kernel(const struct zepi_request *request, const struct zepi_spec_entry *entry)
{
    const struct zepi_module *module = request->module;
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        if (!zepi_request_is_kernel_in(request, part))
            continue;
        for (uint32_t at = 0; at < part->image_count; at++) {
            const struct zepi_spec_declaration *declaration =
                zepi_device_image_find_constant(part->images[at], entry->id);
            if (declaration)
                return declaration;
        }
    }
    return NULL;
}

// A part that does not have the constant while another one with the kernel has: it was made with
// the default, as far as there is one, and no other value will do.
static enum fit fit_unstated_value(const struct zepi_request *request,
                                   const struct zepi_spec_entry *entry, const uint8_t **out_built)
{
    const struct zepi_spec_declaration *declaration = find_declaration_of_kernel(request, entry);
    if (!declaration)
        return fit_value_of_others(request->module, entry, out_built);
    *out_built = declaration->has_baked_value ? NULL : declaration->default_value;
    return *out_built && memcmp(*out_built, entry->value, entry->size_bytes) == 0 ? FITS : DIFFERS;
}

// Whether the part has the launch's values; if not, *out_entry and *out_built are set unless they
// are already.
static bool part_fits_values(const struct zepi_request *request, uint32_t part_index,
                             const struct zepi_spec_entry **out_entry, const uint8_t **out_built)
{
    const struct zepi_module_part *part = &request->module->parts[part_index];
    for (uint32_t i = 0; i < request->value_count; i++) {
        const struct zepi_spec_entry *entry = &request->entries[i];
        const uint8_t *built = NULL;
        enum fit fit = fit_value(part, entry, &built);
        if (fit == LACKS)
            fit = fit_unstated_value(request, entry, &built);
        if (fit != DIFFERS)
            continue;
        if (!*out_entry) {
            *out_entry = entry;
            *out_built = built;
        }
        return false;
    }
    return true;
}

static bool part_has_chosen(const struct zepi_request *request, uint32_t part_index)
{
    const struct zepi_module *module = request->module;
    for (uint32_t i = 0; i < module->parts[part_index].image_count && request->chosen; i++) {
        if (zepi_module_find_built_image(module, part_index, i) == request->chosen)
            return true;
    }
    return !request->chosen;
}

// Makes a target whose emulated constants have the launch's values.
static zepi_result_t hold_target_with_values(const struct zepi_request *request,
                                             struct zepi_dispatch *dispatch)
{
    struct zepi_spec_values *values;
    zepi_result_t result = zepi_request_values_on(
        request, (struct zepi_spec_values *)dispatch->target.values, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    dispatch->target.values = values;
    dispatch->held = zepi_held_target_create(&dispatch->target);
    zepi_spec_values_release(values);
    return dispatch->held ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

static zepi_result_t finish_target(const struct zepi_request *request,
                                   struct zepi_dispatch *dispatch)
{
    return dispatch->target.image && request->value_count > 0
               ? hold_target_with_values(request, dispatch)
               : ZEPI_SUCCESS;
}

static zepi_result_t find_target_of_object(const struct zepi_request *request,
                                           struct zepi_dispatch *dispatch)
{
    const struct zepi_kernel *kernel = request->desc->kernel;
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    struct zepi_device_kernel *device_kernel;
    uint32_t part_index;
    const zepi_result_t result =
        zepi_kernel_get_device_kernel(kernel, request->queue->device_index, &device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    dispatch->target = zepi_kernel_target(kernel, request->queue->device_index, &part_index);
    if (!part_fits_values(request, part_index, &entry, &built))
        return zepi_request_fail_mismatch(entry, built);
    return finish_target(request, dispatch);
}

// The kernel of a part, borrowed from the module, which keeps it for later launches. Two threads
// may both add it, which does no harm.
static zepi_result_t get_module_kernel(struct zepi_module *module,
                                       struct zepi_build_result *device_module, const char *name,
                                       struct zepi_build_result **out_device_kernel)
{
    // Acquire, here and below: kernels are seen whole.
    struct zepi_module_kernel *first = atomic_load_explicit(&module->kernels, memory_order_acquire);
    for (struct zepi_module_kernel *kernel = first; kernel; kernel = kernel->next) {
        const struct zepi_device_kernel *known = zepi_device_kernel_of(kernel->device_kernel);
        if (known->device_module == device_module && strcmp(known->name, name) == 0) {
            *out_device_kernel = kernel->device_kernel;
            return ZEPI_SUCCESS;
        }
    }
    struct zepi_module_kernel *made = zepi_allocate(1, sizeof(*made));
    if (!made)
        return zepi_fail_no_memory();
    const zepi_result_t result = zepi_device_kernel_get(device_module, name, &made->device_kernel);
    if (result != ZEPI_SUCCESS) {
        zepi_free(made);
        return result;
    }
    made->next = first;
    while (!atomic_compare_exchange_weak_explicit(&module->kernels, &made->next, made,
                                                  memory_order_acq_rel, memory_order_acquire)) {
    }
    *out_device_kernel = made->device_kernel;
    return ZEPI_SUCCESS;
}

static zepi_result_t take_part_kernel(const struct zepi_request *request,
                                      const struct zepi_module_part *part,
                                      struct zepi_dispatch *dispatch)
{
    uint32_t image_index;
    dispatch->target.image = zepi_emulation_find(part, request->name, &image_index);
    dispatch->target.values = dispatch->target.image ? part->values[image_index] : NULL;
    const zepi_result_t result =
        get_module_kernel(request->module, part->device_module[request->queue->device_index],
                          request->name, &dispatch->target.device_kernel);
    return result == ZEPI_SUCCESS ? finish_target(request, dispatch) : result;
}

static zepi_result_t find_kernel_by_name(const struct zepi_request *request,
                                         struct zepi_dispatch *dispatch)
{
    const struct zepi_module *module = request->module;
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (zepi_request_is_kernel_in(request, &module->parts[i]) && part_has_chosen(request, i) &&
            part_fits_values(request, i, &entry, &built))
            return take_part_kernel(request, &module->parts[i], dispatch);
    }
    return zepi_request_fail_mismatch(entry, built);
}

// The built images of the parts that have the kernel.
static zepi_result_t select_built_image(struct zepi_request *request)
{
    struct zepi_module *module = request->module;
    struct zepi_device_image *const *built;
    uint32_t count = 0;
    zepi_result_t result = zepi_module_list_images(module, &built);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_device_image **images =
        zepi_allocate(zepi_module_count_images(module), sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        if (!zepi_request_is_kernel_in(request, part))
            continue;
        for (uint32_t at = 0; at < part->image_count; at++) {
            if (zepi_request_may_use(request, part->images[at]))
                images[count++] =
                    (struct zepi_device_image *)zepi_module_find_built_image(module, i, at);
        }
    }
    result = zepi_request_select(request, count, images);
    zepi_free(images);
    return result;
}

static zepi_result_t fail_no_kernel(const struct zepi_request *request)
{
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND, "the module has no kernel '%s' for device '%s'",
              request->name, request->queue->device->properties.name);
    zepi_module_append_kernel_names(request->module);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

zepi_result_t zepi_dispatch_in_module(struct zepi_request *request,
                                      struct zepi_dispatch *out_dispatch)
{
    if (request->desc->kernel && !request->desc->selector)
        return find_target_of_object(request, out_dispatch);
    if (!zepi_module_find_part(request->module, request->queue->device_index, request->name))
        return fail_no_kernel(request);
    const zepi_result_t result =
        request->desc->selector ? select_built_image(request) : ZEPI_SUCCESS;
    return result == ZEPI_SUCCESS ? find_kernel_by_name(request, out_dispatch) : result;
}

static const uint8_t *find_value_in_part(const struct zepi_module_part *part, uint32_t id,
                                         size_t *out_size_bytes)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(part->images[i], id);
        if (declaration) {
            *out_size_bytes = declaration->size_bytes;
            return zepi_spec_effective(declaration, part->values[i]);
        }
    }
    return NULL;
}

const uint8_t *zepi_dispatch_module_value(const struct zepi_request *request, uint32_t id,
                                          size_t *out_size_bytes)
{
    const struct zepi_module *module = request->module;
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    const uint8_t *value = NULL;
    // The part that the launch would use, if it says enough to tell; else any.
    for (int pass = request->name ? 0 : 1; pass < 2 && !value; pass++) {
        for (uint32_t i = 0; i < module->part_count && !value; i++) {
            if (pass == 1 || (zepi_request_is_kernel_in(request, &module->parts[i]) &&
                              part_fits_values(request, i, &entry, &built)))
                value = find_value_in_part(&module->parts[i], id, out_size_bytes);
        }
    }
    return value;
}
