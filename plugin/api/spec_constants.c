// SPDX-License-Identifier: MIT
// Specialization constants of modules.
#include "program/spec_constants.h"
#include "api/api.h"
#include "api/check.h"
#include "api/launch.h"
#include "core/alloc.h"
#include "core/list.h"
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

// The layout of that name, of the image or (NULL) of the first that has it.
static zepi_result_t find_composite_layout(const struct zepi_module *module,
                                           const struct zepi_device_image *image, const char *name,
                                           size_t size_bytes, const void *value,
                                           const struct zepi_device_image_layout **out_layout)
{
    const struct zepi_device_image_layout *layout = NULL;
    if (!name || !value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s of the composite is NULL",
                         name ? "the value" : "the name");
    for (uint32_t i = 0; i < module->image_count && !layout; i++) {
        if (!image || module->images[i] == image)
            layout = zepi_device_image_find_layout(module->images[i], name);
    }
    if (!layout) {
        zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                  "there is no composite '%s'; the module has:", name);
        for (uint32_t i = 0; i < module->image_count; i++) {
            for (uint32_t at = 0; at < module->images[i]->layout_count; at++)
                zepi_error_append(" '%s'", module->images[i]->layouts[at].name);
        }
        return ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN;
    }
    if (size_bytes != layout->size_bytes)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE, "composite '%s' has %zu bytes, got %zu",
                         name, layout->size_bytes, size_bytes);
    *out_layout = layout;
    return ZEPI_SUCCESS;
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
        if (layout && layout->size_bytes != size_bytes)
            return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                             "composite '%s' of image %u has %zu bytes, got %zu", name, i,
                             layout->size_bytes, size_bytes);
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
    const struct zepi_device_image_layout *layout;
    uint32_t count = 0;
    zepi_result_t result;
    if ((result = check_settable(input)) ||
        (result = find_composite_layout(input, NULL, name, size_bytes, value, &layout)))
        return result;
    for (uint32_t i = 0; i < input->image_count; i++) {
        const struct zepi_device_image_layout *own =
            zepi_device_image_find_layout(input->images[i], name);
        count += own ? own->element_count : 0;
    }
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
};

typedef bool visit_fn(void *user, const struct valued *valued);

static const struct zepi_spec_declaration *find_constant(const struct valued *valued, uint32_t id)
{
    const struct zepi_module *input = valued->input;
    return input ? zepi_spec_find_declaration(input->declarations, input->declaration_count, id)
                 : zepi_device_image_find_constant(valued->image, id);
}

static void visit_input(zepi_module_t input, const struct zepi_device_image *image, visit_fn *visit,
                        void *user)
{
    struct zepi_spec_values *values = zepi_module_snapshot(input);
    bool goes_on = true;
    for (uint32_t i = 0; i < input->image_count && goes_on; i++) {
        const struct valued valued = {input->images[i], values, image ? NULL : input, false};
        if (!image || image == input->images[i])
            goes_on = visit(user, &valued);
    }
    zepi_spec_values_release(values);
}

// Calls `visit` for each image of an input, or of the parts that serve a device, or of those that
// serve none, until it returns false. `image` NULL: all of them.
static void visit_values(zepi_module_t module, const struct zepi_device_image *image,
                         bool is_serving, visit_fn *visit, void *user)
{
    if (module->state == ZEPI_MODULE_INPUT)
        visit_input(module, image, visit, user);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        if ((zepi_module_any_code(module, i) != NULL) != is_serving)
            continue;
        for (uint32_t at = 0; at < part->image_count; at++) {
            const struct valued valued = {part->images[at], part->values[at], NULL,
                                          part->image_count > 1};
            if ((!image || is_named_image(module, i, at, image)) && !visit(user, &valued))
                return;
        }
    }
}

static bool note_declaring_image(void *user, const struct valued *valued)
{
    *(const struct zepi_device_image **)user = valued->image;
    return false;
}

static zepi_result_t check_named_image(zepi_module_t module, zepi_device_image_t image)
{
    const struct zepi_device_image *found = NULL;
    zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result != ZEPI_SUCCESS || !image)
        return result;
    result = zepi_check_object(image, &zepi_device_image_type);
    if (result != ZEPI_SUCCESS)
        return result;
    visit_values(module, image, true, note_declaring_image, &found);
    return found ? ZEPI_SUCCESS
                 : zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the image is not one of the module's");
}

// A constant as it was found: the declaration, and the values that the image was built with or that
// the input has now.
struct source {
    uint32_t id;
    const struct zepi_spec_declaration *declaration;
    struct zepi_spec_values *values; // owned reference, or NULL
    bool is_ambiguous;
};

// Linked objects keep constants of their own; other images are alternatives, which may agree.
static bool note_value_source(void *user, const struct valued *valued)
{
    struct source *source = user;
    const struct zepi_spec_declaration *declaration = find_constant(valued, source->id);
    if (!declaration)
        return true;
    if (!source->declaration) {
        source->declaration = declaration;
        source->values = zepi_spec_values_retain(valued->values);
        return true;
    }
    source->is_ambiguous = valued->is_linked ||
                           declaration->size_bytes != source->declaration->size_bytes ||
                           memcmp(zepi_spec_effective(declaration, valued->values),
                                  zepi_spec_effective(source->declaration, source->values),
                                  declaration->size_bytes) != 0;
    return !source->is_ambiguous;
}

// A value that a built module did not use counts where no other image has the constant: used images
// were made with the same value.
static void find_value_source(zepi_module_t module, const struct zepi_device_image *image,
                              uint32_t id, struct source *source)
{
    *source = (struct source){.id = id};
    visit_values(module, image, true, note_value_source, source);
    if (!source->declaration && !image)
        visit_values(module, NULL, false, note_value_source, source);
}

struct listing {
    uint32_t id;
    uint32_t index;
};

static bool append_ambiguous_image(void *user, const struct valued *valued)
{
    struct listing *listing = user;
    if (zepi_device_image_find_constant(valued->image, listing->id))
        zepi_error_append(" image %u", listing->index);
    listing->index++;
    return true;
}

static zepi_result_t fail_ambiguous_constant(zepi_module_t module, uint32_t id)
{
    struct listing listing = {.id = id};
    zepi_fail(
        ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS,
        "several images of the module have a specialization constant %u; name the image:", id);
    visit_values(module, NULL, true, append_ambiguous_image, &listing);
    return ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS;
}

zepi_result_t zepi_api_spec_constant_get(zepi_module_t module, zepi_device_image_t image,
                                         uint32_t id, size_t size_bytes, void *out_value)
{
    struct source source;
    zepi_result_t result = check_named_image(module, image);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the value is NULL");
    find_value_source(module, image, id, &source);
    if (!source.declaration)
        return zepi_module_fail_unknown_constant(module, id);
    if (source.is_ambiguous)
        result = fail_ambiguous_constant(module, id);
    else if (size_bytes != source.declaration->size_bytes)
        result = zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                           "specialization constant %u is %s: expected room for %u bytes, got %zu",
                           id, zepi_scalar_name(source.declaration->type),
                           (unsigned)source.declaration->size_bytes, size_bytes);
    if (result == ZEPI_SUCCESS)
        memcpy(out_value, zepi_spec_effective(source.declaration, source.values), size_bytes);
    zepi_spec_values_release(source.values);
    return result;
}

// ---- Composites ----

// A composite's bytes: as set as a whole, else the default, and in it the elements in force. Where
// one image's compiler dropped an element, another's may have kept it.
struct composition {
    const char *name;
    size_t size_bytes;
    uint8_t *bytes;      // owned
    uint8_t *is_written; // the same memory
    bool has_begun;
    bool is_ambiguous;
    bool has_other_size;
};

static void compose_element(struct composition *composition, const zepi_spec_element_t *element,
                            const uint8_t *value)
{
    uint8_t *bytes = composition->bytes + element->offset_bytes;
    uint8_t *is_written = composition->is_written + element->offset_bytes;
    if (is_written[0] && memcmp(bytes, value, element->size_bytes) != 0)
        composition->is_ambiguous = true;
    memcpy(bytes, value, element->size_bytes);
    is_written[0] = 1;
}

static bool compose_constant(void *user, const struct valued *valued)
{
    struct composition *composition = user;
    const struct zepi_device_image_layout *layout =
        zepi_device_image_find_layout(valued->image, composition->name);
    const struct zepi_spec_composite *set =
        zepi_spec_values_find_composite(valued->values, composition->name);
    if (!layout)
        return true;
    composition->has_other_size = layout->size_bytes != composition->size_bytes;
    composition->is_ambiguous =
        composition->is_ambiguous || (composition->has_begun && valued->is_linked);
    if (composition->has_other_size || composition->is_ambiguous)
        return false;
    if (!composition->has_begun)
        memcpy(composition->bytes, set ? set->bytes : layout->default_bytes, layout->size_bytes);
    composition->has_begun = true;
    for (uint32_t i = 0; i < layout->element_count; i++) {
        const zepi_spec_element_t *element = &layout->elements[i];
        compose_element(composition, element,
                        zepi_spec_effective(find_constant(valued, element->id), valued->values));
    }
    return !composition->is_ambiguous;
}

static zepi_result_t finish_composition(const struct composition *composition, void *out_value)
{
    if (composition->has_other_size)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                         "images of the module have a composite '%s' of other than %zu bytes; name "
                         "the image",
                         composition->name, composition->size_bytes);
    if (composition->is_ambiguous)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS,
                         "several images of the module have a composite '%s'; name the image",
                         composition->name);
    memcpy(out_value, composition->bytes, composition->size_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_spec_constant_get_by_name(zepi_module_t module, zepi_device_image_t image,
                                                 const char *name, size_t size_bytes,
                                                 void *out_value)
{
    const struct zepi_device_image_layout *layout;
    zepi_result_t result;
    if ((result = check_named_image(module, image)) ||
        (result = find_composite_layout(module, image && image->source ? image->source : image,
                                        name, size_bytes, out_value, &layout)))
        return result;
    struct composition composition = {.name = name, .size_bytes = size_bytes};
    composition.bytes = zepi_allocate(2, size_bytes);
    if (!composition.bytes)
        return zepi_fail_no_memory();
    composition.is_written = composition.bytes + size_bytes;
    visit_values(module, image, true, compose_constant, &composition);
    // As with a constant: an unused value counts if there is no other.
    if (!image && !composition.has_begun && !composition.has_other_size)
        visit_values(module, NULL, false, compose_constant, &composition);
    result = finish_composition(&composition, out_value);
    zepi_free(composition.bytes);
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
    zepi_result_t result;
    if ((result = check_named_image(module, image)) ||
        (result = zepi_check_list(capacity, out_constants, out_count)))
        return result;
    const struct zepi_spec_declaration *declarations =
        image ? image->declarations : module->declarations;
    const uint32_t count = image ? image->declaration_count : module->declaration_count;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        struct source source;
        find_value_source(module, image, declarations[i].id, &source);
        describe_constant(source.declaration && !source.is_ambiguous ? source.declaration
                                                                     : &declarations[i],
                          source.is_ambiguous ? NULL : source.values, &out_constants[i]);
        out_constants[i].is_ambiguous = source.is_ambiguous;
        zepi_spec_values_release(source.values);
    }
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
