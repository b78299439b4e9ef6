// SPDX-License-Identifier: MIT
#include "module/module.h"

#include "base/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "module/native_handle.h"
#include "module/this_module.h"

#include <stdlib.h>

static void leave_context(struct zepi_module *module)
{
    if (!module->is_published)
        return;
    pthread_mutex_lock(&module->context->modules_mutex);
    *module->link = module->next;
    if (module->next)
        module->next->link = module->link;
    pthread_mutex_unlock(&module->context->modules_mutex);
}

static void module_destroy(void *object)
{
    struct zepi_module *module = object;
    if (module->unit)
        zepi_unit_forget(module);
    leave_context(module);
    zepi_module_destroy_exports(module);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count; at++)
            zepi_spec_values_release(part->values[at]);
        for (uint32_t at = 0; at < module->context->device_count; at++)
            zepi_build_result_release(part->code[at]);
    }
    for (uint32_t i = 0; i < module->image_count; i++)
        zepi_release(module->images[i]);
    zepi_spec_values_release(module->values);
    pthread_mutex_destroy(&module->values_mutex);
    zepi_free(module->own_declarations);
    zepi_free(module->options);
    zepi_free(module->storage);
    zepi_release(module->context);
}

ZEPI_DEFINE_TYPE(module, module_destroy);

const char *zepi_module_state_name(zepi_module_state_t state)
{
    static const char *const names[] = {"of unknown state", "input", "object", "executable"};
    return (unsigned)state < 4 ? names[state] : names[0];
}

static int compare_declarations(const void *left, const void *right)
{
    const struct zepi_spec_declaration *a = left;
    const struct zepi_spec_declaration *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

// Unites what several images declare.
static zepi_result_t unite_declarations(struct zepi_module *module)
{
    size_t room = 0;
    for (uint32_t i = 0; i < module->image_count; i++)
        room += module->images[i]->declaration_count;
    struct zepi_spec_declaration *all = zepi_allocate(room, sizeof(*all));
    if (!all)
        return zepi_fail_no_memory();
    module->own_declarations = all;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct zepi_image *image = module->images[i];
        for (uint32_t at = 0; at < image->declaration_count; at++)
            all[count++] = image->declarations[at];
    }
    qsort(all, count, sizeof(*all), compare_declarations);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || all[kept - 1].id != all[i].id) {
            all[kept++] = all[i];
            continue;
        }
        struct zepi_spec_declaration *known = &all[kept - 1];
        // Linked objects keep constants of their own; alternatives of the same code agree.
        if (known->size_bytes != all[i].size_bytes && module->state == ZEPI_MODULE_INPUT)
            return zepi_fail(
                ZEPI_ERROR_INVALID_OBJECT,
                "the images disagree about specialization constant %u: %u and %u bytes", known->id,
                (unsigned)known->size_bytes, (unsigned)all[i].size_bytes);
        known->is_native = known->is_native && all[i].is_native;
        known->is_required = known->is_required || all[i].is_required;
    }
    module->declarations = all;
    module->declaration_count = kept;
    return ZEPI_SUCCESS;
}

// One block for all lists: images; parts; in each part images, values and code.
static zepi_result_t make_storage(struct zepi_module *module, uint32_t image_count,
                                  uint32_t part_count)
{
    const uint32_t device_count = module->context->device_count;
    // A part has at most all images of the module.
    const size_t part_pointers = 2 * (size_t)image_count + device_count;
    const size_t pointers = image_count + part_count * part_pointers;
    char *block =
        zepi_allocate(1, pointers * sizeof(void *) + part_count * sizeof(struct zepi_module_part));
    if (!block)
        return zepi_fail_no_memory();
    module->storage = block;
    module->parts = (struct zepi_module_part *)block;
    void **at = (void **)(module->parts + part_count);
    module->images = (struct zepi_image **)at;
    at += image_count;
    for (uint32_t i = 0; i < part_count; i++) {
        module->parts[i].images = (struct zepi_image **)at;
        module->parts[i].values = (struct zepi_spec_values **)(at + image_count);
        module->parts[i].code = (struct zepi_build_result **)(at + 2 * (size_t)image_count);
        at += part_pointers;
    }
    module->part_count = part_count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_make(struct zepi_context *context, zepi_module_state_t state,
                               uint32_t image_count, struct zepi_image *const *images,
                               uint32_t part_count, struct zepi_module **out_module)
{
    struct zepi_module *module = zepi_object_create(&zepi_module_type);
    if (!module)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    module->context = zepi_retain(context);
    module->state = state;
    pthread_mutex_init(&module->values_mutex, NULL);
    zepi_result_t result = make_storage(module, image_count, part_count);
    for (uint32_t i = 0; i < image_count && result == ZEPI_SUCCESS; i++) {
        module->images[i] = zepi_retain(images[i]);
        module->image_count++;
    }
    if (result == ZEPI_SUCCESS && image_count == 1) {
        module->declarations = images[0]->declarations;
        module->declaration_count = images[0]->declaration_count;
    } else if (result == ZEPI_SUCCESS && image_count > 1) {
        result = unite_declarations(module);
    }
    if (result != ZEPI_SUCCESS) {
        zepi_release(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

void zepi_module_publish(struct zepi_module *module)
{
    struct zepi_context *context = module->context;
    module->is_published = true;
    pthread_mutex_lock(&context->modules_mutex);
    module->next = context->modules;
    module->link = &context->modules;
    if (module->next)
        module->next->link = &module->next;
    context->modules = module;
    pthread_mutex_unlock(&context->modules_mutex);
}

struct zepi_spec_values *zepi_module_snapshot(struct zepi_module *module)
{
    pthread_mutex_lock(&module->values_mutex);
    struct zepi_spec_values *values = zepi_spec_values_retain(module->values);
    pthread_mutex_unlock(&module->values_mutex);
    return values;
}

struct zepi_build_result *zepi_module_find_code(const struct zepi_module *module,
                                                uint32_t device_index, const char *kernel_name)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        struct zepi_build_result *code = module->parts[i].code[device_index];
        if (code && zepi_code_find_kernel(zepi_code_of(code), kernel_name))
            return code;
    }
    return NULL;
}

// Visits a name unless an earlier part or image of the module has it.
struct once {
    const struct zepi_module *module;
    uint32_t index; // of the part or image that is being visited
    bool (*visit)(void *user, const char *name);
    void *user;
    bool goes_on;
};

static struct zepi_build_result *any_code(const struct zepi_module *module, uint32_t part)
{
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (module->parts[part].code[i])
            return module->parts[part].code[i];
    }
    return NULL;
}

static bool is_in_part(const struct zepi_module *module, uint32_t part, const char *name)
{
    const struct zepi_build_result *code = any_code(module, part);
    return code && zepi_code_find_kernel(zepi_code_of(code), name);
}

static bool visit_code_once(void *user, const char *name)
{
    struct once *once = user;
    for (uint32_t i = 0; i < once->index; i++) {
        if (is_in_part(once->module, i, name))
            return true;
    }
    once->goes_on = once->visit(once->user, name);
    return once->goes_on;
}

// Whether the SPIR-V of a part of several images has the kernel.
static bool is_in_spirv(const struct zepi_module_part *part, const char *name)
{
    for (uint32_t i = 0; i < part->image_count && part->image_count > 1; i++) {
        const struct zepi_spirv *spirv = zepi_image_spirv(part->images[i]);
        if (spirv && zepi_spirv_find_kernel(spirv, name))
            return true;
    }
    return false;
}

static bool visit_rest_once(void *user, const char *name)
{
    struct once *once = user;
    return is_in_spirv(&once->module->parts[once->index], name) || visit_code_once(once, name);
}

// Linked code lists its kernels in an order of its own; those of the images come in theirs.
static void visit_part_once(struct once *once, const struct zepi_code *code)
{
    const struct zepi_module_part *part = &once->module->parts[once->index];
    for (uint32_t i = 0; i < part->image_count && part->image_count > 1; i++) {
        const struct zepi_spirv *spirv = zepi_image_spirv(part->images[i]);
        for (uint32_t at = 0; spirv && at < spirv->kernel_count && once->goes_on; at++)
            visit_code_once(once, spirv->kernels[at].name);
    }
    if (once->goes_on)
        zepi_code_for_each_kernel(code, visit_rest_once, once);
}

static bool visit_image_once(struct once *once, const char *name)
{
    for (uint32_t i = 0; i < once->index; i++) {
        const struct zepi_spirv *spirv = zepi_image_spirv(once->module->images[i]);
        if (spirv && zepi_spirv_find_kernel(spirv, name))
            return true;
    }
    once->goes_on = once->visit(once->user, name);
    return once->goes_on;
}

void zepi_module_for_each_kernel(const struct zepi_module *module,
                                 bool (*visit)(void *user, const char *name), void *user)
{
    struct once once = {.module = module, .visit = visit, .user = user, .goes_on = true};
    for (; once.index < module->part_count && once.goes_on; once.index++) {
        const struct zepi_build_result *code = any_code(module, once.index);
        if (code)
            visit_part_once(&once, zepi_code_of(code));
    }
    if (module->part_count > 0)
        return;
    for (; once.index < module->image_count && once.goes_on; once.index++) {
        const struct zepi_spirv *spirv = zepi_image_spirv(module->images[once.index]);
        for (uint32_t i = 0; spirv && i < spirv->kernel_count && once.goes_on; i++)
            visit_image_once(&once, spirv->kernels[i].name);
    }
}

static bool append_name(void *user, const char *name)
{
    bool *is_first = user;
    zepi_error_append("%s'%s'", *is_first ? ": there are " : ", ", name);
    *is_first = false;
    return true;
}

void zepi_module_append_kernel_names(const struct zepi_module *module)
{
    bool is_first = true;
    zepi_module_for_each_kernel(module, append_name, &is_first);
    if (is_first)
        zepi_error_append(": it has no kernels");
}

static zepi_result_t create_images(zepi_module_state_t state, uint32_t image_count,
                                   const zepi_image_desc_t *descs, struct zepi_image **images)
{
    // Every description in the list has the size that the first one states.
    const size_t stride = image_count > 0 ? descs[0].size : 0;
    for (uint32_t i = 0; i < image_count; i++) {
        const zepi_image_desc_t *desc =
            (const zepi_image_desc_t *)((const char *)descs + i * stride);
        zepi_result_t result = zepi_image_create(desc, &images[i]);
        if (result == ZEPI_SUCCESS && images[i]->state != state)
            result =
                zepi_fail(ZEPI_ERROR_WRONG_STATE, "it is declared %s, the module is %s",
                          zepi_module_state_name(images[i]->state), zepi_module_state_name(state));
        if (result != ZEPI_SUCCESS) {
            zepi_error_prepend("image %u: ", i);
            return result;
        }
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_create(zepi_context_t context, zepi_module_state_t state,
                                 uint32_t image_count, const zepi_image_desc_t *descs,
                                 zepi_module_t *out_module)
{
    struct zepi_module *module;
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_module || (image_count > 0 && !descs))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s is NULL",
                         out_module ? "the list of images" : "the output for the module");
    if (state < ZEPI_MODULE_INPUT || state > ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "state %d is none of input (1), object (2), executable (3)", (int)state);
    struct zepi_image **images = zepi_allocate(image_count, sizeof(struct zepi_image *));
    if (!images)
        return zepi_fail_no_memory();
    result = create_images(state, image_count, descs, images);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_make_of_images(context, state, image_count, images, &module);
    for (uint32_t i = 0; i < image_count; i++)
        zepi_release(images[i]);
    zepi_free(images);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_module = module;
    return ZEPI_SUCCESS;
}
