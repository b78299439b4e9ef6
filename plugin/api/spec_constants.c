// SPDX-License-Identifier: MIT
// Specialization constants of modules.
#include "program/spec_constants.h"
#include "api/api.h"
#include "api/check.h"
#include "api/launch.h"
#include "core/alloc.h"
#include "core/interface.h"
#include "launch/by_name.h"
#include "program/built_image.h"
#include "program/module.h"
#include "queue/queue.h"

static zepi_result_t check_settable(zepi_module_t module)
{
    const zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (module->state != ZEPI_MODULE_INPUT)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE,
                         "specialization constants are set on input modules; this one is %s",
                         zepi_module_state_name(module->state));
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_set(zepi_module_t input, uint32_t id, size_t size_bytes,
                                         const void *value)
{
    const zepi_result_t result = check_settable(input);
    return result
               ? result
               : zepi_spec_constant_set_many(input, 1, &(zepi_spec_value_t){id, size_bytes, value});
}

zepi_result_t zepi_api_spec_constant_set_many(zepi_module_t input, uint32_t count,
                                              const zepi_spec_value_t *values)
{
    zepi_result_t result;
    if ((result = check_settable(input)) ||
        (count > 0 && (result = zepi_api_check_output(values, "list of values"))))
        return result;
    return zepi_spec_constant_set_many(input, count, values);
}

static zepi_result_t fail_unknown_composite(const struct zepi_module *module, const char *name)
{
    zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
              "there is no composite '%s'; the module has:", name);
    for (uint32_t i = 0; i < module->image_count; i++) {
        for (uint32_t at = 0; at < module->images[i]->layout_count; at++)
            zepi_error_append(" '%s'", module->images[i]->layouts[at].name);
    }
    return ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN;
}

static zepi_result_t check_composite_size(const struct zepi_device_image_layout *layout,
                                          size_t size_bytes)
{
    return size_bytes == layout->size_bytes
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                           "composite '%s' of an image has %zu bytes, got %zu", layout->name,
                           layout->size_bytes, size_bytes);
}

// The elements of every image that has the composite: where one's compiler dropped an element,
// another's may have kept it.
static zepi_result_t read_composite_elements(const struct zepi_module *input, const char *name,
                                             size_t size_bytes, const void *value,
                                             struct zepi_spec_entry *entries, uint32_t *out_count)
{
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < input->image_count; i++) {
        const struct zepi_device_image_layout *layout =
            zepi_device_image_find_layout(input->images[i], name);
        if (layout && (result = check_composite_size(layout, size_bytes)))
            return result;
        for (uint32_t at = 0; layout && at < layout->element_count; at++) {
            const zepi_spec_element_t *element = &layout->elements[at];
            result = zepi_module_check_constant(input, element->id, element->size_bytes,
                                                (const uint8_t *)value + element->offset_bytes,
                                                &entries[count++]);
            if (result != ZEPI_SUCCESS)
                return result;
        }
    }
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_set_by_name(zepi_module_t input, const char *name,
                                                 size_t size_bytes, const void *value)
{
    const struct zepi_device_image_layout *layout = NULL;
    uint32_t count = 0;
    zepi_result_t result;
    if ((result = check_settable(input)) ||
        (result = zepi_api_check_output(name, "name of the composite")) ||
        (result = zepi_api_check_output(value, "value of the composite")))
        return result;
    for (uint32_t i = 0; i < input->image_count; i++) {
        const struct zepi_device_image_layout *own =
            zepi_device_image_find_layout(input->images[i], name);
        count += own ? own->element_count : 0;
        layout = own ? own : layout;
    }
    if (!layout)
        return fail_unknown_composite(input, name);
    struct zepi_spec_entry *entries = zepi_allocate(count, sizeof(*entries));
    if (!entries)
        return zepi_fail_no_memory();
    result = read_composite_elements(input, name, size_bytes, value, entries, &count);
    if (result == ZEPI_SUCCESS) {
        const struct zepi_spec_composite composite = {
            .name = layout->name, .size_bytes = size_bytes, .bytes = (uint8_t *)value};
        result = zepi_module_put_values(input, count, entries, &composite);
    }
    zepi_free(entries);
    return result;
}

// ---- Whose value is asked for ----

// Whether a host that names the image means this one of a part: by the module's image, by its
// source, or by the image of an object that was linked.
static bool is_named_image(const struct zepi_module *module, uint32_t part_index, uint32_t index,
                           const struct zepi_device_image *image)
{
    const struct zepi_device_image *own = module->parts[part_index].images[index];
    return image == own || image == zepi_module_find_built_image(module, part_index, index) ||
           (image->source == own &&
            zepi_device_image_has_equal_values(own, image->values,
                                               module->parts[part_index].values[index]));
}

// An image of an input, with the values that are set; or one of a part, with those that it was
// built with.
struct valued {
    const struct zepi_device_image *image;
    struct zepi_spec_values *values; // borrowed
    const struct zepi_module *input; // whose declarations count, not the image's; NULL: none
    bool is_linked;                  // with others
    bool is_used;                    // by code for a device
};

// What a question is about. Used images come first: an unused value counts where no used image has
// the constant, since used images were made with the same value.
struct valued_list {
    struct zepi_spec_values *snapshot; // owned reference: of an input
    uint32_t count;
    struct valued list[];
};

static void valued_list_destroy(struct valued_list *values)
{
    zepi_spec_values_release(values->snapshot);
    zepi_free(values);
}

static void list_input(struct valued_list *values, zepi_module_t input,
                       const struct zepi_device_image *image)
{
    values->snapshot = zepi_module_snapshot(input);
    for (uint32_t i = 0; i < input->image_count; i++) {
        if (!image || image == input->images[i])
            values->list[values->count++] = (struct valued){input->images[i], values->snapshot,
                                                            image ? NULL : input, false, true};
    }
}

static void list_part(struct valued_list *values, const struct zepi_module *module,
                      uint32_t part_index, const struct zepi_device_image *image, bool is_used)
{
    const struct zepi_module_part *part = &module->parts[part_index];
    for (uint32_t i = 0; i < part->image_count; i++) {
        if (!image || (is_used && is_named_image(module, part_index, i, image)))
            values->list[values->count++] = (struct valued){part->images[i], part->values[i], NULL,
                                                            part->image_count > 1, is_used};
    }
}

// The images of a module, or (`image` not NULL) those that a host means by this one.
static zepi_result_t list_values(zepi_module_t module, zepi_device_image_t image,
                                 struct valued_list **out_values)
{
    zepi_result_t result;
    if ((result = zepi_check_object(module, &zepi_module_type)) ||
        (image && (result = zepi_check_object(image, &zepi_device_image_type))))
        return result;
    size_t most = module->state == ZEPI_MODULE_INPUT ? module->image_count : 0;
    for (uint32_t i = 0; i < module->part_count; i++)
        most += module->parts[i].image_count;
    struct valued_list *values = zepi_allocate(1, sizeof(*values) + most * sizeof(values->list[0]));
    if (!values)
        return zepi_fail_no_memory();
    if (module->state == ZEPI_MODULE_INPUT)
        list_input(values, module, image);
    for (int is_used = 1; is_used >= 0; is_used--) {
        for (uint32_t i = 0; i < module->part_count; i++) {
            if ((zepi_module_any_code(module, i) != NULL) == is_used)
                list_part(values, module, i, image, is_used);
        }
    }
    if (image && values->count == 0) {
        valued_list_destroy(values);
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the image is not one of the module's");
    }
    *out_values = values;
    return ZEPI_SUCCESS;
}

static const struct zepi_spec_declaration *find_constant(const struct valued *valued, uint32_t id)
{
    const struct zepi_module *input = valued->input;
    return input ? zepi_spec_find_declaration(input->declarations, input->declaration_count, id)
                 : zepi_device_image_find_constant(valued->image, id);
}

// A constant as it was found: the declaration, and the image that has it, with its values.
struct source {
    const struct zepi_spec_declaration *declaration; // NULL: not found
    const struct valued *valued;
    bool is_ambiguous;
};

// Linked objects keep constants of their own; other images are alternatives, which may agree.
static struct source find_source(const struct valued_list *values, uint32_t id)
{
    struct source source = {0};
    for (uint32_t i = 0; i < values->count && !source.is_ambiguous; i++) {
        const struct valued *valued = &values->list[i];
        const struct zepi_spec_declaration *declaration = find_constant(valued, id);
        if (!declaration || (source.declaration && source.valued->is_used != valued->is_used))
            continue;
        if (!source.declaration)
            source = (struct source){declaration, valued, false};
        else
            source.is_ambiguous =
                valued->is_linked || declaration->size_bytes != source.declaration->size_bytes ||
                memcmp(zepi_spec_effective(declaration, valued->values),
                       zepi_spec_effective(source.declaration, source.valued->values),
                       declaration->size_bytes) != 0;
    }
    return source;
}

static zepi_result_t fail_ambiguous_constant(const struct valued_list *values, uint32_t id)
{
    const char *before = "; name the image:";
    zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS,
              "several images of the module have a specialization constant %u", id);
    // An image that no code serves is none that a host can name.
    for (uint32_t i = 0; i < values->count && values->list[i].is_used; i++) {
        if (!zepi_device_image_find_constant(values->list[i].image, id))
            continue;
        zepi_error_append("%s image %u", before, i);
        before = "";
    }
    return ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS;
}

static zepi_result_t get_constant(const struct zepi_module *module,
                                  const struct valued_list *values, uint32_t id, size_t size_bytes,
                                  void *out_value)
{
    const struct source source = find_source(values, id);
    if (!source.declaration)
        return zepi_module_fail_unknown_constant(module, id);
    if (source.is_ambiguous)
        return fail_ambiguous_constant(values, id);
    if (size_bytes != source.declaration->size_bytes)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                         "specialization constant %u is %s: expected room for %u bytes, got %zu",
                         id, zepi_scalar_name(source.declaration->type),
                         (unsigned)source.declaration->size_bytes, size_bytes);
    memcpy(out_value, zepi_spec_effective(source.declaration, source.valued->values), size_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_get(zepi_module_t module, zepi_device_image_t image,
                                         uint32_t id, size_t size_bytes, void *out_value)
{
    struct valued_list *values;
    zepi_result_t result;
    if ((result = zepi_api_check_output(out_value, "output for the value")) ||
        (result = list_values(module, image, &values)))
        return result;
    result = get_constant(module, values, id, size_bytes, out_value);
    valued_list_destroy(values);
    return result;
}

// ---- Composites ----

// False: another image has another value there.
static bool compose_element(uint8_t *bytes, uint8_t *is_written, const uint8_t *value, size_t size)
{
    const bool is_same = !is_written[0] || memcmp(bytes, value, size) == 0;
    memcpy(bytes, value, size);
    is_written[0] = 1;
    return is_same;
}

static zepi_result_t fail_ambiguous_composite(const char *name)
{
    return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS,
                     "several images of the module have a composite '%s'; name the image", name);
}

// A composite's bytes: as set as a whole, else the default, and in it the elements in force. Where
// one image's compiler dropped an element, another's may have kept it. *out_bytes: owned; behind
// the bytes are as many that tell which of them are an element's. NULL: no image has it.
static zepi_result_t compose(const struct valued_list *values, const char *name, size_t size_bytes,
                             uint8_t **out_bytes)
{
    const struct valued *first = NULL;
    uint8_t *bytes = NULL;
    zepi_result_t result;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct valued *valued = &values->list[i];
        const struct zepi_device_image_layout *layout =
            zepi_device_image_find_layout(valued->image, name);
        if (!layout || (first && first->is_used != valued->is_used))
            continue;
        if ((result = check_composite_size(layout, size_bytes)))
            return result;
        if (first && valued->is_linked)
            return fail_ambiguous_composite(name);
        if (!first) {
            const struct zepi_spec_composite *set =
                zepi_spec_values_find_composite(valued->values, name);
            *out_bytes = bytes = zepi_allocate(2, size_bytes);
            if (!bytes)
                return zepi_fail_no_memory();
            memcpy(bytes, set ? set->bytes : layout->default_bytes, size_bytes);
            first = valued;
        }
        for (uint32_t at = 0; at < layout->element_count; at++) {
            const zepi_spec_element_t *element = &layout->elements[at];
            uint8_t *place = bytes + element->offset_bytes;
            if (!compose_element(
                    place, place + size_bytes,
                    zepi_spec_effective(find_constant(valued, element->id), valued->values),
                    element->size_bytes))
                return fail_ambiguous_composite(name);
        }
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_get_by_name(zepi_module_t module, zepi_device_image_t image,
                                                 const char *name, size_t size_bytes,
                                                 void *out_value)
{
    struct valued_list *values;
    uint8_t *bytes = NULL;
    zepi_result_t result;
    if ((result = zepi_api_check_output(name, "name of the composite")) ||
        (result = zepi_api_check_output(out_value, "output for the value")) ||
        (result = list_values(module, image, &values)))
        return result;
    result = compose(values, name, size_bytes, &bytes);
    if (result == ZEPI_SUCCESS && bytes)
        memcpy(out_value, bytes, size_bytes);
    else if (result == ZEPI_SUCCESS)
        result = fail_unknown_composite(module, name);
    zepi_free(bytes);
    valued_list_destroy(values);
    return result;
}

// ---- Lists ----

static void describe_constant(const struct zepi_spec_declaration *declaration,
                              const struct zepi_spec_values *values,
                              zepi_spec_constant_t *out_constant)
{
    *out_constant =
        (zepi_spec_constant_t){.id = declaration->id,
                               .type = declaration->type,
                               .size_bytes = declaration->size_bytes,
                               .is_set = zepi_spec_values_find(values, declaration->id) != NULL,
                               .is_required = declaration->is_required,
                               .is_native = declaration->is_native};
    memcpy(out_constant->default_value, declaration->default_value, declaration->size_bytes);
    memcpy(out_constant->value, zepi_spec_effective(declaration, values), declaration->size_bytes);
}

zepi_result_t zepi_api_spec_constant_list(zepi_module_t module, zepi_device_image_t image,
                                          uint32_t capacity, zepi_spec_constant_t *out_constants,
                                          uint32_t *out_count)
{
    struct valued_list *values;
    zepi_result_t result;
    if ((result = zepi_check_list(capacity, out_constants, out_count)) ||
        (result = list_values(module, image, &values)))
        return result;
    const struct zepi_spec_declaration *declarations =
        image ? image->declarations : module->declarations;
    const uint32_t count = image ? image->declaration_count : module->declaration_count;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        const struct source source = find_source(values, declarations[i].id);
        const bool is_one = source.declaration && !source.is_ambiguous;
        describe_constant(is_one ? source.declaration : &declarations[i],
                          is_one ? source.valued->values : NULL, &out_constants[i]);
        out_constants[i].is_ambiguous = source.is_ambiguous;
    }
    valued_list_destroy(values);
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_list_names(zepi_module_t module, uint32_t capacity,
                                                const char **out_names, uint32_t *out_count)
{
    zepi_result_t result =
        zepi_api_check_list(module, &zepi_module_type, capacity, out_names, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        for (uint32_t at = 0; at < module->images[i]->layout_count; at++) {
            const char *name = module->images[i]->layouts[at].name;
            bool is_known = false;
            for (uint32_t before = 0; before < i && !is_known; before++)
                is_known = zepi_device_image_find_layout(module->images[before], name);
            if (is_known)
                continue;
            if (count < capacity)
                out_names[count] = name;
            count++;
        }
    }
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_get_for_launch(zepi_queue_t queue,
                                                    const zepi_launch_desc_t *desc, uint32_t id,
                                                    size_t size_bytes, void *out_value)
{
    zepi_launch_desc_t own;
    uint8_t value[8] = {0};
    size_t size;
    zepi_result_t result;
    if ((result = zepi_check_object(queue, &zepi_queue_type)) ||
        (result = zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "launch description")) ||
        (result = zepi_api_check_output(out_value, "output for the value")) ||
        (result = zepi_api_check_named(queue, &own)) ||
        (result = zepi_by_name_value(queue, &own, id, value, &size)))
        return result;
    if (size == 0)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                         "nothing that the launch may use has a specialization constant %u", id);
    if (size != size_bytes)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                         "specialization constant %u has %zu bytes, there is room for %zu", id,
                         size, size_bytes);
    memcpy(out_value, value, size);
    return ZEPI_SUCCESS;
}
