// SPDX-License-Identifier: MIT
#include "program/build/ze_module.h"

#include "core/alloc.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/compile_watch.h"
#include "program/build/compiler.h"
#include "ze/ze.h"

#include <stdio.h>
#include <stdlib.h>

void zepi_ze_module_take_log(ze_module_build_log_handle_t ze_log, struct zepi_text *log)
{
    size_t size = 0;
    if (!ze_log)
        return;
    if (zepi_ze.zeModuleBuildLogGetString(ze_log, &size, NULL) == ZE_RESULT_SUCCESS && size > 1) {
        char *text = zepi_allocate(size + 1, 1);
        if (text && zepi_ze.zeModuleBuildLogGetString(ze_log, &size, text) == ZE_RESULT_SUCCESS)
            zepi_text_append(log, text, strnlen(text, size));
        zepi_free(text);
    }
    zepi_ze.zeModuleBuildLogDestroy(ze_log);
}

// The first line of a log, for a sentence.
static const char *first_log_line(const struct zepi_text *log, char *line, size_t line_size)
{
    if (!log->bytes)
        return "the driver's compiler says nothing";
    const size_t length = strcspn(log->bytes, "\r\n");
    snprintf(line, line_size, "%.*s", (int)(length < line_size ? length : line_size - 1),
             log->bytes);
    return line;
}

static zepi_result_t check_created(ze_result_t ze, const struct zepi_text *log)
{
    char line[512];
    const zepi_result_t result = zepi_check_ze(ze, "zeModuleCreate");
    if (result == ZEPI_ERROR_COMPILE_FAILURE)
        zepi_error_append(": %s", first_log_line(log, line, sizeof(line)));
    return result;
}

zepi_result_t zepi_ze_module_create(struct zepi_context *context, const struct zepi_device *device,
                                    const ze_module_desc_t *desc, struct zepi_text *log,
                                    ze_module_handle_t *out_module)
{
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t ze_log = NULL;
    unsigned attempt = 0;
    ze_result_t ze;
    do {
        if (ze_log)
            zepi_ze.zeModuleBuildLogDestroy(ze_log);
        ze_log = NULL;
        ze = zepi_ze.zeModuleCreate(context->ze, device->ze, desc, &module, &ze_log);
    } while (zepi_context_reclaim(context, ze, &attempt));
    zepi_ze_module_take_log(ze_log, log);
    if (ze == ZE_RESULT_SUCCESS)
        *out_module = module;
    return check_created(ze, log);
}

// SPIR-V with the compiler in a process of its own: its native code becomes the module here, as
// code from the disk does. Code that the driver does not hand out is compiled here, by a compiler
// that has managed it there.
static zepi_result_t ze_module_create_elsewhere(struct zepi_context *context,
                                                const struct zepi_device *device,
                                                const ze_module_desc_t *desc, const char *kernels,
                                                struct zepi_text *log,
                                                ze_module_handle_t *out_module)
{
    void *native;
    size_t native_bytes;
    struct zepi_text load_log = {0};
    zepi_result_t result =
        zepi_compiler_compile(device, desc, kernels, log, &native, &native_bytes);
    if (result == ZEPI_SUCCESS)
        result = native ? zepi_ze_module_load(context, device, native, native_bytes, &load_log,
                                              out_module)
                        : zepi_ze_module_create(context, device, desc, &load_log, out_module);
    if (result != ZEPI_SUCCESS && load_log.bytes)
        zepi_text_append(log, load_log.bytes, load_log.size_bytes);
    zepi_text_finish(&load_log);
    zepi_free(native);
    return result;
}

static zepi_result_t ze_module_create_from_spirv(struct zepi_context *context,
                                                 const struct zepi_device *device,
                                                 const ze_module_desc_t *desc, const char *kernels,
                                                 struct zepi_text *log,
                                                 ze_module_handle_t *out_module)
{
    return zepi_options()->has_compiler_processes
               ? ze_module_create_elsewhere(context, device, desc, kernels, log, out_module)
               : zepi_ze_module_create(context, device, desc, log, out_module);
}

// The constants as Level Zero takes them: ids ascending, one pointer a value.
struct constants {
    ze_module_constants_t ze;
    uint32_t *ids;
    const void **values;
};

static void constants_finish(struct constants *constants)
{
    zepi_free(constants->ids);
    zepi_free(constants->values);
}

static bool constants_init(struct constants *constants, const struct zepi_device_image *image,
                           const struct zepi_spec_values *values)
{
    const struct zepi_spirv *spirv = &image->blob->spirv;
    *constants =
        (struct constants){.ids = zepi_allocate(image->declaration_count, sizeof(uint32_t)),
                           .values = zepi_allocate(image->declaration_count, sizeof(void *))};
    if (!constants->ids || !constants->values) {
        constants_finish(constants);
        *constants = (struct constants){0};
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        const uint8_t *value = zepi_spec_effective(declaration, values);
        // Both lists are sorted by id, and have the same ids.
        if (memcmp(value, spirv->constants[i].default_value, declaration->size_bytes) == 0)
            continue;
        constants->ids[count] = declaration->id;
        constants->values[count] = value;
        count++;
    }
    constants->ze = (ze_module_constants_t){count, constants->ids, constants->values};
    return true;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

const char *zepi_find_kernel_name(const char *const *names, uint32_t count, const char *name)
{
    const char *const *found =
        count > 0 ? bsearch(&name, names, count, sizeof(*names), compare_names) : NULL;
    return found ? *found : NULL;
}

// A build that failed may succeed (quirk failed-builds-succeed): the kernels tell.
static zepi_result_t check_kernels_named(ze_module_handle_t module, const struct zepi_spirv *spirv)
{
    const char **names;
    uint32_t count;
    zepi_result_t result = zepi_ze_module_get_kernel_names(module, &names, &count);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < spirv->kernel_count && names && result == ZEPI_SUCCESS; i++) {
        if (!zepi_find_kernel_name(names, count, spirv->kernels[i].name))
            result = zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                               "zeModuleCreate returned success, but the module lacks kernel '%s'",
                               spirv->kernels[i].name);
    }
    zepi_free(names);
    return result;
}

// The unresolved symbols that the driver names, as text; empty if it names none.
static void inspect_linkage(const struct zepi_context *context, ze_module_handle_t module,
                            struct zepi_text *out_text)
{
    ze_linkage_inspection_ext_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC,
        .flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS};
    ze_module_build_log_handle_t ze_log = NULL;
    if (!context->platform->optional.has_linkage_inspection)
        return;
    if (zepi_ze.zeModuleInspectLinkageExt(&desc, 1, &module, &ze_log) == ZE_RESULT_SUCCESS)
        zepi_ze_module_take_log(ze_log, out_text);
}

static zepi_result_t fail_missing_imports(const struct zepi_context *context,
                                          ze_module_handle_t module, const struct zepi_spirv *spirv)
{
    struct zepi_text inspected = {0};
    inspect_linkage(context, module, &inspected);
    bool is_told = false;
    for (uint32_t i = 0; i < spirv->symbol_count && inspected.bytes && !is_told; i++)
        is_told = spirv->symbols[i].linkage == ZEPI_SPIRV_IMPORT &&
                  strstr(inspected.bytes, spirv->symbols[i].name) != NULL;
    zepi_fail(ZEPI_ERROR_LINK_FAILURE, "no module defines what this one imports:");
    for (uint32_t i = 0; i < spirv->symbol_count; i++) {
        const struct zepi_spirv_symbol *symbol = &spirv->symbols[i];
        if (symbol->linkage == ZEPI_SPIRV_IMPORT &&
            (!is_told || strstr(inspected.bytes, symbol->name)))
            zepi_error_append(" %s '%s'", symbol->is_function ? "function" : "variable",
                              symbol->name);
    }
    zepi_text_finish(&inspected);
    return ZEPI_ERROR_LINK_FAILURE;
}

zepi_result_t zepi_ze_module_has_imports(ze_module_handle_t module, bool *out_has)
{
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    const zepi_result_t result = ZEPI_ZE(zeModuleGetProperties, module, &properties);
    if (result == ZEPI_SUCCESS)
        *out_has = properties.flags & ZE_MODULE_PROPERTY_FLAG_IMPORTS;
    return result;
}

// An import is unresolved if the driver says so: drivers supply some themselves.
static zepi_result_t check_no_import_missing(const struct zepi_context *context,
                                             ze_module_handle_t module,
                                             const struct zepi_spirv *spirv)
{
    bool has_imports = false;
    for (uint32_t i = 0; i < spirv->symbol_count && !has_imports; i++)
        has_imports = spirv->symbols[i].linkage == ZEPI_SPIRV_IMPORT;
    if (!has_imports)
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_ze_module_has_imports(module, &has_imports);
    if (result != ZEPI_SUCCESS)
        return result;
    return has_imports ? fail_missing_imports(context, module, spirv) : ZEPI_SUCCESS;
}

// Without these, an object may offer its functions and variables to no other module (quirk
// exports-need-options).
#define EXPORTING_FLAGS "-library-compilation -ze-take-global-address"

static bool inputs_have_exports(const struct zepi_spirv *spirv)
{
    bool has = false;
    for (uint32_t i = 0; i < spirv->symbol_count && !has; i++)
        has = spirv->symbols[i].linkage != ZEPI_SPIRV_IMPORT;
    return has;
}

// The options that the driver gets, owned.
static char *make_build_flags(const struct zepi_spirv *spirv, const char *options,
                              enum zepi_imports imports)
{
    const bool is_exporting = imports == ZEPI_IMPORTS_ALLOWED && inputs_have_exports(spirv);
    const size_t room = strlen(options) + sizeof(" " EXPORTING_FLAGS);
    char *flags = zepi_allocate(room, 1);
    if (flags)
        snprintf(flags, room, "%s%s%s", options, is_exporting && options[0] ? " " : "",
                 is_exporting ? EXPORTING_FLAGS : "");
    return flags;
}

#define KERNELS_TEXT_BYTES 256
#define LONG_COMPILE_NS UINT64_C(1000000000)

// Names of the kernels, as many as there is room for.
static void describe_kernels(uint32_t count, const struct zepi_ze_module_input *inputs, char *text,
                             size_t size)
{
    size_t length = 0;
    uint32_t left = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const struct zepi_spirv *spirv = &inputs[i].image->blob->spirv;
        for (uint32_t at = 0; at < spirv->kernel_count; at++) {
            const char *name = spirv->kernels[at].name;
            const size_t more = strlen(name) + strlen(", ");
            if (left > 0 || more + sizeof(" and 4294967295 more") > size - length)
                left++;
            else
                length += (size_t)snprintf(text + length, size - length, "%s%s",
                                           length > 0 ? ", " : "", name);
        }
    }
    if (left > 0)
        snprintf(text + length, size - length, "%s%u more",
                 length > 0 ? " and " : "kernels: ", left);
    else if (length == 0)
        snprintf(text, size, "no kernels");
}

// Compiles, and says it of a compile that takes long.
static zepi_result_t compile(struct zepi_context *context, const struct zepi_device *device,
                             const ze_module_desc_t *desc, size_t spirv_bytes, const char *kernels,
                             struct zepi_text *log, ze_module_handle_t *out_module)
{
    struct zepi_compile_watch watch;
    const uint64_t begin_ns = zepi_clock_ns();
    zepi_compile_watch_begin(&watch, kernels, spirv_bytes);
    const zepi_result_t result =
        ze_module_create_from_spirv(context, device, desc, kernels, log, out_module);
    const bool is_told = zepi_compile_watch_end(&watch);
    const uint64_t duration_ns = zepi_clock_ns() - begin_ns;
    zepi_stats_note_compile(kernels, duration_ns, result == ZEPI_SUCCESS);
    if (is_told)
        zepi_compile_watch_tell("the build for '%s' took %.1f s: %s", device->properties.name,
                                (double)duration_ns / 1e9, kernels);
    else if (duration_ns > LONG_COMPILE_NS)
        zepi_log(ZEPI_LOG_INFO, "the build for '%s' took %.1f s: %s", device->properties.name,
                 (double)duration_ns / 1e9, kernels);
    return result;
}

zepi_result_t zepi_ze_module_compile(struct zepi_context *context, const struct zepi_device *device,
                                     const struct zepi_device_image *image,
                                     const struct zepi_spec_values *values, const char *options,
                                     enum zepi_imports imports, struct zepi_text *log,
                                     ze_module_handle_t *out_module)
{
    char kernels[KERNELS_TEXT_BYTES];
    struct constants constants;
    ze_module_handle_t module = NULL;
    const struct zepi_ze_module_input input = {.image = image};
    if (!constants_init(&constants, image, values))
        return zepi_fail_no_memory();
    char *flags = make_build_flags(&image->blob->spirv, options, imports);
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
        .inputSize = image->blob->size_bytes,
        .pInputModule = image->blob->bytes,
        .pBuildFlags = flags,
        .pConstants = constants.ze.numConstants > 0 ? &constants.ze : NULL,
    };
    describe_kernels(1, &input, kernels, sizeof(kernels));
    zepi_result_t result =
        flags ? compile(context, device, &desc, image->blob->size_bytes, kernels, log, &module)
              : zepi_fail_no_memory();
    constants_finish(&constants);
    zepi_free(flags);
    if (result != ZEPI_SUCCESS)
        return result;
    if (imports == ZEPI_IMPORTS_RESOLVED)
        result = check_no_import_missing(context, module, &image->blob->spirv);
    if (result == ZEPI_SUCCESS)
        result = check_kernels_named(module, &image->blob->spirv);
    if (result != ZEPI_SUCCESS) {
        zepi_ze.zeModuleDestroy(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

// The inputs of a program as Level Zero takes them.
struct program {
    ze_module_program_exp_desc_t ze;
    size_t *sizes;
    const uint8_t **bytes;
    const char **flags;
    const ze_module_constants_t **constant_lists; // NULL: none
    struct constants *constants;
    uint32_t count;
};

static void program_finish(struct program *program)
{
    for (uint32_t i = 0; program->constants && i < program->count; i++)
        constants_finish(&program->constants[i]);
    zepi_free(program->sizes);
    zepi_free((void *)program->bytes);
    zepi_free((void *)program->flags);
    zepi_free((void *)program->constant_lists);
    zepi_free(program->constants);
}

static bool program_init(struct program *program, uint32_t count,
                         const struct zepi_ze_module_input *inputs)
{
    *program = (struct program){
        .sizes = zepi_allocate(count, sizeof(size_t)),
        .bytes = zepi_allocate(count, sizeof(uint8_t *)),
        .flags = zepi_allocate(count, sizeof(char *)),
        .constant_lists = zepi_allocate(count, sizeof(ze_module_constants_t *)),
        .constants = zepi_allocate(count, sizeof(struct constants)),
        .count = count,
    };
    bool is_made = program->sizes && program->bytes && program->flags && program->constant_lists &&
                   program->constants;
    bool has_constants = false;
    for (uint32_t i = 0; i < count && is_made; i++) {
        const struct zepi_device_image *image = inputs[i].image;
        is_made = constants_init(&program->constants[i], image, inputs[i].values);
        program->sizes[i] = image->blob->size_bytes;
        program->bytes[i] = image->blob->bytes;
        program->flags[i] = inputs[i].options;
        program->constant_lists[i] = &program->constants[i].ze;
        has_constants = has_constants || program->constants[i].ze.numConstants > 0;
    }
    program->ze = (ze_module_program_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = count,
        .inputSizes = program->sizes,
        .pInputModules = program->bytes,
        .pBuildFlags = program->flags,
        .pConstants = has_constants ? program->constant_lists : NULL,
    };
    if (!is_made)
        program_finish(program);
    return is_made;
}

zepi_result_t zepi_ze_module_compile_program(struct zepi_context *context,
                                             const struct zepi_device *device, uint32_t count,
                                             const struct zepi_ze_module_input *inputs,
                                             struct zepi_text *log, ze_module_handle_t *out_module)
{
    char kernels[KERNELS_TEXT_BYTES];
    struct program program;
    ze_module_handle_t module = NULL;
    if (!program_init(&program, count, inputs))
        return zepi_fail_no_memory();
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .pNext = &program.ze,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
    };
    describe_kernels(count, inputs, kernels, sizeof(kernels));
    size_t spirv_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        spirv_bytes += inputs[i].image->blob->size_bytes;
    zepi_result_t result = compile(context, device, &desc, spirv_bytes, kernels, log, &module);
    program_finish(&program);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = check_kernels_named(module, &inputs[i].image->blob->spirv);
    if (result != ZEPI_SUCCESS) {
        zepi_ze.zeModuleDestroy(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ze_module_link(uint32_t count, const ze_module_handle_t *modules,
                                  struct zepi_text *log)
{
    char line[512];
    ze_module_build_log_handle_t ze_log = NULL;
    const ze_result_t ze =
        zepi_ze.zeModuleDynamicLink(count, (ze_module_handle_t *)modules, &ze_log);
    zepi_ze_module_take_log(ze_log, log);
    const zepi_result_t result = zepi_check_ze(ze, "zeModuleDynamicLink");
    if (result == ZEPI_ERROR_LINK_FAILURE)
        zepi_error_append(": %s", first_log_line(log, line, sizeof(line)));
    return result;
}

zepi_result_t zepi_ze_module_load(struct zepi_context *context, const struct zepi_device *device,
                                  const void *bytes, size_t size_bytes, struct zepi_text *log,
                                  ze_module_handle_t *out_module)
{
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = size_bytes,
        .pInputModule = bytes,
    };
    return zepi_ze_module_create(context, device, &desc, log, out_module);
}

zepi_result_t zepi_ze_module_get_native(ze_module_handle_t module, void **out_bytes,
                                        size_t *out_size_bytes)
{
    size_t size = 0;
    zepi_result_t result = ZEPI_ZE(zeModuleGetNativeBinary, module, &size, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_bytes = NULL;
    *out_size_bytes = 0;
    if (size == 0)
        return ZEPI_SUCCESS;
    uint8_t *bytes = zepi_allocate(size, 1);
    if (!bytes)
        return zepi_fail_no_memory();
    result = ZEPI_ZE(zeModuleGetNativeBinary, module, &size, bytes);
    if (result != ZEPI_SUCCESS) {
        zepi_free(bytes);
        return result;
    }
    *out_bytes = bytes;
    *out_size_bytes = size;
    return ZEPI_SUCCESS;
}

// Copies names into one block of memory: the pointers, then the characters.
static const char **copy_names(const char *const *names, uint32_t count)
{
    size_t size = count * sizeof(char *);
    for (uint32_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    const char **copies = zepi_allocate(size, 1);
    if (!copies)
        return NULL;
    char *at = (char *)(copies + count);
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]) + 1;
        copies[i] = memcpy(at, names[i], length);
        at += length;
    }
    return copies;
}

zepi_result_t zepi_ze_module_get_kernel_names(ze_module_handle_t module, const char ***out_names,
                                              uint32_t *out_count)
{
    uint32_t count = 0;
    *out_names = NULL;
    *out_count = 0;
    zepi_result_t result = ZEPI_ZE(zeModuleGetKernelNames, module, &count, NULL);
    if (result != ZEPI_SUCCESS || count == 0)
        return result;
    const char **names = zepi_allocate(count, sizeof(char *));
    if (!names)
        return zepi_fail_no_memory();
    result = ZEPI_ZE(zeModuleGetKernelNames, module, &count, names);
    if (result == ZEPI_SUCCESS) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (names[i] && strcmp(names[i], ZEPI_QUIRK_HIDDEN_KERNEL) != 0)
                names[kept++] = names[i];
        }
        qsort(names, kept, sizeof(*names), compare_names);
        *out_names = copy_names(names, kept);
        *out_count = kept;
        if (!*out_names)
            result = zepi_fail_no_memory();
    }
    zepi_free(names);
    return result;
}
