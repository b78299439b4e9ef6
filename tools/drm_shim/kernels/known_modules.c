// SPDX-License-Identifier: MIT
#include "known_modules.h"

#include "kernels/driver_hooks.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t mutex; // guards the list and addresses of kernels; nothing is called under it
    struct shim_known_module *first; // the newest
    struct shim_known_module *own;   // of the driver's own: the newest; they stay
} known = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// ---- Life ----

static void destroy(struct shim_known_module *module)
{
    const struct shim_cpu_driver *cpu = module->cpu ? shim_cpu_driver() : NULL;
    for (uint32_t i = 0; module->kernels && i < module->code.kernel_count; i++) {
        if (module->kernels[i].cpu)
            cpu->kernel.pfnDestroy(module->kernels[i].cpu);
        pthread_mutex_destroy(&module->kernels[i].mutex);
    }
    if (module->cpu)
        cpu->module.pfnDestroy(module->cpu);
    pthread_mutex_destroy(&module->mutex);
    free(module->kernels);
    shim_variables_release(module->variables);
    shim_module_inputs_finish(&module->inputs);
    shim_native_code_finish(&module->code);
    free(module);
}

void shim_known_module_release(struct shim_known_module *module)
{
    if (module && atomic_fetch_sub_explicit(&module->reference_count, 1, memory_order_acq_rel) == 1)
        destroy(module);
}

static void retain(struct shim_known_module *module)
{
    atomic_fetch_add_explicit(&module->reference_count, 1, memory_order_relaxed);
}

static struct shim_known_module *create(const void *bytes, size_t size_bytes, char *message,
                                        size_t message_size)
{
    struct shim_known_module *module = calloc(1, sizeof(*module));
    if (!module)
        return NULL;
    pthread_mutex_init(&module->mutex, NULL);
    atomic_init(&module->reference_count, 1);
    if (!shim_native_code_init(&module->code, bytes, size_bytes, message, message_size)) {
        destroy(module);
        return NULL;
    }
    module->kernels = calloc((size_t)module->code.kernel_count + 1, sizeof(*module->kernels));
    for (uint32_t i = 0; module->kernels && i < module->code.kernel_count; i++) {
        module->kernels[i].module = module;
        module->kernels[i].native = &module->code.kernels[i];
        pthread_mutex_init(&module->kernels[i].mutex, NULL);
    }
    if (module->kernels)
        return module;
    destroy(module);
    return NULL;
}

// Consumes the caller's reference.
static void add_to_list(struct shim_known_module *module)
{
    for (uint32_t i = 0; i < module->code.kernel_count; i++)
        module->kernels[i].arguments =
            shim_module_inputs_find(&module->inputs, module->kernels[i].native->name);
    pthread_mutex_lock(&known.mutex);
    module->next = known.first;
    known.first = module;
    if (!module->handle) {
        module->next_own = known.own;
        known.own = module;
    }
    pthread_mutex_unlock(&known.mutex);
}

// Returns the list's reference, or NULL.
static struct shim_known_module *remove_from_list(ze_module_handle_t handle)
{
    pthread_mutex_lock(&known.mutex);
    struct shim_known_module **link = &known.first;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct shim_known_module *module = *link;
    if (module)
        *link = module->next;
    pthread_mutex_unlock(&known.mutex);
    return module;
}

// A reference for the caller, or NULL.
static struct shim_known_module *find_by_handle(ze_module_handle_t handle)
{
    pthread_mutex_lock(&known.mutex);
    struct shim_known_module *module = known.first;
    while (module && module->handle != handle)
        module = module->next;
    if (module)
        retain(module);
    pthread_mutex_unlock(&known.mutex);
    return module;
}

// ---- Building for the CPU ----

static bool build_module_locked(struct shim_known_module *module)
{
    const struct shim_cpu_driver *cpu = shim_cpu_driver();
    if (module->was_tried)
        return module->cpu != NULL;
    module->was_tried = true;
    module->cpu = cpu ? shim_cpu_build(cpu, &module->inputs, &module->code.info) : NULL;
    return module->cpu != NULL;
}

static bool build_module(struct shim_known_module *module)
{
    pthread_mutex_lock(&module->mutex);
    const bool is_built = build_module_locked(module);
    pthread_mutex_unlock(&module->mutex);
    return is_built;
}

static bool create_kernel(struct shim_known_kernel *kernel)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = kernel->native->name};
    pthread_mutex_lock(&kernel->mutex);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!kernel->cpu)
        result = shim_cpu_driver()->kernel.pfnCreate(kernel->module->cpu, &desc, &kernel->cpu);
    if (result != ZE_RESULT_SUCCESS) {
        shim_error("%s: ze_cpu has no such kernel: 0x%x", kernel->native->name, result);
        kernel->cpu = NULL;
    }
    pthread_mutex_unlock(&kernel->mutex);
    return result == ZE_RESULT_SUCCESS;
}

bool shim_known_kernel_build(struct shim_known_kernel *kernel)
{
    if (!kernel->arguments) {
        shim_error("%s is refused: %s", kernel->native->name,
                   kernel->module->inputs.count > 0 ? "its SPIR-V has no kernel of that name"
                                                    : "machine code without SPIR-V");
        return false;
    }
    if (kernel->module->lacks_constants) {
        shim_error("%s is refused: native code of unknown values of specialization constants: "
                   "there is no record of its build",
                   kernel->native->name);
        return false;
    }
    if (!build_module(kernel->module)) {
        shim_error("%s is refused: its module cannot be built for the CPU", kernel->native->name);
        return false;
    }
    return create_kernel(kernel);
}

// ---- Modules of the program ----

// A launch is recognised by its kernel's name and machine code.
static struct zepi_digest digest_of(const struct shim_native_code *code)
{
    struct zepi_digest digest = {0};
    for (uint32_t i = 0; i < code->kernel_count; i++) {
        const struct zepi_digest_part parts[] = {
            {&digest, sizeof(digest)},
            {code->kernels[i].name, strlen(code->kernels[i].name) + 1},
            {code->kernels[i].text, code->kernels[i].text_bytes},
        };
        digest = zepi_digest_of_parts(parts, sizeof(parts) / sizeof(parts[0]));
    }
    return digest;
}

static void find_inputs(struct shim_known_module *module, const ze_module_desc_t *desc)
{
    char message[256] = "";
    const struct zepi_digest digest = digest_of(&module->code);
    if (desc->format == ZE_MODULE_FORMAT_IL_SPIRV) {
        if (shim_module_inputs_init(&module->inputs, desc, message, sizeof(message)))
            shim_module_inputs_store(&module->inputs, digest);
    } else if (!shim_module_inputs_load(&module->inputs, digest) && module->code.spirv) {
        if (shim_module_inputs_init_plain(&module->inputs, module->code.spirv,
                                          module->code.spirv_bytes, message, sizeof(message)))
            module->lacks_constants = module->inputs.inputs[0].walk.constant_count > 0;
    }
    if (message[0])
        shim_error("a module's SPIR-V is not executed: %s", message);
}

static void note_module(ze_module_handle_t handle, const ze_module_desc_t *desc)
{
    char message[256] = "out of memory";
    size_t size_bytes = 0;
    struct shim_known_module *module = NULL;
    if (shim_driver_module.pfnGetNativeBinary(handle, &size_bytes, NULL) != ZE_RESULT_SUCCESS)
        return;
    uint8_t *bytes = malloc(size_bytes + 1);
    if (bytes &&
        shim_driver_module.pfnGetNativeBinary(handle, &size_bytes, bytes) == ZE_RESULT_SUCCESS)
        module = create(bytes, size_bytes, message, sizeof(message));
    free(bytes);
    if (!module || !shim_native_code_read_info(&module->code, message, sizeof(message))) {
        shim_known_module_release(module);
        shim_error("the kernels of a module are not executed: %s", message);
        return;
    }
    module->handle = handle;
    find_inputs(module, desc);
    module->variables = shim_variables_create(handle, &module->code, &module->inputs);
    add_to_list(module);
}

ze_result_t ZE_APICALL shim_module_create(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_module_desc_t *desc,
                                          ze_module_handle_t *out_module,
                                          ze_module_build_log_handle_t *out_log)
{
    const ze_result_t result =
        shim_driver_module.pfnCreate(context, device, desc, out_module, out_log);
    if (result == ZE_RESULT_SUCCESS)
        note_module(*out_module, desc);
    return result;
}

ze_result_t ZE_APICALL shim_module_destroy(ze_module_handle_t module)
{
    struct shim_known_module *removed = remove_from_list(module);
    const ze_result_t result = shim_driver_module.pfnDestroy(module);
    shim_known_module_release(removed);
    return result;
}

static struct shim_known_kernel *find_by_name(struct shim_known_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->code.kernel_count; i++) {
        if (strcmp(module->kernels[i].native->name, name) == 0)
            return &module->kernels[i];
    }
    return NULL;
}

ze_result_t ZE_APICALL shim_kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                          ze_kernel_handle_t *out_kernel)
{
    const ze_result_t result = shim_driver_kernel.pfnCreate(module, desc, out_kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uint64_t address = shim_driver_kernel_address(*out_kernel);
    struct shim_known_module *found = find_by_handle(module);
    struct shim_known_kernel *kernel = found ? find_by_name(found, desc->pKernelName) : NULL;
    if (kernel) {
        pthread_mutex_lock(&known.mutex);
        kernel->gpu_address = address;
        pthread_mutex_unlock(&known.mutex);
        // A build here holds up no queue. A module that cannot be built is refused at its first
        // launch.
        if (kernel->arguments && !shim_cpu_driver_has_ended())
            shim_known_kernel_build(kernel);
    }
    shim_known_module_release(found);
    return result;
}

// Groups run one after another on each core of the CPU.
ze_result_t ZE_APICALL shim_kernel_suggest_cooperative(ze_kernel_handle_t kernel,
                                                       uint32_t *out_group_count)
{
    const ze_result_t result =
        shim_driver_kernel.pfnSuggestMaxCooperativeGroupCount(kernel, out_group_count);
    if (result == ZE_RESULT_SUCCESS && *out_group_count > 1)
        *out_group_count = 1;
    return result;
}

// ---- Linking ----

// Modules that were linked share their variables.
static void share_variables(uint32_t count, struct shim_known_module *const *modules)
{
    struct shim_variables **parts = calloc((size_t)count + 1, sizeof(struct shim_variables *));
    struct shim_variables *joined = NULL;
    uint32_t found = 0;
    for (uint32_t i = 0; parts && i < count; i++) {
        parts[found] = shim_known_module_variables(modules[i]);
        found += parts[found] != NULL;
    }
    if (parts)
        joined = shim_variables_join(found, parts);
    for (uint32_t i = 0; joined && i < count; i++) {
        pthread_mutex_lock(&modules[i]->mutex);
        struct shim_variables *before = modules[i]->variables;
        modules[i]->variables = shim_variables_retain(joined);
        pthread_mutex_unlock(&modules[i]->mutex);
        shim_variables_release(before);
    }
    for (uint32_t i = 0; i < found; i++)
        shim_variables_release(parts[i]);
    shim_variables_release(joined);
    free(parts);
}

// Modules that were linked for the GPU are linked for the CPU; their kernels are made after it.
static void link_for_cpu(uint32_t count, const ze_module_handle_t *handles)
{
    struct shim_known_module **modules = calloc((size_t)count + 1, sizeof(*modules));
    ze_module_handle_t *cpu_modules = calloc((size_t)count + 1, sizeof(*cpu_modules));
    ze_result_t result = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    uint32_t found = 0;
    bool are_built = modules && cpu_modules;
    for (uint32_t i = 0; are_built && i < count; i++) {
        modules[found] = find_by_handle(handles[i]);
        are_built = modules[found] && build_module(modules[found]);
        if (modules[found])
            cpu_modules[found] = modules[found]->cpu;
        found += modules[found] != NULL;
    }
    if (are_built)
        result = shim_cpu_driver()->module.pfnDynamicLink(count, cpu_modules, NULL);
    if (result == ZE_RESULT_SUCCESS)
        share_variables(count, modules);
    else
        shim_error("%u linked modules cannot be linked for the CPU: 0x%x", count, result);
    for (uint32_t i = 0; i < found; i++)
        shim_known_module_release(modules[i]);
    free(modules);
    free(cpu_modules);
}

ze_result_t ZE_APICALL shim_module_dynamic_link(uint32_t count, ze_module_handle_t *modules,
                                                ze_module_build_log_handle_t *out_log)
{
    const ze_result_t result = shim_driver_module.pfnDynamicLink(count, modules, out_log);
    if (result == ZE_RESULT_SUCCESS)
        link_for_cpu(count, modules);
    return result;
}

// A pointer that a kernel can call: the CPU's.
ze_result_t ZE_APICALL shim_module_get_function_pointer(ze_module_handle_t module, const char *name,
                                                        void **out_function)
{
    ze_result_t result = shim_driver_module.pfnGetFunctionPointer(module, name, out_function);
    struct shim_known_module *found = result == ZE_RESULT_SUCCESS ? find_by_handle(module) : NULL;
    if (found && (!build_module(found) ||
                  shim_cpu_driver()->module.pfnGetFunctionPointer(found->cpu, name, out_function) !=
                      ZE_RESULT_SUCCESS)) {
        shim_error("%s is refused: ze_cpu has no pointer to this function", name);
        *out_function = NULL;
        result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    shim_known_module_release(found);
    return result;
}

struct shim_variables *shim_known_module_variables(struct shim_known_module *module)
{
    pthread_mutex_lock(&module->mutex);
    struct shim_variables *variables =
        module->variables ? shim_variables_retain(module->variables) : NULL;
    pthread_mutex_unlock(&module->mutex);
    return variables;
}

// ---- Finding a kernel ----

// A walker may name the code after the part that loads the payload of each thread.
static struct shim_known_kernel *find_locked(uint64_t start)
{
    for (struct shim_known_module *module = known.first; module; module = module->next) {
        for (uint32_t i = 0; i < module->code.kernel_count; i++) {
            struct shim_known_kernel *kernel = &module->kernels[i];
            if (kernel->gpu_address != 0 && start >= kernel->gpu_address &&
                start - kernel->gpu_address < kernel->native->text_bytes)
                return kernel;
        }
    }
    return NULL;
}

// The kernel of the file whose machine code lies where the walker starts, and the address of its
// code; NULL: none.
static struct shim_known_kernel *match_code(struct shim_known_module *module,
                                            struct shim_address_space *space, uint64_t start,
                                            uint64_t *out_address)
{
    static const uint64_t skips[] = {0, 64, 128, 192, 256};
    for (uint32_t i = 0; i < module->code.kernel_count; i++) {
        for (size_t at = 0; at < sizeof(skips) / sizeof(skips[0]); at++) {
            uint64_t left = 0;
            const uint8_t *code = shim_address_space_find(space, start - skips[at], &left);
            *out_address = start - skips[at];
            if (code && shim_native_kernel_is(module->kernels[i].native, code, left))
                return &module->kernels[i];
        }
    }
    return NULL;
}

// The driver loads each of its own kernels when it needs it. Those of a file that is known are
// found and built with the others: a fill is several of them, under one timestamp.
static bool match_known_own(struct shim_address_space *space, uint64_t start)
{
    pthread_mutex_lock(&known.mutex);
    struct shim_known_module *module = known.own;
    pthread_mutex_unlock(&known.mutex);
    bool is_found = false;
    for (; module && !is_found; module = module->next_own) {
        uint64_t address;
        struct shim_known_kernel *kernel = match_code(module, space, start, &address);
        if (!kernel)
            continue;
        pthread_mutex_lock(&known.mutex);
        // Another one has the code of another device.
        is_found = kernel->gpu_address == 0 || kernel->gpu_address == address;
        if (is_found)
            kernel->gpu_address = address;
        pthread_mutex_unlock(&known.mutex);
    }
    return is_found;
}

// The driver's own kernels are native code in its data. Where the code at the address is one of
// this file, adds its module to the list.
static bool add_own_module(const void *bytes, size_t size_bytes, struct shim_address_space *space,
                           uint64_t start)
{
    char message[256] = "";
    uint64_t address;
    struct shim_known_module *module = create(bytes, size_bytes, message, sizeof(message));
    struct shim_known_kernel *kernel = module ? match_code(module, space, start, &address) : NULL;
    bool is_found = kernel != NULL;
    if (is_found)
        kernel->gpu_address = address;
    if (is_found && module->code.spirv)
        is_found =
            shim_native_code_read_info(&module->code, message, sizeof(message)) &&
            shim_module_inputs_init_plain(&module->inputs, module->code.spirv,
                                          module->code.spirv_bytes, message, sizeof(message));
    if (is_found)
        add_to_list(module);
    else
        shim_known_module_release(module);
    return is_found;
}

static bool find_own_kernel(struct shim_address_space *space, uint64_t start)
{
    static const char magic[] = "\177ELF\2\1\1";
    size_t left;
    const uint8_t *at = shim_driver_data(&left);
    const uint8_t *end = at ? at + left : NULL;
    while (at && (at = memmem(at, (size_t)(end - at), magic, sizeof(magic) - 1))) {
        const size_t length = shim_native_code_length(at, (size_t)(end - at));
        if (length > 0 && add_own_module(at, length, space, start))
            return true;
        at++;
    }
    return false;
}

static struct shim_known_kernel *find_listed(uint64_t start)
{
    pthread_mutex_lock(&known.mutex);
    struct shim_known_kernel *kernel = find_locked(start);
    if (kernel)
        retain(kernel->module);
    pthread_mutex_unlock(&known.mutex);
    return kernel;
}

struct shim_known_kernel *shim_known_kernel_find(struct shim_address_space *space,
                                                 const struct shim_walker *walker)
{
    // One engine at a time looks for the driver's own kernels, so that none is listed twice: tiles
    // meet them at the same time. known.mutex may follow.
    static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;
    const uint64_t start = walker->start;
    struct shim_known_kernel *kernel = find_listed(start);
    if (kernel)
        return kernel;
    pthread_mutex_lock(&own_mutex);
    kernel = find_listed(start);
    if (!kernel && (match_known_own(space, start) || find_own_kernel(space, start)))
        kernel = find_listed(start);
    pthread_mutex_unlock(&own_mutex);
    return kernel;
}
