// SPDX-License-Identifier: MIT
#include "launch/dispatch_unit.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/emulation.h"
#include "program/module_build.h"
#include "program/module_link.h"
#include "program/module_load.h"

struct search {
    struct zepi_request *request;
    struct zepi_module *input;       // owned reference; NULL: the unit has none
    struct zepi_spec_values *bound;  // owned reference; the values set on it
    struct zepi_module *objects;     // the same; empty if there are none
    struct zepi_module *executables; // the same
    struct zepi_held_target *found;  // owned reference
    struct zepi_error earlier;       // of steps that fell through; no text: none
};

// ---- Images that have the kernel ----

// A failure that the next step would meet as well.
static bool is_final_failure(zepi_result_t result)
{
    return result == ZEPI_ERROR_OUT_OF_HOST_MEMORY || result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY ||
           result == ZEPI_ERROR_DEVICE_LOST;
}

// Whether the device takes a native input.
static zepi_result_t is_image_taken(const struct search *search, struct zepi_device_image *image,
                                    bool *out_is)
{
    const struct zepi_request *request = search->request;
    struct zepi_build_options options;
    struct zepi_build_result *device_module = NULL;
    zepi_result_t result = zepi_build_options_init(&options, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_device_module_get(request->queue->context, request->queue->device_index, image,
                                    NULL, &options, ZEPI_DEVICE_MODULE_EXECUTABLE, &device_module);
    zepi_build_options_finish(&options);
    *out_is = device_module &&
              zepi_device_module_find_kernel(zepi_device_module_of(device_module), request->name);
    zepi_build_result_release(device_module);
    return is_final_failure(result) ? result : ZEPI_SUCCESS;
}

static bool is_image_loaded(const struct search *search, const struct zepi_module *module,
                            const struct zepi_device_image *image)
{
    for (uint32_t i = 0; module && i < module->part_count; i++) {
        if (module->parts[i].images[0] == image &&
            zepi_request_is_kernel_in(search->request, &module->parts[i]))
            return true;
    }
    return false;
}

static zepi_result_t is_image_usable(const struct search *search, struct zepi_device_image *image,
                                     bool *out_is)
{
    if (image->state == ZEPI_MODULE_INPUT) {
        *out_is = zepi_request_may_use(search->request, image);
        return *out_is && image->format == ZEPI_DEVICE_IMAGE_NATIVE
                   ? is_image_taken(search, image, out_is)
                   : ZEPI_SUCCESS;
    }
    *out_is = is_image_loaded(
        search, image->state == ZEPI_MODULE_OBJECT ? search->objects : search->executables, image);
    return ZEPI_SUCCESS;
}

// ---- Values ----

// The input's declaration of a constant, unless native code alone has it.
static const struct zepi_spec_declaration *find_own_declaration(const struct search *search,
                                                                uint32_t id)
{
    const struct zepi_spec_declaration *declaration =
        search->input ? zepi_spec_find_declaration(search->input->declarations,
                                                   search->input->declaration_count, id)
                      : NULL;
    return declaration && !declaration->has_baked_value ? declaration : NULL;
}

static const struct zepi_spec_entry *find_given_value(const struct search *search, uint32_t id)
{
    const struct zepi_spec_entry *entry = zepi_request_find_value(search->request, id);
    return entry ? entry : zepi_spec_values_find(search->bound, id);
}

// Whether code with this value of a constant will do. A required constant without a value is left
// to the input, whose build says so.
static bool is_right_value(const struct search *search, const struct zepi_device_image *image,
                           const struct zepi_spec_declaration *declaration, const uint8_t *built)
{
    const struct zepi_spec_entry *given = find_given_value(search, declaration->id);
    const struct zepi_spec_declaration *own = find_own_declaration(search, declaration->id);
    if (!given && own && own->is_required && !search->request->chosen)
        return false;
    if (zepi_device_image_is_emulated(image, declaration->id))
        return true;
    if (given)
        return memcmp(given->value, built, declaration->size_bytes) == 0;
    return !own || search->request->chosen ||
           memcmp(own->default_value, built, declaration->size_bytes) == 0;
}

static bool part_has_right_values(const struct search *search, const struct zepi_module_part *part)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_device_image *image = part->images[i];
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            const struct zepi_spec_declaration *declaration = &image->declarations[at];
            if (!is_right_value(search, image, declaration,
                                zepi_spec_effective(declaration, part->values[i])))
                return false;
        }
    }
    return true;
}

// Code that does not state a constant was made with its default, as far as there is one. Returns a
// constant of the image for which that will not do, or NULL.
static const struct zepi_spec_declaration *
find_unstated_value(const struct search *search, uint32_t image_count,
                    struct zepi_device_image *const *images, const struct zepi_device_image *image)
{
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        const struct zepi_spec_entry *given = find_given_value(search, declaration->id);
        const struct zepi_spec_declaration *own = find_own_declaration(search, declaration->id);
        bool is_right = given
                            ? own && memcmp(given->value, own->default_value, own->size_bytes) == 0
                            : !own || !own->is_required || search->request->chosen;
        for (uint32_t at = 0; at < image_count && !is_right; at++)
            is_right = zepi_device_image_find_constant(images[at], declaration->id);
        if (!is_right)
            return declaration;
    }
    return NULL;
}

// The same of everything in the unit that says which constants the kernel has: its SPIR-V with
// the imports of that, and other native code of it. *out_unstated is NULL if these images, which
// make code together, have the launch's values for all they do not state.
static zepi_result_t check_unstated(const struct search *search, uint32_t image_count,
                                    struct zepi_device_image *const *images,
                                    const struct zepi_spec_declaration **out_unstated)
{
    const struct zepi_unit_entry *unit = search->request->unit;
    const struct zepi_spec_declaration *found = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_device_image **listed =
        zepi_allocate(unit->image_count, sizeof(struct zepi_device_image *));
    if (!listed)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < unit->image_count && !found && result == ZEPI_SUCCESS; i++) {
        bool is_of_kernel = true;
        listed[0] = unit->images[i];
        const uint32_t count =
            zepi_device_images_add_needed(unit->image_count, unit->images, 1, listed);
        for (uint32_t at = 0; at < count && !found; at++)
            found = find_unstated_value(search, image_count, images, listed[at]);
        if (found)
            result = is_image_usable(search, unit->images[i], &is_of_kernel);
        if (!is_of_kernel)
            found = NULL;
    }
    zepi_free(listed);
    *out_unstated = found;
    return result;
}

// The values of emulated constants: the launch's, those set, the input's defaults, and then those
// that the code was built with. Owned reference.
static zepi_result_t list_emulated_values(const struct search *search,
                                          const struct zepi_device_image *image,
                                          struct zepi_spec_values *built,
                                          struct zepi_spec_values **out_values)
{
    uint32_t count = 0;
    struct zepi_spec_entry *entries = zepi_allocate(image->emulated_count, sizeof(*entries));
    if (!entries)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < image->emulated_count; i++) {
        const uint32_t id = image->emulated[i].id;
        const struct zepi_spec_entry *given = find_given_value(search, id);
        const struct zepi_spec_declaration *own = find_own_declaration(search, id);
        if (given) {
            entries[count++] = *given;
        } else if (own) {
            entries[count] = (struct zepi_spec_entry){.id = id, .size_bytes = own->size_bytes};
            memcpy(entries[count++].value, own->default_value, own->size_bytes);
        }
    }
    *out_values = zepi_spec_values_with(built, count, entries, NULL);
    zepi_free(entries);
    return *out_values ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

// ---- Kernels in executables ----

static bool part_has_chosen_image(const struct search *search, const struct zepi_module_part *part)
{
    const struct zepi_device_image *chosen = search->request->chosen;
    for (uint32_t i = 0; i < part->image_count && chosen; i++) {
        if (part->images[i] == chosen)
            return true;
    }
    return !chosen;
}

static zepi_result_t take_kernel(struct search *search, const struct zepi_module_part *part)
{
    const struct zepi_request *request = search->request;
    struct zepi_target target = {0};
    struct zepi_spec_values *values = NULL;
    uint32_t image_index;
    zepi_result_t result = zepi_device_kernel_get(part->device_module[request->queue->device_index],
                                                  request->name, &target.device_kernel);
    if (result != ZEPI_SUCCESS)
        return result;
    target.image = zepi_emulation_find(part, request->name, &image_index);
    if (target.image)
        result = list_emulated_values(search, target.image, part->values[image_index], &values);
    if (result == ZEPI_SUCCESS) {
        target.values = values;
        search->found = zepi_held_target_create(&target);
        if (!search->found)
            result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    zepi_spec_values_release(values);
    zepi_build_result_release(target.device_kernel);
    return result;
}

// The kernel of the first part that has it and the right values, if there is one.
static zepi_result_t take_from_executable(struct search *search,
                                          const struct zepi_module *executable)
{
    for (uint32_t i = 0; i < executable->part_count; i++) {
        const struct zepi_module_part *part = &executable->parts[i];
        const struct zepi_spec_declaration *unstated;
        if (!zepi_request_is_kernel_in(search->request, part) ||
            !part_has_chosen_image(search, part) || !part_has_right_values(search, part))
            continue;
        const zepi_result_t result =
            check_unstated(search, part->image_count, part->images, &unstated);
        if (result != ZEPI_SUCCESS || !unstated)
            return result == ZEPI_SUCCESS ? take_kernel(search, part) : result;
    }
    return ZEPI_SUCCESS;
}

// ---- The three steps ----

// Keeps a failure of a step for the launch's error, which is reported if no step finds the kernel.
static zepi_result_t search_note_failure(struct search *search, zepi_result_t result,
                                         const char *step)
{
    if (result == ZEPI_SUCCESS || is_final_failure(result))
        return result;
    zepi_error_prepend("%s: ", step);
    if (search->earlier.text[0])
        zepi_error_prepend("%s; then ", search->earlier.text);
    zepi_error_save(&search->earlier);
    return ZEPI_SUCCESS;
}

static zepi_result_t search_get_module(const struct search *search, zepi_module_state_t state,
                                       struct zepi_module **out_module)
{
    struct zepi_unit_entry *unit = search->request->unit;
    return unit->counts[state] > 0 ? zepi_unit_find_or_create_module(
                                         unit, search->request->queue->context, state, out_module)
                                   : ZEPI_SUCCESS;
}

static bool search_may_take(const struct search *search, zepi_module_state_t state)
{
    const struct zepi_device_image *chosen = search->request->chosen;
    return !search->found && (!chosen || chosen->state == state);
}

static zepi_result_t search_executables(struct search *search)
{
    if (!search->executables || !search_may_take(search, ZEPI_MODULE_EXECUTABLE))
        return ZEPI_SUCCESS;
    return search_note_failure(search, take_from_executable(search, search->executables),
                               "the executable");
}

// Objects with other values are not even linked.
static zepi_result_t objects_have_right_values(const struct search *search, bool *out_have)
{
    const struct zepi_module *objects = search->objects;
    const struct zepi_spec_declaration *unstated = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    *out_have = objects->part_count > 0;
    for (uint32_t i = 0; i < objects->part_count; i++) {
        if (objects->parts[i].device_module[search->request->queue->device_index] &&
            !part_has_right_values(search, &objects->parts[i]))
            *out_have = false;
    }
    if (*out_have)
        result = check_unstated(search, objects->image_count, objects->images, &unstated);
    *out_have = *out_have && !unstated;
    return result;
}

static zepi_result_t search_objects(struct search *search)
{
    struct zepi_module *linked = NULL;
    bool have = false;
    if (!search->objects || !search_may_take(search, ZEPI_MODULE_OBJECT))
        return ZEPI_SUCCESS;
    zepi_result_t result = objects_have_right_values(search, &have);
    if (result != ZEPI_SUCCESS || !have)
        return result;
    result = zepi_module_link_objects(1, &search->objects, NULL, ZEPI_VARIABLES_SHARED, &linked);
    if (result == ZEPI_SUCCESS)
        result = take_from_executable(search, linked);
    zepi_release(linked);
    return search_note_failure(search, result, "linking the objects");
}

// The part of the input that may have the kernel; *out_module is a new reference, or NULL.
static zepi_result_t narrow_input(const struct search *search, struct zepi_module **out_module)
{
    const struct zepi_module *input = search->input;
    const struct zepi_request *request = search->request;
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_device_image **images =
        zepi_allocate(input->image_count, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < input->image_count; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(input->images[i]);
        if ((!request->chosen || input->images[i] == request->chosen) &&
            (!spirv || zepi_spirv_find_kernel(spirv, request->name)))
            images[count++] = input->images[i];
    }
    count = zepi_device_images_add_needed(input->image_count, input->images, count, images);
    *out_module = NULL;
    if (count == input->image_count)
        *out_module = zepi_retain(search->input);
    else if (count > 0)
        result = zepi_module_make_of_images(input->context, ZEPI_MODULE_INPUT, count, images,
                                            ZEPI_REFUSE_UNUSABLE, out_module);
    zepi_free(images);
    return result;
}

static zepi_result_t search_input(struct search *search)
{
    struct zepi_module *input = NULL;
    struct zepi_module *executable = NULL;
    struct zepi_spec_values *values = NULL;
    if (!search->input || !search_may_take(search, ZEPI_MODULE_INPUT))
        return ZEPI_SUCCESS;
    zepi_result_t result = narrow_input(search, &input);
    if (result != ZEPI_SUCCESS || !input)
        return result;
    result = zepi_request_values_on(search->request, search->bound, &values);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_build_with(input, values, NULL, &executable);
    for (uint32_t i = 0; executable && i < executable->part_count; i++) {
        if (result == ZEPI_SUCCESS && !search->found &&
            zepi_request_is_kernel_in(search->request, &executable->parts[i]))
            result = take_kernel(search, &executable->parts[i]);
    }
    zepi_spec_values_release(values);
    zepi_release(executable);
    zepi_release(input);
    return result;
}

static zepi_result_t fail_kernel_not_found(const struct search *search)
{
    const struct zepi_request *request = search->request;
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND,
              "no image of the translation unit has kernel '%s' for device '%s' and these values",
              request->name, request->queue->device->properties.name);
    if (search->input)
        zepi_module_append_kernel_names(search->input);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

// ---- The selector ----

// In the order in which the unit was registered with them.
static zepi_result_t list_usable(const struct search *search, struct zepi_device_image **images,
                                 uint32_t *out_count)
{
    const struct zepi_unit_entry *unit = search->request->unit;
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->image_count; i++) {
        bool is = false;
        const zepi_result_t result = is_image_usable(search, unit->images[i], &is);
        if (result != ZEPI_SUCCESS)
            return result;
        if (is)
            images[count++] = unit->images[i];
    }
    *out_count = count;
    return ZEPI_SUCCESS;
}

// Native code is not made anew with a value that it does not state. Objects are linked together.
static zepi_result_t check_unstated_choice(const struct search *search)
{
    struct zepi_device_image *const chosen = search->request->chosen;
    const struct zepi_spec_declaration *unstated = NULL;
    const bool is_object = chosen->state == ZEPI_MODULE_OBJECT;
    const zepi_result_t result =
        check_unstated(search, is_object ? search->objects->image_count : 1,
                       is_object ? search->objects->images : &chosen, &unstated);
    return result == ZEPI_SUCCESS && unstated
               ? zepi_request_fail_mismatch(find_given_value(search, unstated->id), NULL)
               : result;
}

// Values next to a choice must be those that the chosen code was made with.
static zepi_result_t check_chosen(const struct search *search)
{
    const struct zepi_device_image *chosen = search->request->chosen;
    for (uint32_t i = 0; i < chosen->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &chosen->declarations[i];
        const struct zepi_spec_entry *given = find_given_value(search, declaration->id);
        if (given && declaration->has_baked_value &&
            memcmp(given->value, declaration->default_value, declaration->size_bytes) != 0)
            return zepi_request_fail_mismatch(given, declaration->default_value);
    }
    return chosen->format == ZEPI_DEVICE_IMAGE_NATIVE ? check_unstated_choice(search)
                                                      : ZEPI_SUCCESS;
}

static zepi_result_t search_select_image(struct search *search)
{
    uint32_t count = 0;
    if (!search->request->desc->selector)
        return ZEPI_SUCCESS;
    struct zepi_device_image **images =
        zepi_allocate(search->request->unit->image_count, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    zepi_result_t result = list_usable(search, images, &count);
    if (result == ZEPI_SUCCESS)
        result = zepi_request_select(search->request, count, images);
    zepi_free(images);
    return result == ZEPI_SUCCESS ? check_chosen(search) : result;
}

// ---- All together ----

static zepi_result_t search_unit(struct search *search)
{
    zepi_result_t result = search_get_module(search, ZEPI_MODULE_INPUT, &search->input);
    if (result != ZEPI_SUCCESS)
        return result;
    if (search->input)
        search->bound = zepi_module_snapshot(search->input);
    result = search_note_failure(
        search, search_get_module(search, ZEPI_MODULE_EXECUTABLE, &search->executables),
        "loading the executables");
    if (result == ZEPI_SUCCESS)
        result = search_note_failure(
            search, search_get_module(search, ZEPI_MODULE_OBJECT, &search->objects),
            "loading the objects");
    if (result == ZEPI_SUCCESS)
        result = search_select_image(search);
    if (result == ZEPI_SUCCESS)
        result = search_executables(search);
    if (result == ZEPI_SUCCESS)
        result = search_objects(search);
    if (result == ZEPI_SUCCESS)
        result = search_input(search);
    if (result == ZEPI_SUCCESS && !search->found)
        result = fail_kernel_not_found(search);
    return result;
}

zepi_result_t zepi_dispatch_in_unit(struct zepi_request *request,
                                    struct zepi_dispatch *out_dispatch)
{
    struct search search = {.request = request};
    struct zepi_error before;
    zepi_error_save(&before);
    const zepi_result_t result = search_unit(&search);
    if (result == ZEPI_SUCCESS) {
        // Failures on the way are none of the launch.
        zepi_error_restore(&before);
        out_dispatch->held = search.found;
        out_dispatch->target = search.found->target;
    } else if (search.earlier.text[0]) {
        zepi_error_append("; before that, %s", search.earlier.text);
    }
    zepi_spec_values_release(search.bound);
    zepi_release(search.input);
    zepi_release(search.objects);
    zepi_release(search.executables);
    return result;
}
