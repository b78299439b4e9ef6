// SPDX-License-Identifier: MIT
// Linking a set, in one of two ways that give the same results and the same errors.
#include "program/link/link_build.h"

#include "core/alloc.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/binary.h"
#include "program/build/binary_cache.h"
#include "program/build/native_image.h"
#include "program/build/ze_module.h"
#include "program/link/link_symbols.h"
#include "ze/ze.h"

// A link under way.
struct link {
    const struct zepi_link_set *set;
    struct zepi_symbols symbols; // sorted
};

// ---- As a program ----

// Makes the one ze_module from all SPIR-V.
static zepi_result_t make_linked_program(void *user, struct zepi_text *log,
                                         ze_module_handle_t *out_module)
{
    const struct link *link = user;
    const struct zepi_link_set *set = link->set;
    ze_module_handle_t module = NULL;
    bool has_imports = false;
    struct zepi_ze_module_input *inputs = zepi_allocate(set->count, sizeof(*inputs));
    if (!inputs)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count; i++) {
        const struct zepi_link_member *member = set->sorted[i];
        inputs[i] = (struct zepi_ze_module_input){member->image, member->values,
                                                  member->device_module->options};
    }
    zepi_result_t result =
        zepi_ze_module_compile_program(set->context, set->device, set->count, inputs, log, &module);
    zepi_free(inputs);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_ze_module_has_imports(module, &has_imports);
    if (result == ZEPI_SUCCESS && has_imports)
        result = zepi_fail_unresolved(&link->symbols, log);
    if (result != ZEPI_SUCCESS) {
        zepi_ze.zeModuleDestroy(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t list_link_sources(const struct zepi_link_set *set,
                                       struct zepi_blob ***out_sources)
{
    struct zepi_blob **sources = zepi_allocate(set->count, sizeof(struct zepi_blob *));
    if (!sources)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count; i++) {
        if (zepi_link_member_spirv(set->sorted[i]))
            sources[i] = set->sorted[i]->image->blob;
    }
    *out_sources = sources;
    return ZEPI_SUCCESS;
}

static zepi_result_t link_program(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module,
                                  uint64_t *out_size_bytes)
{
    const struct zepi_link_set *set = link->set;
    const struct zepi_binary_source source = {set->context, set->device, make_linked_program, link};
    ze_module_handle_t module = NULL;
    struct zepi_blob **sources = NULL;
    struct zepi_key key;
    zepi_result_t result = list_link_sources(set, &sources);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    zepi_key_add_device(&key, set->device);
    result = zepi_key_seal(&key) ? zepi_binary_get(&source, &key, log, &module, out_size_bytes)
                                 : zepi_fail_no_memory();
    zepi_key_finish(&key);
    if (result == ZEPI_SUCCESS) {
        result = zepi_device_module_create(set->context, set->device, 1, &module,
                                           ZEPI_OWNERSHIP_TRANSFER, set->count, sources,
                                           out_device_module);
        if (result != ZEPI_SUCCESS)
            zepi_ze.zeModuleDestroy(module);
    }
    zepi_free(sources);
    return result;
}

// ---- Dynamically ----

// A fresh ze_module of an object: the caller's alone, and not linked yet.
static zepi_result_t make_fresh_modules(const struct zepi_link_set *set,
                                        const struct zepi_link_member *member,
                                        struct zepi_fresh_module *fresh, uint64_t *size_bytes)
{
    const struct zepi_device_module_unit *unit = &member->device_module->units[member->unit];
    struct zepi_text log = {0};
    void *bytes = NULL;
    size_t size = 0;
    zepi_result_t result = zepi_ze_module_get_native(unit->ze, &bytes, &size);
    if (result == ZEPI_SUCCESS && size > 0)
        result = zepi_fresh_module_load(fresh, set->context, set->device, bytes, size, &log);
    else if ((result == ZEPI_SUCCESS || result == ZEPI_ERROR_UNSUPPORTED) &&
             zepi_link_member_spirv(member))
        result = zepi_ze_module_compile(set->context, set->device, member->image, member->values,
                                        member->device_module->options, ZEPI_IMPORTS_ALLOWED, &log,
                                        &fresh->ze);
    else if (result == ZEPI_SUCCESS)
        result = zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                           "the driver returns no native code for object %u, which is to be linked",
                           member->object_index);
    *size_bytes += size;
    zepi_free(bytes);
    zepi_text_finish(&log);
    return result;
}

static zepi_result_t link_dynamic(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module,
                                  uint64_t *out_size_bytes)
{
    const struct zepi_link_set *set = link->set;
    struct zepi_blob **sources = NULL;
    struct zepi_fresh_module *fresh;
    zepi_result_t result = list_link_sources(set, &sources);
    if (result != ZEPI_SUCCESS)
        return result;
    fresh = zepi_allocate(set->count, sizeof(*fresh));
    if (!fresh)
        result = zepi_fail_no_memory();
    *out_size_bytes = 0;
    for (uint32_t i = 0; i < set->count && result == ZEPI_SUCCESS; i++)
        result = make_fresh_modules(set, set->sorted[i], &fresh[i], out_size_bytes);
    if (result == ZEPI_SUCCESS) {
        result = zepi_device_module_create_fresh(set->context, set->device, set->count, fresh,
                                                 ZEPI_FRESH_LINKED, set->count, sources, log,
                                                 out_device_module);
        if (result == ZEPI_ERROR_LINK_FAILURE)
            result = zepi_fail_unresolved(&link->symbols, log);
    }
    if (fresh)
        zepi_fresh_modules_finish(set->count, fresh);
    zepi_free(fresh);
    zepi_free(sources);
    return result;
}

// ---- Both ----

static enum zepi_build_status make_linked_binary(void *user, struct zepi_build_output *output)
{
    const struct zepi_link_set *set = user;
    struct link link = {.set = set};
    struct zepi_text log = {0};
    struct zepi_device_module *device_module = NULL;
    uint64_t size_bytes = 0;
    zepi_result_t result = zepi_link_set_list_symbols(set, &link.symbols);
    if (result == ZEPI_SUCCESS)
        result = zepi_symbols_check(&link.symbols);
    if (result == ZEPI_SUCCESS)
        result = zepi_link_set_check_imports(set, &link.symbols);
    if (result == ZEPI_SUCCESS)
        result = set->method == ZEPI_LINK_PROGRAM
                     ? link_program(&link, &log, &device_module, &size_bytes)
                     : link_dynamic(&link, &log, &device_module, &size_bytes);
    zepi_symbols_finish(&link.symbols);
    if (result == ZEPI_SUCCESS) {
        output->payload = device_module;
        output->destroy = zepi_device_module_destroy;
        output->cost_bytes = zepi_device_module_cost_bytes(device_module, size_bytes);
    } else if (result == ZEPI_ERROR_LINK_FAILURE && !log.bytes) {
        const char *text = zepi_last_error(NULL);
        zepi_text_append(&log, text, strlen(text));
    }
    return zepi_device_module_end_build(output, result, &log);
}

// The sentence of a failure that was kept may number the objects in another caller's order.
static void name_linked_objects(const struct zepi_link_set *set)
{
    struct zepi_symbols symbols = {0};
    struct zepi_error kept;
    zepi_error_save(&kept);
    if (zepi_link_set_list_symbols(set, &symbols) != ZEPI_SUCCESS ||
        zepi_symbols_check(&symbols) != ZEPI_ERROR_LINK_FAILURE)
        zepi_error_restore(&kept);
    zepi_symbols_finish(&symbols);
}

// Whether the code will have variables that are to be the module's own.
static bool has_private_variables(const struct zepi_link_set *set,
                                  const struct zepi_build_options *options)
{
    bool has_variables = false;
    for (uint32_t i = 0; i < set->count; i++)
        has_variables = has_variables || zepi_device_image_has_variables(set->members[i].image);
    return has_variables && options->variables == ZEPI_VARIABLES_OWN;
}

static zepi_result_t find_or_link(const struct zepi_link_set *set,
                                  const struct zepi_build_request *build,
                                  const struct zepi_build_options *options,
                                  struct zepi_build_result **out_result)
{
    struct zepi_key key;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    zepi_key_add_u32(&key, ZEPI_KEY_DEVICE_INDEX, set->device_index);
    const zepi_result_t result =
        zepi_key_seal(&key) ? zepi_device_module_find_or_build(set->context, set->device_index,
                                                               &key, build, options, out_result)
                            : zepi_fail_no_memory();
    zepi_key_finish(&key);
    return result;
}

zepi_result_t zepi_link_set_get_code(const struct zepi_link_set *set,
                                     const struct zepi_build_options *options,
                                     struct zepi_build_result **out_result)
{
    const struct zepi_build_request build = {.build = make_linked_binary, .user = (void *)set};
    const zepi_result_t result =
        has_private_variables(set, options)
            ? zepi_device_module_build_private(set->context, set->device_index, &build, options,
                                               out_result)
            : find_or_link(set, &build, options, out_result);
    if (result == ZEPI_ERROR_LINK_FAILURE)
        name_linked_objects(set);
    return result;
}
