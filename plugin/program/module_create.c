// SPDX-License-Identifier: MIT
#include "program/module.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/built_image.h"
#include "program/module_load.h"
#include "program/native_handle.h"
#include "program/this_module.h"

static void module_destroy_kernels(struct zepi_module *module)
{
    struct zepi_module_kernel *kernel =
        atomic_load_explicit(&module->kernels, memory_order_acquire);
    while (kernel) {
        struct zepi_module_kernel *next = kernel->next;
        zepi_build_result_release(kernel->device_kernel);
        zepi_free(kernel);
        kernel = next;
    }
}

static void module_destroy(void *object)
{
    struct zepi_module *module = object;
    if (module->unit)
        zepi_unit_forget(module);
    module_destroy_kernels(module);
    // Acquire: exported handles are seen whole.
    if (atomic_load_explicit(&module->exports, memory_order_acquire))
        zepi_module_destroy_exports(module);
    struct zepi_built_images *built = atomic_load_explicit(&module->built, memory_order_acquire);
    if (built)
        zepi_built_images_destroy(built);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count; at++)
            zepi_spec_values_release(part->values[at]);
        for (uint32_t at = 0; at < module->context->device_count; at++)
            zepi_build_result_release(part->device_module[at]);
    }
    if (module->state == ZEPI_MODULE_INPUT)
        zepi_spec_values_release(atomic_load_explicit(&module->values, memory_order_relaxed));
    if (module->options)
        zepi_free(module->options);
    if (module->storage != module->inline_storage)
        zepi_free(module->storage);
    zepi_release(module->shared);
}

ZEPI_DEFINE_TYPE(module, module_destroy);

const char *zepi_module_state_name(zepi_module_state_t state)
{
    static const char *const names[] = {"of unknown state", "input", "object", "executable"};
    return (unsigned)state < 4 ? names[state] : names[0];
}

// One block for all lists: parts; in each part images, values and code.
static zepi_result_t module_make_storage(struct zepi_module *module, uint32_t part_count,
                                         uint32_t image_count)
{
    const size_t part_pointers = 2 * (size_t)image_count + module->context->device_count;
    const size_t part_size = sizeof(struct zepi_module_part) + part_pointers * sizeof(void *);
    char *block = module->inline_storage;
    if (part_size * part_count > sizeof(module->inline_storage)) {
        block = zepi_allocate(part_count, part_size);
        if (!block)
            return zepi_fail_no_memory();
    }
    module->storage = block;
    module->parts = (struct zepi_module_part *)block;
    void **at = (void **)(module->parts + part_count);
    for (uint32_t i = 0; i < part_count; i++) {
        module->parts[i].images = (struct zepi_device_image **)at;
        module->parts[i].values = (struct zepi_spec_values **)(at + image_count);
        module->parts[i].device_module =
            (struct zepi_build_result **)(at + 2 * (size_t)image_count);
        at += part_pointers;
    }
    module->part_count = part_count;
    return ZEPI_SUCCESS;
}

// Consumes the reference to the images.
static zepi_result_t module_make(struct zepi_module_images *shared, zepi_module_state_t state,
                                 uint32_t part_count, uint32_t part_image_count,
                                 struct zepi_module **out_module)
{
    static atomic_uint_fast64_t last_number;
    struct zepi_module *module = zepi_object_create(&zepi_module_type);
    if (!module) {
        zepi_release(shared);
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    // Relaxed: only that numbers differ counts.
    module->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    module->shared = shared;
    module->context = shared->context;
    module->images = shared->images;
    module->image_count = shared->count;
    module->declarations = shared->declarations;
    module->declaration_count = shared->declaration_count;
    module->state = state;
    module->storage = module->inline_storage;
    if (part_count > 0) {
        const zepi_result_t result = module_make_storage(module, part_count, part_image_count);
        if (result != ZEPI_SUCCESS) {
            zepi_release(module);
            return result;
        }
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_make(struct zepi_context *context, zepi_module_state_t state,
                               uint32_t image_count, struct zepi_device_image *const *images,
                               uint32_t part_count, uint32_t part_image_count,
                               struct zepi_module **out_module)
{
    struct zepi_module_images *shared;
    const zepi_result_t result =
        zepi_module_images_create(context, state, image_count, images, &shared);
    return result == ZEPI_SUCCESS
               ? module_make(shared, state, part_count, part_image_count, out_module)
               : result;
}

zepi_result_t zepi_module_make_from(const struct zepi_module *input, zepi_module_state_t state,
                                    uint32_t part_count, struct zepi_module **out_module)
{
    return module_make(zepi_retain(input->shared), state, part_count, input->image_count,
                       out_module);
}

struct visiting {
    const struct zepi_context *context;
    void (*visit)(void *user, struct zepi_module *module);
    void *user;
};

static void visit_module(void *user, void *object)
{
    const struct visiting *visiting = user;
    struct zepi_module *module = object;
    if (module->context == visiting->context)
        visiting->visit(visiting->user, module);
    else
        zepi_release(module);
}

void zepi_module_visit_all(const struct zepi_context *context,
                           void (*visit)(void *user, struct zepi_module *module), void *user)
{
    struct visiting visiting = {context, visit, user};
    zepi_object_visit_all(&zepi_module_type, visit_module, &visiting);
}

struct zepi_spec_values *zepi_module_snapshot(struct zepi_module *module)
{
    // Relaxed: whether values were set before this call is decided by the host, which orders the
    // two.
    if (!atomic_load_explicit(&module->values, memory_order_relaxed))
        return NULL;
    zepi_mutex_lock(&module->values_mutex);
    struct zepi_spec_values *values =
        zepi_spec_values_retain(atomic_load_explicit(&module->values, memory_order_relaxed));
    zepi_mutex_unlock(&module->values_mutex);
    return values;
}

const struct zepi_module_part *zepi_module_find_part(const struct zepi_module *module,
                                                     uint32_t device_index, const char *kernel_name)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        struct zepi_build_result *device_module = module->parts[i].device_module[device_index];
        if (device_module &&
            zepi_device_module_find_kernel(zepi_device_module_of(device_module), kernel_name))
            return &module->parts[i];
    }
    return NULL;
}

bool zepi_module_has_code(const struct zepi_module *module, uint32_t device_index)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (module->parts[i].device_module[device_index])
            return true;
    }
    return false;
}

// Visits a name unless an earlier part or image of the module has it.
struct once {
    const struct zepi_module *module;
    uint32_t index; // of the part or image that is being visited
    bool (*visit)(void *user, const char *name);
    void *user;
    bool goes_on;
};

struct zepi_build_result *zepi_module_any_code(const struct zepi_module *module, uint32_t part)
{
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (module->parts[part].device_module[i])
            return module->parts[part].device_module[i];
    }
    return NULL;
}

static bool kernel_is_in_part(const struct zepi_module *module, uint32_t part, const char *name)
{
    const struct zepi_build_result *device_module = zepi_module_any_code(module, part);
    return device_module &&
           zepi_device_module_find_kernel(zepi_device_module_of(device_module), name);
}

static bool visit_code_once(void *user, const char *name)
{
    struct once *once = user;
    for (uint32_t i = 0; i < once->index; i++) {
        if (kernel_is_in_part(once->module, i, name))
            return true;
    }
    once->goes_on = once->visit(once->user, name);
    return once->goes_on;
}

// Whether the SPIR-V of a part of several images has the kernel.
static bool kernel_is_in_spirv(const struct zepi_module_part *part, const char *name)
{
    for (uint32_t i = 0; i < part->image_count && part->image_count > 1; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(part->images[i]);
        if (spirv && zepi_spirv_find_kernel(spirv, name))
            return true;
    }
    return false;
}

static bool visit_rest_once(void *user, const char *name)
{
    struct once *once = user;
    return kernel_is_in_spirv(&once->module->parts[once->index], name) ||
           visit_code_once(once, name);
}

// Linked code lists its kernels in an order of its own; those of the images come in theirs.
static void visit_part_once(struct once *once, const struct zepi_device_module *device_module)
{
    const struct zepi_module_part *part = &once->module->parts[once->index];
    for (uint32_t i = 0; i < part->image_count && part->image_count > 1; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(part->images[i]);
        for (uint32_t at = 0; spirv && at < spirv->kernel_count && once->goes_on; at++)
            visit_code_once(once, spirv->kernels[at].name);
    }
    if (once->goes_on)
        zepi_device_module_for_each_kernel(device_module, visit_rest_once, once);
}

static bool visit_image_once(struct once *once, const char *name)
{
    for (uint32_t i = 0; i < once->index; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(once->module->images[i]);
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
        const struct zepi_build_result *device_module = zepi_module_any_code(module, once.index);
        if (device_module)
            visit_part_once(&once, zepi_device_module_of(device_module));
    }
    if (module->part_count > 0)
        return;
    for (; once.index < module->image_count && once.goes_on; once.index++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(module->images[once.index]);
        for (uint32_t i = 0; spirv && i < spirv->kernel_count && once.goes_on; i++)
            visit_image_once(&once, spirv->kernels[i].name);
    }
}

static bool append_kernel_name(void *user, const char *name)
{
    bool *is_first = user;
    zepi_error_append("%s'%s'", *is_first ? ": there are " : ", ", name);
    *is_first = false;
    return true;
}

void zepi_module_append_kernel_names(const struct zepi_module *module)
{
    bool is_first = true;
    zepi_module_for_each_kernel(module, append_kernel_name, &is_first);
    if (is_first)
        zepi_error_append(": it has no kernels");
}

static zepi_result_t create_module_images(zepi_module_state_t state, uint32_t image_count,
                                          const zepi_device_image_desc_t *descs,
                                          struct zepi_device_image **images)
{
    // Every description in the list has the size that the first one states.
    const size_t stride = image_count > 0 ? descs[0].size : 0;
    for (uint32_t i = 0; i < image_count; i++) {
        const zepi_device_image_desc_t *desc =
            (const zepi_device_image_desc_t *)((const char *)descs + i * stride);
        zepi_result_t result = zepi_device_image_create(desc, &images[i]);
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

zepi_result_t zepi_module_create_plain(struct zepi_context *context, const void *bytes,
                                       size_t size_bytes, struct zepi_module **out_module)
{
    struct zepi_blob *blob;
    struct zepi_device_image *image;
    struct zepi_module *module;
    zepi_result_t result = zepi_blob_get(bytes, size_bytes, true, &blob);
    if (result != ZEPI_SUCCESS) {
        zepi_error_prepend("image 0: ");
        return result;
    }
    result = zepi_device_image_create_plain(blob, &image);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_module_make(context, ZEPI_MODULE_INPUT, 1, &image, 0, 0, &module);
    zepi_release(image);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_object_publish(module);
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t module_create_from_images(struct zepi_context *context,
                                               zepi_module_state_t state, uint32_t image_count,
                                               const zepi_device_image_desc_t *descs,
                                               struct zepi_module **out_module)
{
    struct zepi_module *module;
    struct zepi_device_image *one_image = NULL;
    struct zepi_device_image **images =
        image_count > 1 ? zepi_allocate(image_count, sizeof(struct zepi_device_image *))
                        : &one_image;
    if (!images)
        return zepi_fail_no_memory();
    zepi_result_t result = create_module_images(state, image_count, descs, images);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_make_of_images(context, state, image_count, images,
                                            ZEPI_REFUSE_UNUSABLE, &module);
    for (uint32_t i = 0; i < image_count; i++)
        zepi_release(images[i]);
    if (images != &one_image)
        zepi_free(images);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_object_publish(module);
    *out_module = module;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_create(zepi_context_t context, zepi_module_state_t state,
                                 uint32_t image_count, const zepi_device_image_desc_t *descs,
                                 zepi_module_t *out_module)
{
    return state == ZEPI_MODULE_INPUT && image_count == 1 && zepi_device_image_is_plain(descs)
               ? zepi_module_create_plain(context, descs->bytes, descs->size_bytes, out_module)
               : module_create_from_images(context, state, image_count, descs, out_module);
}
