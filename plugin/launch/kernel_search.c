// SPDX-License-Identifier: MIT
#include "launch/kernel_search.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "launch/device_kernel_create.h"
#include "launch/emulation.h"
#include "launch/kernel.h"
#include "program/build/device_build.h"
#include "program/built_image.h"

// A value for a constant that no image declares has no effect: compilers drop unused constants.
static zepi_result_t read_value(struct zepi_kernel_search *search, uint32_t index)
{
    const struct zepi_module *module = search->module;
    const zepi_spec_value_t *value = &search->desc->spec_values[index];
    for (uint32_t i = 0; i < index; i++) {
        if (search->desc->spec_values[i].id == value->id)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "the launch has specialization constant %u twice", value->id);
    }
    if (!value->value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the value of specialization constant %u is NULL", value->id);
    const struct zepi_spec_declaration *declaration =
        module
            ? zepi_spec_find_declaration(module->declarations, module->declaration_count, value->id)
            : zepi_unit_find_declaration(search->unit, value->id);
    return declaration ? zepi_spec_entry_init(&search->entries[search->wanted.entry_count++],
                                              declaration, value->size_bytes, value->value)
                       : ZEPI_SUCCESS;
}

static zepi_result_t read_values(struct zepi_kernel_search *search)
{
    const uint32_t count = search->desc->spec_value_count;
    zepi_result_t result = ZEPI_SUCCESS;
    if (count == 0)
        return ZEPI_SUCCESS;
    if (!search->desc->spec_values)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the launch's list of values is NULL");
    search->entries = zepi_allocate(count, sizeof(search->entries[0]));
    if (!search->entries)
        return zepi_fail_no_memory();
    search->wanted.entries = search->entries;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = read_value(search, i);
    return result;
}

zepi_result_t zepi_kernel_search_init(struct zepi_kernel_search *search, struct zepi_queue *queue,
                                      const zepi_launch_desc_t *desc, struct zepi_module *module)
{
    zepi_result_t result = ZEPI_SUCCESS;
    *search =
        (struct zepi_kernel_search){.queue = queue,
                                    .desc = desc,
                                    .name = desc->kernel ? desc->kernel->name : desc->kernel_name,
                                    .module = module,
                                    .wanted.takes_emulated = true};
    if (module) {
        if (module->state != ZEPI_MODULE_EXECUTABLE)
            return zepi_fail(ZEPI_ERROR_WRONG_STATE,
                             "launches take executable modules; this one is %s",
                             zepi_module_state_name(module->state));
        search->modules[ZEPI_MODULE_EXECUTABLE] = module;
        search->wanted.declarations = module->declarations;
        search->wanted.declaration_count = module->declaration_count;
    } else if (!desc->unit) {
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kernel '%s' is given by name: expected a module or a translation unit to "
                         "find it in",
                         search->name ? search->name : "");
    } else {
        result = zepi_unit_acquire(desc->unit, &search->unit);
    }
    return result == ZEPI_SUCCESS ? read_values(search) : result;
}

void zepi_kernel_search_finish(struct zepi_kernel_search *search)
{
    for (zepi_module_state_t i = ZEPI_MODULE_INPUT; i <= ZEPI_MODULE_EXECUTABLE && search->unit;
         i++)
        zepi_release(search->modules[i]);
    if (search->found.holds_kernel)
        zepi_build_result_release(search->found.target.device_kernel);
    zepi_spec_values_release(search->values);
    zepi_spec_values_release(search->bound);
    zepi_unit_release(search->unit);
    zepi_free(search->entries);
}

zepi_result_t zepi_kernel_search_get_built(struct zepi_kernel_search *search,
                                           zepi_module_state_t state)
{
    return search->unit->counts[state] > 0
               ? zepi_unit_find_or_create_module(search->unit, search->queue->context, state,
                                                 &search->modules[state])
               : ZEPI_SUCCESS;
}

zepi_result_t zepi_kernel_search_get_input(struct zepi_kernel_search *search)
{
    const zepi_result_t result = zepi_kernel_search_get_built(search, ZEPI_MODULE_INPUT);
    struct zepi_module *input = search->modules[ZEPI_MODULE_INPUT];
    if (result != ZEPI_SUCCESS || !input)
        return result;
    search->bound = zepi_module_snapshot(input);
    search->wanted.bound = search->bound;
    search->wanted.declarations = input->declarations;
    search->wanted.declaration_count = input->declaration_count;
    return ZEPI_SUCCESS;
}

// ---- Images that have the kernel ----

bool zepi_is_final_failure(zepi_result_t result)
{
    return result == ZEPI_ERROR_OUT_OF_HOST_MEMORY || result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY ||
           result == ZEPI_ERROR_DEVICE_LOST;
}

bool zepi_part_has_kernel(const struct zepi_kernel_search *search,
                          const struct zepi_module_part *part)
{
    const struct zepi_build_result *code = part->device_module[search->queue->device_index];
    return code && zepi_device_module_find_kernel(zepi_device_module_of(code), search->name, NULL);
}

static bool is_image_in(const struct zepi_kernel_search *search, zepi_module_state_t state,
                        const struct zepi_device_image *image)
{
    const struct zepi_module *module = search->modules[state];
    for (uint32_t i = 0; module && i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count; at++) {
            if (part->images[at] == image && zepi_part_has_kernel(search, part))
                return true;
        }
    }
    return false;
}

bool zepi_image_may_have_kernel(const struct zepi_kernel_search *search,
                                const struct zepi_device_image *image)
{
    const struct zepi_queue *queue = search->queue;
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    bool is_for_device = image->device_count == 0;
    for (uint32_t i = 0; i < image->device_count && !is_for_device; i++)
        is_for_device =
            zepi_context_device_index(queue->context, image->devices[i]) == queue->device_index;
    return is_for_device && (!spirv || zepi_spirv_find_kernel(spirv, search->name));
}

// Whether the device takes a native image of an input.
static zepi_result_t is_native_taken(const struct zepi_kernel_search *search,
                                     struct zepi_device_image *image, bool *out_is)
{
    struct zepi_build_options options;
    struct zepi_build_result *code = NULL;
    zepi_result_t result = zepi_build_options_init(&options, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_image_build build = {
        search->queue->context, search->queue->device_index, image, NULL, &options,
        ZEPI_MODULE_EXECUTABLE};
    result = zepi_device_module_get(&build, &code);
    zepi_build_options_finish(&options);
    *out_is = code && zepi_device_module_find_kernel(zepi_device_module_of(code), search->name,
                                                     NULL) != NULL;
    zepi_build_result_release(code);
    return zepi_is_final_failure(result) ? result : ZEPI_SUCCESS;
}

zepi_result_t zepi_image_has_kernel(const struct zepi_kernel_search *search,
                                    struct zepi_device_image *image, bool *out_has)
{
    *out_has = is_image_in(search, ZEPI_MODULE_EXECUTABLE, image) ||
               is_image_in(search, ZEPI_MODULE_OBJECT, image);
    if (*out_has || image->state != ZEPI_MODULE_INPUT || !zepi_image_may_have_kernel(search, image))
        return ZEPI_SUCCESS;
    *out_has = image->format == ZEPI_DEVICE_IMAGE_SPIRV;
    // A module has no native code but that of its parts.
    return *out_has || search->module ? ZEPI_SUCCESS : is_native_taken(search, image, out_has);
}

static zepi_result_t peer_has_kernel(void *user, struct zepi_device_image *image, bool *out_has)
{
    return zepi_image_has_kernel(user, image, out_has);
}

zepi_result_t zepi_kernel_search_match(const struct zepi_kernel_search *search,
                                       const struct zepi_wanted *wanted,
                                       const struct zepi_code *code,
                                       struct zepi_mismatch *out_mismatch)
{
    const struct zepi_code_peers peers = {
        .image_count = search->unit ? search->unit->image_count : search->module->image_count,
        .images = search->unit ? search->unit->images : search->module->images,
        .has_kernel = peer_has_kernel,
        .user = (void *)search};
    return zepi_code_match(wanted, code, &peers, out_mismatch);
}

// ---- The kernel of a part ----

// Borrowed from the module, which keeps it for later launches. Two threads may both add it, which
// does no harm.
static zepi_result_t get_module_kernel(struct zepi_module *module, struct zepi_build_result *code,
                                       const char *name,
                                       struct zepi_build_result **out_device_kernel)
{
    // Acquire, here and below: kernels are seen whole.
    struct zepi_module_kernel *first = atomic_load_explicit(&module->kernels, memory_order_acquire);
    for (struct zepi_module_kernel *kernel = first; kernel; kernel = kernel->next) {
        const struct zepi_device_kernel *known = zepi_device_kernel_of(kernel->device_kernel);
        if (known->device_module == code && strcmp(known->name, name) == 0) {
            *out_device_kernel = kernel->device_kernel;
            return ZEPI_SUCCESS;
        }
    }
    struct zepi_module_kernel *made = zepi_allocate(1, sizeof(*made));
    if (!made)
        return zepi_fail_no_memory();
    const zepi_result_t result = zepi_device_kernel_get(code, name, &made->device_kernel);
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

static zepi_result_t take_kernel(struct zepi_kernel_search *search,
                                 const struct zepi_module_part *part)
{
    struct zepi_target *target = &search->found.target;
    struct zepi_build_result *code = part->device_module[search->queue->device_index];
    uint32_t index;
    zepi_result_t result = ZEPI_SUCCESS;
    // Those of a part whose kernel the driver refused.
    zepi_spec_values_release(search->values);
    search->values = NULL;
    target->image = zepi_emulation_find(part, search->name, &index);
    if (target->image)
        result = zepi_wanted_emulated_values(&search->wanted, target->image, part->values[index],
                                             &search->values);
    target->values = search->values;
    if (result != ZEPI_SUCCESS)
        return result;
    if (search->desc->kernel && !search->chosen) {
        target->device_kernel =
            search->desc->kernel->devices[search->queue->device_index].target.device_kernel;
        return ZEPI_SUCCESS;
    }
    if (search->module)
        return get_module_kernel(search->module, code, search->name, &target->device_kernel);
    result = zepi_device_kernel_get(code, search->name, &target->device_kernel);
    search->found.holds_kernel = result == ZEPI_SUCCESS;
    return result;
}

static bool is_part_chosen(const struct zepi_kernel_search *search,
                           const struct zepi_module *module, uint32_t index)
{
    const struct zepi_module_part *part = &module->parts[index];
    for (uint32_t i = 0; i < part->image_count && search->chosen; i++) {
        if (part->images[i] == search->chosen ||
            zepi_module_find_built_image(module, index, i) == search->chosen)
            return true;
    }
    return !search->chosen;
}

zepi_result_t zepi_kernel_search_take(struct zepi_kernel_search *search,
                                      const struct zepi_module *module,
                                      const struct zepi_wanted *wanted,
                                      struct zepi_mismatch *out_mismatch)
{
    out_mismatch->declaration = NULL;
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        const struct zepi_code code = {part->image_count, part->images, part->values};
        struct zepi_mismatch mismatch;
        if (!zepi_part_has_kernel(search, part) || !is_part_chosen(search, module, i))
            continue;
        const zepi_result_t result = zepi_kernel_search_match(search, wanted, &code, &mismatch);
        if (result != ZEPI_SUCCESS)
            return result;
        if (!mismatch.declaration)
            return take_kernel(search, part);
        if (!out_mismatch->declaration)
            *out_mismatch = mismatch;
        // A kernel object keeps its code: the first part with its kernel (kernel.c).
        if (search->desc->kernel && !search->chosen)
            break;
    }
    return ZEPI_SUCCESS;
}
