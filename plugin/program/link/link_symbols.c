// SPDX-License-Identifier: MIT
#include "program/link/link_symbols.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/platform.h"
#include "program/build/native_symbols.h"
#include "program/build/ze_module.h"
#include "ze/ze.h"

#include <ctype.h>

// ---- Listing ----

static zepi_result_t add_native_symbols(struct zepi_symbols *symbols,
                                        struct zepi_link_member *member, uint32_t index)
{
    const struct zepi_device_module_unit *unit = &member->device_module->units[member->unit];
    for (uint32_t i = 0; i < unit->kernel_count; i++) {
        if (!zepi_symbols_add(symbols, &(struct zepi_symbol){.name = unit->kernel_names[i],
                                                             .kind = ZEPI_SYMBOL_KERNEL,
                                                             .linkage = ZEPI_SPIRV_EXPORT,
                                                             .member = index,
                                                             .object = member->object_index}))
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!member->table)
        member->table = zepi_native_symbols_find(member->device_module, unit);
    return !member->table ||
                   zepi_native_symbols_add(symbols, member->table, index, member->object_index)
               ? ZEPI_SUCCESS
               : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

zepi_result_t zepi_link_set_list_symbols(const struct zepi_link_set *set,
                                         struct zepi_symbols *out_symbols)
{
    zepi_result_t result = ZEPI_SUCCESS;
    *out_symbols = (struct zepi_symbols){0};
    for (uint32_t i = 0; i < set->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_link_member *member = &set->members[i];
        const struct zepi_spirv *spirv = zepi_link_member_spirv(member);
        if (!spirv)
            result = add_native_symbols(out_symbols, member, i);
        else if (!zepi_symbols_add_spirv(out_symbols, spirv, i, member->object_index))
            result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != ZEPI_SUCCESS)
        zepi_symbols_finish(out_symbols);
    return result;
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

zepi_result_t zepi_fail_unresolved(const struct zepi_symbols *symbols, const struct zepi_text *log)
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

// Whether the set defines none of the member's imports; false if there are none.
static bool has_only_missing_imports(const struct zepi_symbols *symbols, uint32_t member)
{
    bool has_imports = false;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct zepi_symbol *symbol = &symbols->list[i];
        if (symbol->member != member || symbol->linkage != ZEPI_SPIRV_IMPORT)
            continue;
        has_imports = true;
        if (zepi_symbols_is_defined(symbols, symbol->name))
            return false;
    }
    return has_imports;
}

zepi_result_t zepi_link_set_check_imports(const struct zepi_link_set *set,
                                          const struct zepi_symbols *symbols)
{
    const struct zepi_text no_log = {0};
    bool is_unresolved = false;
    // The driver alone knows the exports of some native code.
    for (uint32_t i = 0; i < set->count; i++) {
        if (!zepi_link_member_spirv(&set->members[i]) && !set->members[i].table)
            return ZEPI_SUCCESS;
    }
    for (uint32_t i = 0; i < set->count && !is_unresolved; i++) {
        const struct zepi_link_member *member = &set->members[i];
        if (!has_only_missing_imports(symbols, i))
            continue;
        const zepi_result_t result = zepi_ze_module_has_imports(
            member->device_module->units[member->unit].ze, &is_unresolved);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    return is_unresolved ? zepi_fail_unresolved(symbols, &no_log) : ZEPI_SUCCESS;
}
