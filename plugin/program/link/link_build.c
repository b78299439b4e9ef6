// SPDX-License-Identifier: MIT
// Linking a set, in one of two ways that give the same results and the same errors.
#include "program/link/link_build.h"

#include "core/alloc.h"
#include "device/device.h"
#include "program/build/binary.h"
#include "program/build/compile.h"
#include "program/build/device_build.h"
#include "program/build/native_image.h"
#include "program/build/native_symbols.h"
#include "program/build/ze_module.h"
#include "ze/ze.h"

#include <ctype.h>

// ---- Symbols ----

static bool add_native_symbols(struct zepi_symbols *symbols, struct zepi_link_member *member,
                               uint32_t index)
{
    const struct zepi_ze_module *ze_module = &member->device_module->ze_modules[member->ze_module];
    bool is_added = true;
    for (uint32_t i = 0; i < ze_module->kernel_count && is_added; i++)
        is_added = zepi_symbols_add_kernel(symbols, ze_module->kernel_names[i], index,
                                           member->object_index);
    if (!member->table)
        member->table = zepi_native_symbols_find(member->device_module, ze_module);
    return is_added && (!member->table || zepi_native_symbols_add(symbols, member->table, index,
                                                                  member->object_index));
}

static bool add_spirv_symbols(struct zepi_symbols *symbols, const struct zepi_spirv *spirv,
                              uint32_t index, uint32_t object)
{
    bool is_added = true;
    for (uint32_t i = 0; i < spirv->kernel_count && is_added; i++)
        is_added = zepi_symbols_add_kernel(symbols, spirv->kernels[i].name, index, object);
    for (uint32_t i = 0; i < spirv->symbol_count && is_added; i++)
        is_added = zepi_symbols_add_linked(symbols, &spirv->symbols[i], index, object);
    return is_added;
}

// The linkage table of the set: from the SPIR-V; of native code, from the driver. Without clashes
// it is sorted. To be finished in any case.
static zepi_result_t list_symbols(const struct zepi_link_set *set, struct zepi_symbols *symbols)
{
    bool is_added = true;
    *symbols = (struct zepi_symbols){0};
    for (uint32_t i = 0; i < set->count && is_added; i++) {
        struct zepi_link_member *member = &set->members[i];
        const struct zepi_spirv *spirv = zepi_link_member_spirv(member);
        is_added = spirv ? add_spirv_symbols(symbols, spirv, i, member->object_index)
                         : add_native_symbols(symbols, member, i);
    }
    return is_added ? zepi_symbols_check(symbols) : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

// ---- Missing symbols ----

static bool is_symbol_missing(const struct zepi_symbols *symbols, const struct zepi_symbol *symbol)
{
    return symbol->linkage == ZEPI_SPIRV_IMPORT && !zepi_symbols_is_defined(symbols, symbol->name);
}

// Whether the text has the name as a word of its own.
static bool text_has_word(const struct zepi_text *text, const char *name)
{
    const size_t length = strlen(name);
    const char *at = text->bytes ? text->bytes : "";
    for (; (at = strstr(at, name)); at += length) {
        const bool begins = at == text->bytes || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        const bool ends = !isalnum((unsigned char)at[length]) && at[length] != '_';
        if (begins && ends)
            return true;
    }
    return false;
}

static bool is_named_in_log(const struct zepi_symbols *symbols, const struct zepi_text *log)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (is_symbol_missing(symbols, &symbols->list[i]) &&
            text_has_word(log, symbols->list[i].name))
            return true;
    }
    return false;
}

// Notes that the driver cannot link, with the undefined symbols: those that the driver's log names,
// or all if it names none of them.
static zepi_result_t fail_unresolved(const struct zepi_symbols *symbols,
                                     const struct zepi_text *log)
{
    const bool is_filtered = is_named_in_log(symbols, log);
    const char *last = NULL;
    zepi_fail(ZEPI_ERROR_LINK_FAILURE, "no object defines what the objects import:");
    for (size_t i = 0; i < symbols->count; i++) {
        const struct zepi_symbol *symbol = &symbols->list[i];
        if (!is_symbol_missing(symbols, symbol) ||
            (is_filtered && !text_has_word(log, symbol->name)))
            continue;
        if (last && strcmp(last, symbol->name) == 0)
            continue;
        zepi_error_append("%s %s '%s' (object %u)", last ? "," : "",
                          zepi_symbol_kind_name(symbol->kind), symbol->name, symbol->object);
        last = symbol->name;
    }
    if (!last)
        zepi_error_append(" the driver says: %.1024s", log->bytes ? log->bytes : "nothing");
    return ZEPI_ERROR_LINK_FAILURE;
}

// A link under way.
struct link {
    const struct zepi_link_set *set;
    struct zepi_symbols symbols;
    struct zepi_blob **sources; // owned list; in the order of the sorted members, NULL: native code
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
    zepi_result_t result = zepi_compile_spirv(set->context, set->device, set->count, inputs,
                                              ZEPI_COMPILE_PROGRAM, log, &module);
    zepi_free(inputs);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_ze_module_has_imports(module, &has_imports);
    if (result == ZEPI_SUCCESS && has_imports)
        result = fail_unresolved(&link->symbols, log);
    if (result != ZEPI_SUCCESS) {
        zepi_ze.zeModuleDestroy(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t link_program(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module,
                                  uint64_t *out_size_bytes)
{
    const struct zepi_link_set *set = link->set;
    const struct zepi_binary_source source = {set->context, set->device, make_linked_program, link};
    struct zepi_key key;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    const zepi_result_t result = zepi_binary_build(&source, &key, set->count, link->sources, log,
                                                   out_device_module, out_size_bytes);
    zepi_key_finish(&key);
    return result;
}

// ---- Dynamically ----

// A ze_module of an object: the link's alone, and not linked yet.
static zepi_result_t make_unlinked_module(const struct zepi_link_set *set,
                                          const struct zepi_link_member *member,
                                          struct zepi_ze_module *made, uint64_t *size_bytes)
{
    const struct zepi_ze_module_input input = {member->image, member->values,
                                               member->device_module->options};
    struct zepi_text log = {0};
    struct zepi_blob *native = NULL;
    zepi_result_t result =
        zepi_ze_module_native_blob(&member->device_module->ze_modules[member->ze_module], &native);
    if (native) {
        *size_bytes += native->size_bytes;
        result = zepi_ze_module_load_native(made, set->context, set->device, native, &log);
    } else if ((result == ZEPI_SUCCESS || result == ZEPI_ERROR_UNSUPPORTED) &&
               zepi_link_member_spirv(member)) {
        result = zepi_compile_spirv(set->context, set->device, 1, &input, ZEPI_COMPILE_OBJECT, &log,
                                    &made->ze);
    } else if (result == ZEPI_SUCCESS) {
        result = zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                           "the driver returns no native code for object %u, which is to be linked",
                           member->object_index);
    }
    zepi_blob_release(native);
    zepi_text_finish(&log);
    return result;
}

static zepi_result_t link_dynamic(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module,
                                  uint64_t *out_size_bytes)
{
    const struct zepi_link_set *set = link->set;
    struct zepi_ze_module *made = zepi_allocate(set->count, sizeof(*made));
    zepi_result_t result = made ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count && result == ZEPI_SUCCESS; i++)
        result = make_unlinked_module(set, set->sorted[i], &made[i], out_size_bytes);
    if (result == ZEPI_SUCCESS) {
        result = zepi_device_module_link(set->context, set->device, set->count, made,
                                         ZEPI_MODULE_EXECUTABLE, set->count, link->sources, log,
                                         out_device_module);
        if (result == ZEPI_ERROR_LINK_FAILURE)
            result = fail_unresolved(&link->symbols, log);
    }
    zepi_ze_modules_finish(set->count, made);
    return result;
}

// ---- Both ----

static zepi_result_t list_sources(struct link *link)
{
    const struct zepi_link_set *set = link->set;
    link->sources = zepi_allocate(set->count, sizeof(struct zepi_blob *));
    if (!link->sources)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count; i++) {
        if (zepi_link_member_spirv(set->sorted[i]))
            link->sources[i] = set->sorted[i]->image->blob;
    }
    return ZEPI_SUCCESS;
}

static enum zepi_build_status make_linked_binary(void *user, struct zepi_build_output *output)
{
    const struct zepi_link_set *set = user;
    struct link link = {.set = set};
    struct zepi_text log = {0};
    struct zepi_device_module *device_module = NULL;
    uint64_t size_bytes = 0;
    zepi_result_t result = list_symbols(set, &link.symbols);
    if (result == ZEPI_SUCCESS)
        result = list_sources(&link);
    if (result == ZEPI_SUCCESS)
        result = set->method == ZEPI_LINK_PROGRAM
                     ? link_program(&link, &log, &device_module, &size_bytes)
                     : link_dynamic(&link, &log, &device_module, &size_bytes);
    zepi_symbols_finish(&link.symbols);
    zepi_free(link.sources);
    if (result == ZEPI_ERROR_LINK_FAILURE && !log.bytes) {
        const char *text = zepi_last_error(NULL);
        zepi_text_append(&log, text, strlen(text));
    }
    return zepi_device_module_end_build(output, result, device_module, size_bytes, &log);
}

// The sentence of a failure that was kept may number the objects in another caller's order.
static void name_linked_objects(const struct zepi_link_set *set)
{
    struct zepi_symbols symbols;
    struct zepi_error kept;
    zepi_error_save(&kept);
    if (list_symbols(set, &symbols) != ZEPI_ERROR_LINK_FAILURE)
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

zepi_result_t zepi_link_set_get_code(const struct zepi_link_set *set,
                                     const struct zepi_build_options *options,
                                     struct zepi_build_result **out_result)
{
    const struct zepi_build_request build = {.build = make_linked_binary, .user = (void *)set};
    struct zepi_build_result *found;
    struct zepi_key key;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    zepi_result_t result = zepi_device_module_find_or_build(
        set->context, set->device_index, has_private_variables(set, options) ? NULL : &key, &build,
        &found);
    zepi_key_finish(&key);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_module_hand_out(options, set->device, found, out_result);
    if (result == ZEPI_ERROR_LINK_FAILURE)
        name_linked_objects(set);
    return result;
}
