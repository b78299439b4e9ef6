// SPDX-License-Identifier: MIT
#include "launch/search_steps.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/kernel.h"
#include "program/built_image.h"
#include "program/module_build.h"
#include "program/module_create.h"
#include "program/module_link.h"

// ---- The selector ----

// Each image once.
static void add_image(struct zepi_device_image **images, uint32_t *count,
                      const struct zepi_device_image *image)
{
    uint32_t at = 0;
    while (at < *count && images[at] != image)
        at++;
    if (at == *count)
        images[(*count)++] = (struct zepi_device_image *)image;
}

// In the order of the module's parts, or of the unit's registration.
static zepi_result_t list_usable(const struct zepi_kernel_search *search,
                                 struct zepi_device_image **images, uint32_t *out_count)
{
    const struct zepi_module *module = search->module;
    zepi_result_t result = ZEPI_SUCCESS;
    *out_count = 0;
    for (uint32_t i = 0; module && i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count && zepi_part_has_kernel(search, part); at++) {
            if (zepi_image_may_have_kernel(search, part->images[at]))
                add_image(images, out_count, zepi_module_find_built_image(module, i, at));
        }
    }
    for (uint32_t i = 0; !module && i < search->unit->image_count && result == ZEPI_SUCCESS; i++) {
        bool has = false;
        result = zepi_image_has_kernel(search, search->unit->images[i], &has);
        if (has)
            add_image(images, out_count, search->unit->images[i]);
    }
    return result;
}

static zepi_result_t ask_selector(struct zepi_kernel_search *search, uint32_t count,
                                  struct zepi_device_image **images)
{
    const zepi_launch_desc_t *desc = search->desc;
    zepi_device_image_t chosen = desc->selector(desc->selector_data, images, count);
    for (uint32_t i = 0; i < count && chosen; i++) {
        if (images[i] == chosen) {
            search->chosen = chosen;
            return ZEPI_SUCCESS;
        }
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                     "the image selector returned %s, expected one of the %u images that it was "
                     "given",
                     chosen ? "another image" : "NULL", count);
}

static zepi_result_t select_image(struct zepi_kernel_search *search)
{
    struct zepi_device_image *const *built;
    uint32_t count = 0;
    if (!search->desc->selector)
        return ZEPI_SUCCESS;
    zepi_result_t result =
        search->module ? zepi_module_list_images(search->module, &built) : ZEPI_SUCCESS;
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_device_image **images = zepi_allocate(
        search->module ? zepi_module_count_images(search->module) : search->unit->image_count,
        sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    result = list_usable(search, images, &count);
    if (result == ZEPI_SUCCESS)
        result = ask_selector(search, count, images);
    zepi_free(images);
    return result;
}

// ---- A module that the launch names ----

static zepi_result_t fail_no_kernel(const struct zepi_kernel_search *search)
{
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND, "the module has no kernel '%s' for device '%s'",
              search->name, search->queue->device->properties.name);
    zepi_module_append_kernel_names(search->module);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

static zepi_result_t search_module(struct zepi_kernel_search *search)
{
    const struct zepi_module *module = search->module;
    const struct zepi_kernel *kernel = search->desc->kernel;
    struct zepi_device_kernel *device_kernel;
    struct zepi_mismatch mismatch;
    zepi_result_t result = ZEPI_SUCCESS;
    if (kernel && !search->desc->selector)
        result = zepi_kernel_get_device_kernel(kernel, search->queue->device_index, &device_kernel);
    else if (!zepi_module_find_part(module, search->queue->device_index, search->name))
        result = fail_no_kernel(search);
    if (result == ZEPI_SUCCESS)
        result = select_image(search);
    if (result == ZEPI_SUCCESS)
        result = zepi_wanted_check_module(&search->wanted, module);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_search_take(search, module, &search->wanted, &mismatch);
    return result == ZEPI_SUCCESS && !search->found.target.device_kernel
               ? zepi_mismatch_fail(&mismatch)
               : result;
}

// ---- A unit: executables, then the objects linked, then the input built ----

// Keeps a failure of a step for the launch's error, which is reported if no step finds the kernel.
static zepi_result_t search_note_failure(struct zepi_kernel_search *search, zepi_result_t result,
                                         const char *step)
{
    if (result == ZEPI_SUCCESS || zepi_is_final_failure(result))
        return result;
    zepi_error_prepend("%s: ", step);
    if (search->earlier.text[0])
        zepi_error_prepend("%s; then ", search->earlier.text);
    zepi_error_save(&search->earlier);
    return ZEPI_SUCCESS;
}

// The unit's module in a state, if code of it may still be taken.
static struct zepi_module *search_next(const struct zepi_kernel_search *search,
                                       zepi_module_state_t state)
{
    const bool may_take =
        !search->found.target.device_kernel && (!search->chosen || search->chosen->state == state);
    return may_take ? search->modules[state] : NULL;
}

static zepi_result_t search_executables(struct zepi_kernel_search *search)
{
    const struct zepi_module *executables = search_next(search, ZEPI_MODULE_EXECUTABLE);
    struct zepi_mismatch mismatch;
    return executables ? search_note_failure(search,
                                             zepi_kernel_search_take(search, executables,
                                                                     &search->wanted, &mismatch),
                                             "the executable")
                       : ZEPI_SUCCESS;
}

// Whether the objects together have the values; with others they are not even linked.
static zepi_result_t match_objects(const struct zepi_kernel_search *search,
                                   struct zepi_mismatch *out_mismatch)
{
    const struct zepi_module *objects = search->modules[ZEPI_MODULE_OBJECT];
    struct zepi_device_image **images =
        zepi_allocate(objects->part_count, sizeof(struct zepi_device_image *));
    struct zepi_code code = {0, images, NULL};
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < objects->part_count; i++) {
        if (objects->parts[i].device_module[search->queue->device_index])
            images[code.image_count++] = objects->parts[i].images[0];
    }
    const zepi_result_t result =
        zepi_kernel_search_match(search, &search->wanted, &code, out_mismatch);
    zepi_free(images);
    return result;
}

static zepi_result_t search_objects(struct zepi_kernel_search *search)
{
    struct zepi_module *objects = search_next(search, ZEPI_MODULE_OBJECT);
    struct zepi_module *linked = NULL;
    struct zepi_mismatch mismatch;
    if (!objects || objects->part_count == 0)
        return ZEPI_SUCCESS;
    zepi_result_t result = match_objects(search, &mismatch);
    if (result != ZEPI_SUCCESS || mismatch.declaration)
        return result;
    result = zepi_module_link_objects(1, &objects, NULL, ZEPI_VARIABLES_SHARED, &linked);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_search_take(search, linked, &search->wanted, &mismatch);
    zepi_release(linked);
    return search_note_failure(search, result, "linking the objects");
}

// The part of the input that may have the kernel; *out_module is a new reference, or NULL.
static zepi_result_t narrow_input(const struct zepi_kernel_search *search,
                                  struct zepi_module *input, struct zepi_module **out_module)
{
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_device_image **images =
        zepi_allocate(input->image_count, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < input->image_count; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(input->images[i]);
        if ((!search->chosen || input->images[i] == search->chosen) &&
            (!spirv || zepi_spirv_find_kernel(spirv, search->name)))
            images[count++] = input->images[i];
    }
    count = zepi_device_images_add_needed(input->image_count, input->images, count, images);
    *out_module = NULL;
    if (count == input->image_count)
        *out_module = zepi_retain(input);
    else if (count > 0)
        result = zepi_module_make_of_images(input->context, ZEPI_MODULE_INPUT, count, images,
                                            ZEPI_REFUSE_UNUSABLE, out_module);
    zepi_free(images);
    return result;
}

// For the queue's device alone: what another device refuses is no failure of the launch.
static zepi_result_t search_input(struct zepi_kernel_search *search)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc),
                                    .devices = (const zepi_device_t *)&search->queue->device,
                                    .device_count = 1};
    struct zepi_module *input = search_next(search, ZEPI_MODULE_INPUT);
    struct zepi_module *executable = NULL;
    struct zepi_spec_values *values = NULL;
    struct zepi_wanted wanted = search->wanted;
    struct zepi_mismatch mismatch;
    zepi_result_t result = input ? narrow_input(search, input, &input) : ZEPI_SUCCESS;
    if (result != ZEPI_SUCCESS || !input)
        return result;
    values = wanted.entry_count == 0
                 ? zepi_spec_values_retain(search->bound)
                 : zepi_spec_values_with(search->bound, wanted.entry_count, wanted.entries, NULL);
    if (wanted.entry_count > 0 && !values)
        result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZEPI_SUCCESS)
        result = zepi_module_build_with(input, values, &desc, ZEPI_VARIABLES_SHARED, &executable);
    // The build has chosen by the defaults, those of the images that may have the kernel.
    wanted.needs_defaults = false;
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_search_take(search, executable, &wanted, &mismatch);
    zepi_spec_values_release(values);
    zepi_release(executable);
    zepi_release(input);
    return result;
}

// Values next to a selector's choice must be those that native code was made with. Objects are
// linked together.
static zepi_result_t check_choice(const struct zepi_kernel_search *search)
{
    struct zepi_device_image *const chosen = search->chosen;
    const struct zepi_code alone = {1, &chosen, NULL};
    struct zepi_mismatch mismatch;
    if (!chosen || chosen->format != ZEPI_DEVICE_IMAGE_NATIVE)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        chosen->state == ZEPI_MODULE_OBJECT
            ? match_objects(search, &mismatch)
            : zepi_kernel_search_match(search, &search->wanted, &alone, &mismatch);
    return result == ZEPI_SUCCESS && mismatch.declaration ? zepi_mismatch_fail(&mismatch) : result;
}

static zepi_result_t fail_kernel_not_found(const struct zepi_kernel_search *search)
{
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND,
              "no image of the translation unit has kernel '%s' for device '%s' and these values",
              search->name, search->queue->device->properties.name);
    if (search->modules[ZEPI_MODULE_INPUT])
        zepi_module_append_kernel_names(search->modules[ZEPI_MODULE_INPUT]);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

// The unit's modules of a state, if it has any.
static zepi_result_t load_built(struct zepi_kernel_search *search, zepi_module_state_t state,
                                const char *step)
{
    return search_note_failure(search, zepi_kernel_search_get_built(search, state), step);
}

static zepi_result_t search_unit_steps(struct zepi_kernel_search *search)
{
    zepi_result_t result;
    search->wanted.needs_defaults = !search->desc->selector;
    if ((result = zepi_kernel_search_get_input(search)) ||
        (result = load_built(search, ZEPI_MODULE_EXECUTABLE, "loading the executables")) ||
        (result = load_built(search, ZEPI_MODULE_OBJECT, "loading the objects")) ||
        (result = select_image(search)) || (result = check_choice(search)) ||
        (result = search_executables(search)) || (result = search_objects(search)) ||
        (result = search_input(search)))
        return result;
    return search->found.target.device_kernel ? ZEPI_SUCCESS : fail_kernel_not_found(search);
}

static zepi_result_t search_unit(struct zepi_kernel_search *search)
{
    struct zepi_error before;
    zepi_error_save(&before);
    const zepi_result_t result = search_unit_steps(search);
    // Failures on the way are none of the launch.
    if (result == ZEPI_SUCCESS)
        zepi_error_restore(&before);
    else if (search->earlier.text[0])
        zepi_error_append("; before that, %s", search->earlier.text);
    return result;
}

zepi_result_t zepi_kernel_search_run(struct zepi_kernel_search *search)
{
    return search->module ? search_module(search) : search_unit(search);
}
