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

// The linkage table of the set: from the SPIR-V; of native code, from the driver. Without clashes
// it is sorted. To be finished in any case.
static zepi_result_t list_symbols(const struct zepi_link_set *set, struct zepi_symbols *symbols)
{
    bool is_added = true;
    *symbols = (struct zepi_symbols){0};
    for (uint32_t i = 0; i < set->count && is_added; i++) {
        struct zepi_link_member *member = &set->members[i];
        const struct zepi_spirv *spirv = zepi_link_member_spirv(member);
        is_added = spirv ? zepi_symbols_add_spirv(symbols, spirv, i, member->object_index)
                         : add_native_symbols(symbols, member, i);
    }
    return is_added ? zepi_symbols_check(symbols) : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

// A link under way.
struct link {
    const struct zepi_link_set *set;
    struct zepi_symbols symbols;
    struct zepi_blob **sources; // owned list; in the order of the sorted members, NULL: native code
};

static struct zepi_compile_input link_member_input(const struct zepi_link_member *member)
{
    return (struct zepi_compile_input){member->image, member->values,
                                       member->device_module->options};
}

// ---- As a program ----

static zepi_result_t link_program(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module)
{
    const struct zepi_link_set *set = link->set;
    struct zepi_key key;
    struct zepi_compile_input *inputs = zepi_allocate(set->count, sizeof(*inputs));
    if (!inputs)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count; i++)
        inputs[i] = link_member_input(set->sorted[i]);
    const struct zepi_compile compile = {.context = set->context,
                                         .device = set->device,
                                         .kind = ZEPI_COMPILE_PROGRAM,
                                         .count = set->count,
                                         .inputs = inputs,
                                         .symbols = &link->symbols};
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    const zepi_result_t result =
        zepi_binary_build(&compile, &key, link->sources, log, out_device_module);
    zepi_key_finish(&key);
    zepi_free(inputs);
    return result;
}

// ---- Dynamically ----

// A ze_module of an object: the link's alone, and not linked yet.
static zepi_result_t make_unlinked_module(const struct zepi_link_set *set,
                                          const struct zepi_link_member *member,
                                          struct zepi_ze_module *made)
{
    const struct zepi_compile_input input = link_member_input(member);
    const struct zepi_compile compile = {.context = set->context,
                                         .device = set->device,
                                         .kind = ZEPI_COMPILE_OBJECT,
                                         .count = 1,
                                         .inputs = &input};
    struct zepi_text log = {0};
    zepi_result_t result =
        zepi_ze_module_load_again(made, member->device_module, member->ze_module, &log);
    if (result == ZEPI_ERROR_UNSUPPORTED && zepi_link_member_spirv(member))
        result = zepi_compile_spirv(&compile, &log, &made->ze);
    else if (result == ZEPI_ERROR_UNSUPPORTED)
        zepi_error_prepend("object %u, which is to be linked: ", member->object_index);
    zepi_text_finish(&log);
    return result;
}

static zepi_result_t link_dynamic(struct link *link, struct zepi_text *log,
                                  struct zepi_device_module **out_device_module)
{
    const struct zepi_link_set *set = link->set;
    struct zepi_ze_module *made = zepi_allocate(set->count, sizeof(*made));
    zepi_result_t result = made ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count && result == ZEPI_SUCCESS; i++)
        result = make_unlinked_module(set, set->sorted[i], &made[i]);
    if (result == ZEPI_SUCCESS) {
        result = zepi_ze_modules_link(set->count, made, log);
        if (result == ZEPI_ERROR_LINK_FAILURE)
            result = zepi_symbols_fail_missing(&link->symbols, log->bytes);
    }
    if (result == ZEPI_SUCCESS)
        result = zepi_device_module_create(set->context, set->device, set->count, made, set->count,
                                           link->sources, out_device_module);
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
    zepi_result_t result = list_symbols(set, &link.symbols);
    if (result == ZEPI_SUCCESS)
        result = list_sources(&link);
    if (result == ZEPI_SUCCESS)
        result = set->method == ZEPI_LINK_PROGRAM ? link_program(&link, &log, &device_module)
                                                  : link_dynamic(&link, &log, &device_module);
    zepi_symbols_finish(&link.symbols);
    zepi_free(link.sources);
    if (result == ZEPI_ERROR_LINK_FAILURE && !log.bytes) {
        const char *text = zepi_last_error(NULL);
        zepi_text_append(&log, text, strlen(text));
    }
    return zepi_device_module_end_build(output, result, device_module, &log);
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
    struct zepi_key key;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, set);
    const zepi_result_t result = zepi_device_module_find_or_build(
        set->context, set->device_index, options, has_private_variables(set, options) ? NULL : &key,
        make_linked_binary, (void *)set, out_result);
    zepi_key_finish(&key);
    if (result == ZEPI_ERROR_LINK_FAILURE)
        name_linked_objects(set);
    return result;
}
