// SPDX-License-Identifier: MIT
#include "kernel/dispatch.h"

#include "base/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "kernel/dispatch_memo.h"
#include "kernel/emulation.h"
#include "module/module.h"
#include "module/this_module.h"
#include "queue/queue.h"

// A launch's question.
struct question {
    struct zepi_queue *queue;
    const zepi_launch_desc_t *desc;
    const char *name;                // of the kernel
    struct zepi_spec_values *values; // of this launch alone, NULL: none; owned
    struct zepi_module *input;       // this module's input, NULL: there is none; owned
    struct zepi_spec_values *bound;  // what is set on that input; owned
    struct zepi_image *chosen;       // by the selector, borrowed; NULL: any
};

// ---- The launch's own values ----

// What declares an id: the module that the launch names, else this module in any state.
static const struct zepi_spec_declaration *
find_declaration(const struct question *question, struct zepi_module *const modules[3], uint32_t id)
{
    (void)question;
    for (int i = 0; i < 3; i++) {
        const struct zepi_spec_declaration *declaration =
            modules[i] ? zepi_spec_find_declaration(modules[i]->declarations,
                                                    modules[i]->declaration_count, id)
                       : NULL;
        if (declaration)
            return declaration;
    }
    return NULL;
}

static zepi_result_t read_values(struct question *question, struct zepi_module *const modules[3])
{
    const zepi_launch_desc_t *desc = question->desc;
    if (desc->spec_value_count == 0)
        return ZEPI_SUCCESS;
    if (!desc->spec_values)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch's list of values is NULL");
    struct zepi_spec_entry *entries = zepi_allocate(desc->spec_value_count, sizeof(*entries));
    if (!entries)
        return zepi_fail_no_memory();
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < desc->spec_value_count && result == ZEPI_SUCCESS; i++) {
        const zepi_spec_value_t *value = &desc->spec_values[i];
        const struct zepi_spec_declaration *declaration =
            find_declaration(question, modules, value->id);
        for (uint32_t before = 0; before < i; before++) {
            if (desc->spec_values[before].id == value->id)
                result = zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                                   "the launch has specialization constant %u twice", value->id);
        }
        if (result == ZEPI_SUCCESS && !declaration)
            result = zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                               "nothing that the launch may use has a specialization constant %u",
                               value->id);
        if (result == ZEPI_SUCCESS)
            result =
                zepi_spec_entry_init(&entries[i], declaration, value->size_bytes, value->value);
    }
    if (result == ZEPI_SUCCESS) {
        question->values = zepi_spec_values_with(NULL, desc->spec_value_count, entries, NULL);
        if (!question->values)
            result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    zepi_free(entries);
    return result;
}

// The value that the launch would see for a declared id, NULL: the default of whoever declares it.
static const uint8_t *wanted_value(const struct question *question, uint32_t id)
{
    const struct zepi_spec_entry *entry = zepi_spec_values_find(question->values, id);
    if (!entry)
        entry = zepi_spec_values_find(question->bound, id);
    if (entry)
        return entry->value;
    const struct zepi_spec_declaration *declaration =
        question->input ? zepi_spec_find_declaration(question->input->declarations,
                                                     question->input->declaration_count, id)
                        : NULL;
    return declaration ? declaration->default_value : NULL;
}

// ---- Executables ----

static bool part_has_wanted_values(const struct question *question,
                                   const struct zepi_module_part *part)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_image *image = part->images[i];
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            const struct zepi_spec_declaration *declaration = &image->declarations[at];
            const uint8_t *wanted = wanted_value(question, declaration->id);
            if (wanted &&
                memcmp(wanted, zepi_spec_effective(declaration, part->values[i]),
                       declaration->size_bytes) != 0 &&
                !zepi_image_is_emulated(image, declaration->id))
                return false;
        }
    }
    return true;
}

static bool part_has_chosen(const struct question *question, const struct zepi_module_part *part)
{
    for (uint32_t i = 0; i < part->image_count && question->chosen; i++) {
        if (part->images[i] == question->chosen)
            return true;
    }
    return !question->chosen;
}

// Emulated constants get what the launch wants.
static zepi_result_t create_kernel(const struct question *question, struct zepi_module *executable,
                                   uint32_t part_index, struct zepi_kernel **out_kernel)
{
    struct zepi_spec_values *values = NULL;
    const uint32_t device_index = question->queue->device_index;
    if (zepi_emulation_is_used(&executable->parts[part_index], question->name)) {
        struct zepi_spec_values *built = executable->parts[part_index].values[0];
        struct zepi_spec_values *bound = question->bound
                                             ? zepi_spec_values_with(built, question->bound->count,
                                                                     question->bound->entries, NULL)
                                             : zepi_spec_values_retain(built);
        if (question->bound && !bound)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        values = question->values ? zepi_spec_values_with(bound, question->values->count,
                                                          question->values->entries, NULL)
                                  : zepi_spec_values_retain(bound);
        zepi_spec_values_release(bound);
        if (question->values && !values)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    const zepi_result_t result = zepi_kernel_create_of_part(executable, part_index, device_index,
                                                            question->name, values, out_kernel);
    zepi_spec_values_release(values);
    return result;
}

// The kernel of a part that fits; *out_kernel stays NULL if there is none.
static zepi_result_t take_from_executable(const struct question *question,
                                          struct zepi_module *executable,
                                          struct zepi_kernel **out_kernel)
{
    const uint32_t device_index = question->queue->device_index;
    for (uint32_t i = 0; i < executable->part_count; i++) {
        const struct zepi_module_part *part = &executable->parts[i];
        const struct zepi_build_result *code = part->code[device_index];
        if (code && zepi_code_find_kernel(zepi_code_of(code), question->name) &&
            part_has_chosen(question, part) && part_has_wanted_values(question, part))
            return create_kernel(question, executable, i, out_kernel);
    }
    return ZEPI_SUCCESS;
}

// ---- From the translation unit ----

static zepi_result_t try_executable(const struct question *question,
                                    struct zepi_kernel **out_kernel)
{
    struct zepi_module *module = NULL;
    zepi_result_t result = zepi_unit_get_module(question->desc->unit, question->queue->context,
                                                ZEPI_MODULE_EXECUTABLE, &module);
    if (result == ZEPI_SUCCESS)
        result = take_from_executable(question, module, out_kernel);
    zepi_release(module);
    return result;
}

static zepi_result_t try_objects(const struct question *question, struct zepi_kernel **out_kernel)
{
    struct zepi_module *object = NULL;
    struct zepi_module *linked = NULL;
    zepi_result_t result = zepi_unit_get_module(question->desc->unit, question->queue->context,
                                                ZEPI_MODULE_OBJECT, &object);
    if (result == ZEPI_SUCCESS && object->image_count > 0) {
        result = zepi_module_link(1, &object, NULL, &linked);
        if (result == ZEPI_SUCCESS)
            result = take_from_executable(question, linked, out_kernel);
    }
    zepi_release(linked);
    zepi_release(object);
    return result;
}

static bool may_have_kernel(const struct zepi_image *image, const char *name)
{
    const struct zepi_spirv *spirv = zepi_image_spirv(image);
    return !spirv || zepi_spirv_find_kernel(spirv, name);
}

static bool input_may_have_kernel(const struct question *question)
{
    for (uint32_t i = 0; question->input && i < question->input->image_count; i++) {
        if (may_have_kernel(question->input->images[i], question->name))
            return true;
    }
    return false;
}

static zepi_result_t try_input(const struct question *question, struct zepi_kernel **out_kernel)
{
    struct zepi_module *input = question->input;
    struct zepi_module *of_chosen = NULL;
    struct zepi_module *executable = NULL;
    struct zepi_spec_values *values = question->bound;
    zepi_result_t result = ZEPI_SUCCESS;
    if (!input_may_have_kernel(question))
        return ZEPI_SUCCESS;
    if (question->chosen) {
        struct zepi_image *chosen = question->chosen;
        if (chosen->state != ZEPI_MODULE_INPUT)
            return ZEPI_SUCCESS;
        result =
            zepi_module_make_of_images(input->context, ZEPI_MODULE_INPUT, 1, &chosen, &of_chosen);
        if (result != ZEPI_SUCCESS)
            return result;
        input = of_chosen;
    }
    if (question->values)
        values = zepi_spec_values_with(question->bound, question->values->count,
                                       question->values->entries, NULL);
    if (question->values && !values)
        result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZEPI_SUCCESS)
        result = zepi_module_build_with(input, values, NULL, &executable);
    if (result == ZEPI_SUCCESS)
        result = take_from_executable(question, executable, out_kernel);
    if (values != question->bound)
        zepi_spec_values_release(values);
    zepi_release(executable);
    zepi_release(of_chosen);
    return result;
}

static zepi_result_t fail_not_found(const struct question *question)
{
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND,
              "no image of the translation unit has kernel '%s' for device '%s' and these values",
              question->name, question->queue->device->properties.name);
    if (question->input)
        zepi_module_append_kernel_names(question->input);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

static zepi_result_t find_in_unit(const struct question *question, struct zepi_kernel **out_kernel)
{
    struct zepi_error earlier = {0};
    zepi_result_t result = try_executable(question, out_kernel);
    if (result != ZEPI_SUCCESS || *out_kernel)
        return result;
    result = try_objects(question, out_kernel);
    if (result == ZEPI_ERROR_OUT_OF_HOST_MEMORY || *out_kernel)
        return result;
    if (result != ZEPI_SUCCESS)
        zepi_error_save(&earlier);
    result = try_input(question, out_kernel);
    if (*out_kernel)
        return ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS)
        result = fail_not_found(question);
    // Why the objects were no help is part of the story.
    if (earlier.text[0])
        zepi_error_append("; before that, linking the objects: %s", earlier.text);
    return result;
}

// ---- From a module that the launch names ----

static zepi_result_t fail_mismatch(uint32_t id, size_t size_bytes, const uint8_t *asked,
                                   const uint8_t *built)
{
    uint64_t values[2] = {0};
    memcpy(&values[0], asked, size_bytes);
    memcpy(&values[1], built, size_bytes);
    return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
                     "the launch asks for specialization constant %u = 0x%llx, the module was "
                     "built with 0x%llx",
                     id, (unsigned long long)values[0], (unsigned long long)values[1]);
}

// Values next to a module must be those that it was built with.
static zepi_result_t check_built_values(const struct question *question,
                                        const struct zepi_module *module)
{
    for (uint32_t i = 0; question->values && i < question->values->count; i++) {
        const struct zepi_spec_entry *entry = &question->values->entries[i];
        for (uint32_t at = 0; at < module->part_count; at++) {
            const struct zepi_module_part *part = &module->parts[at];
            for (uint32_t image = 0; image < part->image_count; image++) {
                const struct zepi_spec_declaration *declaration =
                    zepi_image_find_constant(part->images[image], entry->id);
                const uint8_t *built =
                    declaration ? zepi_spec_effective(declaration, part->values[image]) : NULL;
                if (built && memcmp(built, entry->value, entry->size_bytes) != 0 &&
                    !zepi_image_is_emulated(part->images[image], entry->id))
                    return fail_mismatch(entry->id, entry->size_bytes, entry->value, built);
            }
        }
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t find_in_module(const struct question *question, struct zepi_module *module,
                                    struct zepi_kernel **out_kernel)
{
    const zepi_launch_desc_t *desc = question->desc;
    zepi_result_t result = check_built_values(question, module);
    if (result != ZEPI_SUCCESS)
        return result;
    if (desc->kernel && !question->chosen) {
        *out_kernel = zepi_retain(desc->kernel);
        return ZEPI_SUCCESS;
    }
    result = take_from_executable(question, module, out_kernel);
    if (result != ZEPI_SUCCESS || *out_kernel)
        return result;
    zepi_fail(ZEPI_ERROR_KERNEL_NOT_FOUND, "the module has no kernel '%s' for device '%s'",
              question->name, question->queue->device->properties.name);
    zepi_module_append_kernel_names(module);
    return ZEPI_ERROR_KERNEL_NOT_FOUND;
}

// ---- The selector ----

static bool is_usable(const struct question *question, const struct zepi_image *image)
{
    bool is_for_device = image->device_count == 0;
    for (uint32_t i = 0; i < image->device_count && !is_for_device; i++)
        is_for_device = image->devices[i] == question->queue->device;
    return is_for_device && may_have_kernel(image, question->name);
}

static zepi_result_t select_image(struct question *question, struct zepi_module *const modules[3])
{
    const zepi_launch_desc_t *desc = question->desc;
    uint32_t room = 0;
    uint32_t count = 0;
    if (!desc->selector)
        return ZEPI_SUCCESS;
    for (int i = 0; i < 3; i++)
        room += modules[i] ? modules[i]->image_count : 0;
    zepi_image_t *images = zepi_allocate(room, sizeof(*images));
    if (!images)
        return zepi_fail_no_memory();
    for (int i = 0; i < 3; i++) {
        for (uint32_t at = 0; modules[i] && at < modules[i]->image_count; at++) {
            if (is_usable(question, modules[i]->images[at]))
                images[count++] = modules[i]->images[at];
        }
    }
    zepi_image_t chosen = desc->selector(desc->selector_data, images, count);
    uint32_t index = 0;
    while (index < count && images[index] != chosen)
        index++;
    zepi_free(images);
    if (!chosen || index == count)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the image selector returned %s, expected one of the %u images that it "
                         "was given",
                         chosen ? "another image" : "NULL", count);
    question->chosen = chosen;
    return ZEPI_SUCCESS;
}

// ---- All together ----

static zepi_result_t check_desc(const struct zepi_queue *queue, const zepi_launch_desc_t *desc)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (desc->kernel)
        result = zepi_check_object(desc->kernel, &zepi_kernel_type);
    if (result == ZEPI_SUCCESS && desc->module)
        result = zepi_check_object(desc->module, &zepi_module_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc->kernel && !desc->kernel_name)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch has neither a kernel nor a name");
    if (desc->kernel && desc->module && desc->kernel->module != desc->module)
        return zepi_fail(ZEPI_ERROR_INVALID_KERNEL,
                         "kernel '%s' is of another module than the one that the launch names",
                         desc->kernel->name);
    if (desc->module && desc->module->state != ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "launches take executable modules; this one is %s",
                         zepi_module_state_name(desc->module->state));
    if (desc->module && desc->module->context != queue->context)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the module is of another context than the queue");
    if (!desc->kernel && !desc->module && !desc->unit)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kernel '%s' is given by name: expected a module or a translation unit to "
                         "find it in",
                         desc->kernel_name);
    return ZEPI_SUCCESS;
}

// This module in the three states; only the input is kept in the question.
static zepi_result_t get_unit_modules(struct question *question, struct zepi_module *modules[3])
{
    const zepi_unit_t unit = question->desc->unit;
    struct zepi_context *context = question->queue->context;
    zepi_result_t result = zepi_unit_get_module(unit, context, ZEPI_MODULE_INPUT, &modules[0]);
    if (result == ZEPI_SUCCESS)
        result = zepi_unit_get_module(unit, context, ZEPI_MODULE_OBJECT, &modules[1]);
    if (result == ZEPI_SUCCESS)
        result = zepi_unit_get_module(unit, context, ZEPI_MODULE_EXECUTABLE, &modules[2]);
    if (result == ZEPI_SUCCESS) {
        question->input = zepi_retain(modules[0]);
        question->bound = zepi_module_snapshot(modules[0]);
    }
    return result;
}

static zepi_result_t prepare(struct question *question, struct zepi_module *modules[3])
{
    const zepi_launch_desc_t *desc = question->desc;
    struct zepi_module *named = desc->module   ? desc->module
                                : desc->kernel ? desc->kernel->module
                                               : NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    question->name = desc->kernel ? desc->kernel->name : desc->kernel_name;
    if (named)
        modules[0] = zepi_retain(named);
    else
        result = get_unit_modules(question, modules);
    if (result == ZEPI_SUCCESS)
        result = read_values(question, modules);
    return result;
}

static void finish(struct question *question, struct zepi_module *modules[3])
{
    for (int i = 0; i < 3; i++)
        zepi_release(modules[i]);
    zepi_spec_values_release(question->values);
    zepi_spec_values_release(question->bound);
    zepi_release(question->input);
}

zepi_result_t zepi_dispatch_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 struct zepi_kernel **out_kernel)
{
    struct question question = {.queue = queue, .desc = desc};
    struct zepi_module *modules[3] = {NULL};
    struct zepi_kernel *kernel = zepi_dispatch_memo_find(queue, desc);
    if (kernel) {
        *out_kernel = kernel;
        return ZEPI_SUCCESS;
    }
    const uint64_t generation = zepi_unit_generation();
    zepi_result_t result = check_desc(queue, desc);
    if (result == ZEPI_SUCCESS)
        result = prepare(&question, modules);
    if (result == ZEPI_SUCCESS)
        result = select_image(&question, modules);
    if (result == ZEPI_SUCCESS)
        result = question.input ? find_in_unit(&question, &kernel)
                                : find_in_module(&question, modules[0], &kernel);
    finish(&question, modules);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_dispatch_memo_note(queue, desc, generation, kernel);
    *out_kernel = kernel;
    return ZEPI_SUCCESS;
}

// ---- What a launch would see ----

// Declared by whom, and the value in force there.
static const uint8_t *built_value(const struct zepi_module *module, uint32_t id,
                                  size_t *out_size_bytes)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        for (uint32_t at = 0; at < module->parts[i].image_count; at++) {
            const struct zepi_spec_declaration *declaration =
                zepi_image_find_constant(module->parts[i].images[at], id);
            if (declaration) {
                *out_size_bytes = declaration->size_bytes;
                return zepi_spec_effective(declaration, module->parts[i].values[at]);
            }
        }
    }
    return NULL;
}

zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value)
{
    struct question question = {.queue = queue, .desc = desc};
    struct zepi_module *modules[3] = {NULL};
    size_t size = 0;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc || desc->size < sizeof(*desc) || !out_value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the launch description or the output is NULL, or its size too small");
    result = check_desc(queue, desc);
    if (result == ZEPI_SUCCESS)
        result = prepare(&question, modules);
    if (result == ZEPI_SUCCESS) {
        const struct zepi_spec_declaration *declaration = find_declaration(&question, modules, id);
        const uint8_t *value = declaration ? wanted_value(&question, id) : NULL;
        if (declaration)
            size = declaration->size_bytes;
        for (int i = 0; i < 3 && declaration && !value; i++)
            value = modules[i] ? built_value(modules[i], id, &size) : NULL;
        if (!value)
            result =
                zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
                          "nothing that the launch may use has a specialization constant %u", id);
        else if (size != size_bytes)
            result = zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                               "specialization constant %u has %zu bytes, there is room for %zu",
                               id, size, size_bytes);
        else
            memcpy(out_value, value, size);
    }
    finish(&question, modules);
    return result;
}
