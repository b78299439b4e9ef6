// SPDX-License-Identifier: MIT
// Launches that name an executable, or a kernel object of one.
#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/emulation.h"
#include "launch/kernel.h"
#include "launch/named_kernel.h"
#include "launch/question.h"
#include "program/built_image.h"

// How a part stands to a value of the launch.
enum fit { FITS, DIFFERS, LACKS };

static enum fit fit_value(const struct zepi_module_part *part, const struct zepi_spec_entry *entry,
                          const uint8_t **out_built)
{
    enum fit fit = LACKS;
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_image *image = part->images[i];
        const struct zepi_spec_declaration *declaration =
            zepi_image_find_constant(image, entry->id);
        if (!declaration)
            continue;
        const uint8_t *built = zepi_spec_effective(declaration, part->values[i]);
        if (memcmp(built, entry->value, declaration->size_bytes) != 0 &&
            !zepi_image_is_emulated(image, entry->id)) {
            *out_built = built;
            return DIFFERS;
        }
        fit = FITS;
    }
    return fit;
}

// A value of a constant that the part does not have must be that of another part.
static enum fit fit_others(const struct zepi_module *module, const struct zepi_spec_entry *entry,
                           const uint8_t **out_built)
{
    enum fit fit = LACKS;
    for (uint32_t i = 0; i < module->part_count && fit != FITS; i++) {
        const enum fit other = fit_value(&module->parts[i], entry, out_built);
        if (other != LACKS)
            fit = other;
    }
    return fit;
}

// What another part with the kernel declares; NULL: none has the constant.
static const struct zepi_spec_declaration *find_of_kernel(const struct zepi_question *question,
                                                          const struct zepi_spec_entry *entry)
{
    const struct zepi_module *module = question->module;
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        const struct zepi_build_result *code = part->code[question->queue->device_index];
        if (!code || !zepi_code_find_kernel(zepi_code_of(code), question->name))
            continue;
        for (uint32_t at = 0; at < part->image_count; at++) {
            const struct zepi_spec_declaration *declaration =
                zepi_image_find_constant(part->images[at], entry->id);
            if (declaration)
                return declaration;
        }
    }
    return NULL;
}

// A part that does not have the constant while another one with the kernel has: it was made with
// the default, as far as there is one, and no other value will do.
static enum fit fit_unstated(const struct zepi_question *question,
                             const struct zepi_spec_entry *entry, const uint8_t **out_built)
{
    const struct zepi_spec_declaration *declaration = find_of_kernel(question, entry);
    if (!declaration)
        return fit_others(question->module, entry, out_built);
    *out_built = declaration->has_baked_value ? NULL : declaration->default_value;
    return *out_built && memcmp(*out_built, entry->value, entry->size_bytes) == 0 ? FITS : DIFFERS;
}

// Whether the part has the launch's values; if not, *out_entry and *out_built are set unless they
// are already.
static bool has_values(const struct zepi_question *question, uint32_t part_index,
                       const struct zepi_spec_entry **out_entry, const uint8_t **out_built)
{
    const struct zepi_module_part *part = &question->module->parts[part_index];
    for (uint32_t i = 0; i < question->value_count; i++) {
        const struct zepi_spec_entry *entry = &question->entries[i];
        const uint8_t *built = NULL;
        enum fit fit = fit_value(part, entry, &built);
        if (fit == LACKS)
            fit = fit_unstated(question, entry, &built);
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

static bool has_chosen(const struct zepi_question *question, uint32_t part_index)
{
    const struct zepi_module *module = question->module;
    for (uint32_t i = 0; i < module->parts[part_index].image_count && question->chosen; i++) {
        if (zepi_module_find_built_image(module, part_index, i) == question->chosen)
            return true;
    }
    return !question->chosen;
}

// Emulated constants get the launch's values.
static zepi_result_t hold_with_values(const struct zepi_question *question,
                                      struct zepi_dispatch *dispatch)
{
    struct zepi_spec_values *values;
    zepi_result_t result = zepi_question_values_on(
        question, (struct zepi_spec_values *)dispatch->target.values, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    dispatch->target.values = values;
    dispatch->held = zepi_held_target_create(&dispatch->target);
    zepi_spec_values_release(values);
    return dispatch->held ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

static zepi_result_t finish_target(const struct zepi_question *question,
                                   struct zepi_dispatch *dispatch)
{
    return dispatch->target.image && question->value_count > 0
               ? hold_with_values(question, dispatch)
               : ZEPI_SUCCESS;
}

static zepi_result_t find_of_object(const struct zepi_question *question,
                                    struct zepi_dispatch *dispatch)
{
    const struct zepi_kernel *kernel = question->desc->kernel;
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    struct zepi_kernel_pool *pool;
    uint32_t part_index;
    const zepi_result_t result = zepi_kernel_get_pool(kernel, question->queue->device_index, &pool);
    if (result != ZEPI_SUCCESS)
        return result;
    dispatch->target = zepi_kernel_target(kernel, question->queue->device_index, &part_index);
    if (!has_values(question, part_index, &entry, &built))
        return zepi_question_fail_mismatch(entry, built);
    return finish_target(question, dispatch);
}

static zepi_result_t find_by_name(const struct zepi_question *question,
                                  struct zepi_named_kernel *kernel, struct zepi_dispatch *dispatch)
{
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    for (uint32_t i = 0; i < kernel->part_count; i++) {
        const uint32_t part_index = kernel->parts[i].part_index;
        if (!has_chosen(question, part_index) || !has_values(question, part_index, &entry, &built))
            continue;
        const zepi_result_t result =
            zepi_named_kernel_target(question->module, kernel, i, &dispatch->target);
        return result == ZEPI_SUCCESS ? finish_target(question, dispatch) : result;
    }
    return zepi_question_fail_mismatch(entry, built);
}

// The built images of the parts that have the kernel.
static zepi_result_t select_image(struct zepi_question *question,
                                  const struct zepi_named_kernel *kernel)
{
    struct zepi_module *module = question->module;
    struct zepi_image *const *built;
    uint32_t count = 0;
    zepi_result_t result = zepi_module_list_images(module, &built);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_image **images =
        zepi_allocate(zepi_module_count_images(module), sizeof(struct zepi_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < kernel->part_count; i++) {
        const uint32_t part_index = kernel->parts[i].part_index;
        const struct zepi_module_part *part = &module->parts[part_index];
        for (uint32_t at = 0; at < part->image_count; at++) {
            if (zepi_question_may_use(question, part->images[at]))
                images[count++] =
                    (struct zepi_image *)zepi_module_find_built_image(module, part_index, at);
        }
    }
    result = zepi_question_select(question, count, images);
    zepi_free(images);
    return result;
}

zepi_result_t zepi_dispatch_in_module(struct zepi_question *question,
                                      struct zepi_dispatch *out_dispatch)
{
    struct zepi_named_kernel *kernel;
    if (question->desc->kernel && !question->desc->selector)
        return find_of_object(question, out_dispatch);
    zepi_result_t result = zepi_named_kernel_get(question->module, question->queue->device_index,
                                                 question->name, &kernel);
    if (result == ZEPI_SUCCESS && question->desc->selector)
        result = select_image(question, kernel);
    return result == ZEPI_SUCCESS ? find_by_name(question, kernel, out_dispatch) : result;
}

static const uint8_t *value_in_part(const struct zepi_module_part *part, uint32_t id,
                                    size_t *out_size_bytes)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_spec_declaration *declaration =
            zepi_image_find_constant(part->images[i], id);
        if (declaration) {
            *out_size_bytes = declaration->size_bytes;
            return zepi_spec_effective(declaration, part->values[i]);
        }
    }
    return NULL;
}

const uint8_t *zepi_dispatch_module_value(const struct zepi_question *question, uint32_t id,
                                          size_t *out_size_bytes)
{
    const struct zepi_module *module = question->module;
    const uint32_t device_index = question->queue->device_index;
    const struct zepi_spec_entry *entry = NULL;
    const uint8_t *built = NULL;
    const uint8_t *value = NULL;
    // The part that the launch would use, if it says enough to tell; else any.
    for (int pass = question->name ? 0 : 1; pass < 2 && !value; pass++) {
        for (uint32_t i = 0; i < module->part_count && !value; i++) {
            const struct zepi_build_result *code = module->parts[i].code[device_index];
            if (pass == 1 || (code && zepi_code_find_kernel(zepi_code_of(code), question->name) &&
                              has_values(question, i, &entry, &built)))
                value = value_in_part(&module->parts[i], id, out_size_bytes);
        }
    }
    return value;
}
