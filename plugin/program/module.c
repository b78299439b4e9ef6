// SPDX-License-Identifier: MIT
#include "program/module.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "ze/ze.h"

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
        module->unit_forget(module);
    module_destroy_kernels(module);
    zepi_release(atomic_load_explicit(&module->built, memory_order_acquire));
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count; at++)
            zepi_spec_values_release(part->values[at]);
        for (uint32_t at = 0; at < module->context->device_count; at++) {
            // Acquire: it is seen whole. The host's handles go once no command can use them.
            struct zepi_device_module *exported =
                atomic_load_explicit(&part->exported[at], memory_order_acquire);
            if (exported)
                zepi_device_module_destroy(exported);
            zepi_build_result_release(part->device_module[at]);
        }
    }
    zepi_spec_values_release(atomic_load_explicit(&module->own_values.set, memory_order_relaxed));
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

// One block has all lists: the parts, and for each part its images, values, code and exports.
static zepi_result_t module_make_storage(struct zepi_module *module, uint32_t part_count,
                                         uint32_t image_count)
{
    const size_t part_pointers = 2 * ((size_t)image_count + module->context->device_count);
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
        module->parts[i].exported =
            (_Atomic(struct zepi_device_module *) *)(module->parts[i].device_module +
                                                     module->context->device_count);
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
    module->values = &module->own_values;
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

struct zepi_spec_values *zepi_module_snapshot(struct zepi_module *module)
{
    struct zepi_module_values *values = module->values;
    // Relaxed: whether values were set before this call is decided by the host, which orders the
    // two.
    if (!atomic_load_explicit(&values->set, memory_order_relaxed))
        return NULL;
    zepi_mutex_lock(&values->mutex);
    struct zepi_spec_values *set =
        zepi_spec_values_retain(atomic_load_explicit(&values->set, memory_order_relaxed));
    zepi_mutex_unlock(&values->mutex);
    return set;
}

const struct zepi_module_part *zepi_module_find_part(const struct zepi_module *module,
                                                     uint32_t device_index, const char *kernel_name)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        struct zepi_build_result *device_module = module->parts[i].device_module[device_index];
        if (device_module &&
            zepi_device_module_find_kernel(zepi_device_module_of(device_module), kernel_name, NULL))
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

struct zepi_build_result *zepi_module_any_code(const struct zepi_module *module, uint32_t part)
{
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (module->parts[part].device_module[i])
            return module->parts[part].device_module[i];
    }
    return NULL;
}

// ---- Kernels ----

static const char *next_kernel_of_images(struct zepi_kernel_pass *pass)
{
    for (; pass->image < pass->module->image_count; pass->image++, pass->at = 0) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(pass->module->images[pass->image]);
        if (spirv && pass->at < spirv->kernel_count)
            return spirv->kernels[pass->at++].name;
    }
    return NULL;
}

static const char *next_kernel_of_code(struct zepi_kernel_pass *pass,
                                       const struct zepi_device_module *code)
{
    for (; pass->ze_module < code->ze_module_count; pass->ze_module++, pass->at = 0) {
        if (pass->at < code->ze_modules[pass->ze_module].kernel_count)
            return code->ze_modules[pass->ze_module].kernel_names[pass->at++];
    }
    return NULL;
}

static const char *next_kernel(struct zepi_kernel_pass *pass)
{
    const struct zepi_module *module = pass->module;
    const char *name = NULL;
    if (module->part_count == 0)
        return next_kernel_of_images(pass);
    while (!name && pass->part < module->part_count) {
        const struct zepi_build_result *code = zepi_module_any_code(module, pass->part);
        if (code)
            name = next_kernel_of_code(pass, zepi_device_module_of(code));
        if (!name)
            *pass = (struct zepi_kernel_pass){.module = module, .part = pass->part + 1};
    }
    return name;
}

// Whether the pass had the name before.
static bool is_known_kernel(const struct zepi_kernel_pass *pass, const char *name)
{
    const struct zepi_module *module = pass->module;
    for (uint32_t i = 0; i < pass->part; i++) {
        const struct zepi_build_result *code = zepi_module_any_code(module, i);
        if (code && zepi_device_module_find_kernel(zepi_device_module_of(code), name, NULL))
            return true;
    }
    for (uint32_t i = 0; i < pass->image; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(module->images[i]);
        if (spirv && zepi_spirv_find_kernel(spirv, name))
            return true;
    }
    return false;
}

const char *zepi_module_next_kernel(struct zepi_kernel_pass *pass)
{
    const char *name = next_kernel(pass);
    while (name && is_known_kernel(pass, name))
        name = next_kernel(pass);
    return name;
}

bool zepi_module_has_kernel(const struct zepi_module *module, const char *name)
{
    struct zepi_kernel_pass pass = {.module = module};
    const char *found;
    while ((found = zepi_module_next_kernel(&pass)) && strcmp(found, name) != 0)
        ;
    return found;
}

void zepi_module_append_kernel_names(const struct zepi_module *module)
{
    struct zepi_kernel_pass pass = {.module = module};
    const char *before = ": there are ";
    for (const char *name; (name = zepi_module_next_kernel(&pass)); before = ", ")
        zepi_error_append("%s'%s'", before, name);
    if (before[0] == ':')
        zepi_error_append(": it has no kernels");
}

const char *zepi_module_build_log(const struct zepi_module *module, uint32_t device_index)
{
    const char *log = "";
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < module->part_count && size_bytes == 0; i++) {
        if (module->parts[i].device_module[device_index])
            log = zepi_build_log(module->parts[i].device_module[device_index], &size_bytes);
    }
    return log;
}

// ---- Variables and functions in the code ----

static ze_result_t ask_global(ze_module_handle_t module, const char *name,
                              enum zepi_global_kind kind, struct zepi_global *out_global)
{
    *out_global = (struct zepi_global){0};
    return kind == ZEPI_GLOBAL_FUNCTION
               ? zepi_ze.zeModuleGetFunctionPointer(module, name, &out_global->address)
               : zepi_ze.zeModuleGetGlobalPointer(module, name, &out_global->size_bytes,
                                                  &out_global->address);
}

// A module that was built without options for it may refuse the query (quirk names-need-options).
static bool is_global_unknown(ze_result_t result)
{
    return result == ZE_RESULT_ERROR_INVALID_GLOBAL_NAME ||
           result == ZE_RESULT_ERROR_INVALID_FUNCTION_NAME ||
           result == ZE_RESULT_ERROR_INVALID_ARGUMENT ||
           result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
           result == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
}

// Asks each ze_module of the module on the device, until one has it.
zepi_result_t zepi_module_find_global(struct zepi_module *module, zepi_device_t device,
                                      const char *name, enum zepi_global_kind kind,
                                      struct zepi_global *out_global)
{
    const char *call =
        kind == ZEPI_GLOBAL_FUNCTION ? "zeModuleGetFunctionPointer" : "zeModuleGetGlobalPointer";
    const uint32_t index = zepi_context_device_index(module->context, device);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_build_result *built = module->parts[i].device_module[index];
        const struct zepi_device_module *device_module =
            built ? zepi_device_module_of(built) : NULL;
        for (uint32_t at = 0; device_module && at < device_module->ze_module_count; at++) {
            struct zepi_global global;
            const ze_result_t ze =
                ask_global(device_module->ze_modules[at].ze, name, kind, &global);
            if (ze == ZE_RESULT_SUCCESS) {
                *out_global = global;
                return ZEPI_SUCCESS;
            }
            if (!is_global_unknown(ze))
                return zepi_fail_ze(ze, call);
        }
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the module has no '%s' on device '%s'", name,
                     device->properties.name);
}
