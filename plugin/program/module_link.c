// SPDX-License-Identifier: MIT
#include "program/module_link.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/link/link_build.h"

// The link sets of the devices that all objects have: one each, in the order of the context.
struct sets {
    struct zepi_link_set *list; // owned
    uint32_t count;
    uint32_t part_count; // of the module
    uint32_t image_room; // enough for any part, and for all of them together
};

static void link_sets_finish(struct sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++)
        zepi_link_set_finish(&sets->list[i]);
    zepi_free(sets->list);
}

static zepi_result_t link_add_object(struct zepi_link_set *set, uint32_t index,
                                     const struct zepi_module *object)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < object->part_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_module_part *part = &object->parts[i];
        const struct zepi_build_result *device_module = part->device_module[set->device_index];
        if (device_module)
            result = zepi_link_set_add(set, index, part->images[0], part->values[0],
                                       zepi_device_module_of(device_module));
    }
    return result;
}

static zepi_result_t link_set_fill(struct zepi_link_set *set, uint32_t object_count,
                                   const zepi_module_t *objects,
                                   const struct zepi_build_options *options)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < object_count && result == ZEPI_SUCCESS; i++)
        result = link_add_object(set, i, objects[i]);
    return result == ZEPI_SUCCESS ? zepi_link_set_end(set, options) : result;
}

static zepi_result_t sets_add_link_set(struct sets *sets, uint32_t object_count,
                                       const zepi_module_t *objects, uint32_t device_index,
                                       const struct zepi_build_options *options)
{
    struct zepi_link_set *set = &sets->list[sets->count];
    for (uint32_t i = 0; i < object_count; i++) {
        // An empty module lacks nothing on any device.
        if (objects[i]->part_count > 0 && !zepi_module_has_code(objects[i], device_index))
            return ZEPI_SUCCESS;
    }
    *set = (struct zepi_link_set){.context = objects[0]->context,
                                  .device_index = device_index,
                                  .device = objects[0]->context->devices[device_index]};
    const uint32_t index = sets->count++;
    const zepi_result_t result = link_set_fill(set, object_count, objects, options);
    sets->image_room += set->count;
    if (result != ZEPI_SUCCESS || set->count == 0)
        return result;
    for (uint32_t i = 0; i < index; i++) {
        if (zepi_link_set_is_equal(&sets->list[i], set)) {
            set->part = sets->list[i].part;
            return ZEPI_SUCCESS;
        }
    }
    set->part = sets->part_count++;
    return ZEPI_SUCCESS;
}

static zepi_result_t link_sets_init(struct sets *sets, uint32_t object_count,
                                    const zepi_module_t *objects,
                                    const struct zepi_build_options *options)
{
    const struct zepi_context *context = objects[0]->context;
    *sets = (struct sets){.list = zepi_allocate(context->device_count, sizeof(sets->list[0]))};
    zepi_result_t result = sets->list ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < context->device_count && result == ZEPI_SUCCESS; i++)
        result = sets_add_link_set(sets, object_count, objects, i, options);
    if (result == ZEPI_SUCCESS && sets->count == 0)
        result = zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                           "there is no device that all %u objects have code for", object_count);
    if (result != ZEPI_SUCCESS)
        link_sets_finish(sets);
    return result;
}

// The images of all sets, each once, in the order of the objects. Returns how many there are.
static uint32_t list_linked_images(const struct sets *sets, struct zepi_device_image **images)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sets->count; i++) {
        for (uint32_t at = 0; at < sets->list[i].count; at++) {
            struct zepi_device_image *image = sets->list[i].members[at].image;
            uint32_t known = 0;
            while (known < count && images[known] != image)
                known++;
            if (known == count)
                images[count++] = image;
        }
    }
    return count;
}

// The images that a part was made from.
static void describe_linked_part(struct zepi_module_part *part, const struct zepi_link_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct zepi_link_member *member = &set->members[i];
        if (member->ze_module != 0)
            continue;
        part->images[part->image_count] = member->image;
        part->values[part->image_count] = zepi_spec_values_retain(member->values);
        part->image_count++;
    }
}

static zepi_result_t link_sets(const struct sets *sets, const struct zepi_build_options *options,
                               struct zepi_module *module)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < sets->count && sets->part_count > 0 && result == ZEPI_SUCCESS; i++) {
        const struct zepi_link_set *set = &sets->list[i];
        struct zepi_module_part *part = &module->parts[set->part];
        if (part->image_count == 0)
            describe_linked_part(part, set);
        result = zepi_link_set_get_code(set, options, &part->device_module[set->device_index]);
    }
    return result;
}

static zepi_result_t make_linked_module(const struct sets *sets,
                                        const struct zepi_build_options *options,
                                        struct zepi_context *context, zepi_module_t *out_executable)
{
    struct zepi_module *module = NULL;
    struct zepi_device_image **images =
        zepi_allocate(sets->image_room, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    const uint32_t image_count = list_linked_images(sets, images);
    zepi_result_t result = zepi_module_make(context, ZEPI_MODULE_EXECUTABLE, image_count, images,
                                            sets->part_count, sets->image_room, &module);
    zepi_free(images);
    if (result == ZEPI_SUCCESS)
        result = link_sets(sets, options, module);
    if (result != ZEPI_SUCCESS) {
        zepi_release(module);
        return result;
    }
    *out_executable = module;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_link_objects(uint32_t object_count, const zepi_module_t *objects,
                                       const zepi_build_desc_t *desc, enum zepi_variables variables,
                                       struct zepi_module **out_executable)
{
    struct zepi_build_options options;
    struct sets sets;
    zepi_result_t result = zepi_build_options_init(&options, desc);
    if (result != ZEPI_SUCCESS)
        return result;
    options.variables = variables;
    result = link_sets_init(&sets, object_count, objects, &options);
    if (result == ZEPI_SUCCESS) {
        result = make_linked_module(&sets, &options, objects[0]->context, out_executable);
        link_sets_finish(&sets);
    }
    zepi_build_options_finish(&options);
    return result;
}

zepi_result_t zepi_module_link(uint32_t object_count, const zepi_module_t *objects,
                               const zepi_build_desc_t *desc, enum zepi_variables variables,
                               zepi_module_t *out_executable)
{
    struct zepi_module *module = NULL;
    const zepi_result_t result =
        zepi_module_link_objects(object_count, objects, desc, variables, &module);
    return zepi_module_publish(result, module, out_executable);
}
