// SPDX-License-Identifier: MIT
#include "program/native/symbols.h"

#include "core/alloc.h"

#include <ctype.h>
#include <stdlib.h>

static const char *symbol_kind_name(enum zepi_symbol_kind kind)
{
    static const char *const names[] = {"kernel", "function", "variable"};
    return names[kind];
}

void zepi_symbols_finish(struct zepi_symbols *symbols)
{
    zepi_free(symbols->list);
    *symbols = (struct zepi_symbols){0};
}

bool zepi_symbols_add(struct zepi_symbols *symbols, const struct zepi_symbol *symbol)
{
    struct zepi_symbol *list =
        zepi_grow(symbols->list, symbols->count, &symbols->capacity, sizeof(*list));
    if (!list) {
        zepi_fail_no_memory();
        return false;
    }
    symbols->list = list;
    list[symbols->count++] = *symbol;
    return true;
}

bool zepi_symbols_add_kernel(struct zepi_symbols *symbols, const char *name, uint32_t member,
                             uint32_t object)
{
    return zepi_symbols_add(symbols, &(struct zepi_symbol){.name = name,
                                                           .kind = ZEPI_SYMBOL_KERNEL,
                                                           .linkage = ZEPI_SPIRV_EXPORT,
                                                           .member = member,
                                                           .object = object});
}

bool zepi_symbols_add_linked(struct zepi_symbols *symbols, const struct zepi_spirv_symbol *symbol,
                             uint32_t member, uint32_t object)
{
    return zepi_symbols_add(symbols, &(struct zepi_symbol){.name = symbol->name,
                                                           .kind = symbol->is_function
                                                                       ? ZEPI_SYMBOL_FUNCTION
                                                                       : ZEPI_SYMBOL_VARIABLE,
                                                           .linkage = symbol->linkage,
                                                           .member = member,
                                                           .object = object});
}

bool zepi_symbols_add_spirv(struct zepi_symbols *symbols, const struct zepi_spirv *spirv,
                            uint32_t member, uint32_t object)
{
    bool is_added = true;
    for (uint32_t i = 0; i < spirv->kernel_count && is_added; i++)
        is_added = zepi_symbols_add_kernel(symbols, spirv->kernels[i].name, member, object);
    for (uint32_t i = 0; i < spirv->symbol_count && is_added; i++)
        is_added = zepi_symbols_add_linked(symbols, &spirv->symbols[i], member, object);
    return is_added;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct zepi_symbol *a = left;
    const struct zepi_symbol *b = right;
    const int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    return a->member < b->member ? -1 : a->member > b->member;
}

static bool is_symbol_exported(const struct zepi_symbol *symbol)
{
    return symbol->linkage != ZEPI_SPIRV_IMPORT;
}

// Whether the symbols of one name are more than one definition.
static bool has_symbol_clash(const struct zepi_symbol *symbols, size_t count)
{
    const struct zepi_symbol *first = NULL;
    bool has_other_member = false;
    bool is_odr = true;
    for (size_t i = 0; i < count; i++) {
        if (!is_symbol_exported(&symbols[i]))
            continue;
        is_odr = is_odr && symbols[i].linkage == ZEPI_SPIRV_LINK_ONCE_ODR;
        has_other_member = has_other_member || (first && symbols[i].member != first->member);
        if (!first)
            first = &symbols[i];
    }
    return has_other_member && !is_odr;
}

static void append_symbol_clash(const struct zepi_symbol *symbols, size_t count)
{
    const struct zepi_symbol *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct zepi_symbol *symbol = &symbols[i];
        if (!is_symbol_exported(symbol) || (last && last->member == symbol->member))
            continue;
        if (!last)
            zepi_error_append(" %s '%s' (object %u", symbol_kind_name(symbol->kind), symbol->name,
                              symbol->object);
        else
            zepi_error_append(", object %u", symbol->object);
        last = symbol;
    }
    zepi_error_append(")");
}

zepi_result_t zepi_symbols_check(struct zepi_symbols *symbols)
{
    zepi_result_t result = ZEPI_SUCCESS;
    size_t end;
    if (symbols->count > 0)
        qsort(symbols->list, symbols->count, sizeof(symbols->list[0]), compare_symbols);
    for (size_t begin = 0; begin < symbols->count; begin = end) {
        const struct zepi_symbol *first = &symbols->list[begin];
        end = begin + 1;
        while (end < symbols->count && strcmp(symbols->list[end].name, first->name) == 0)
            end++;
        if (!has_symbol_clash(first, end - begin))
            continue;
        if (result == ZEPI_SUCCESS)
            result = zepi_fail(ZEPI_ERROR_LINK_FAILURE,
                               "several objects define the same, and not as one definition:");
        append_symbol_clash(first, end - begin);
    }
    return result;
}

bool zepi_symbols_is_defined(const struct zepi_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (is_symbol_exported(&symbols->list[i]) && strcmp(symbols->list[i].name, name) == 0)
            return true;
    }
    return false;
}

// ---- Missing symbols ----

static bool is_symbol_missing(const struct zepi_symbols *symbols, const struct zepi_symbol *symbol)
{
    return symbol->linkage == ZEPI_SPIRV_IMPORT && !zepi_symbols_is_defined(symbols, symbol->name);
}

// Whether the text has the name as a word of its own.
static bool text_has_word(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length) {
        const bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        const bool ends = !isalnum((unsigned char)at[length]) && at[length] != '_';
        if (begins && ends)
            return true;
    }
    return false;
}

static bool names_missing_symbol(const struct zepi_symbols *symbols, const char *text)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (is_symbol_missing(symbols, &symbols->list[i]) &&
            text_has_word(text, symbols->list[i].name))
            return true;
    }
    return false;
}

zepi_result_t zepi_symbols_fail_missing(const struct zepi_symbols *symbols, const char *text)
{
    const bool is_filtered = text && names_missing_symbol(symbols, text);
    const char *last = NULL;
    zepi_fail(ZEPI_ERROR_LINK_FAILURE, "nothing defines what is imported:");
    for (size_t i = 0; i < symbols->count; i++) {
        const struct zepi_symbol *symbol = &symbols->list[i];
        if (!is_symbol_missing(symbols, symbol) ||
            (is_filtered && !text_has_word(text, symbol->name)) ||
            (last && strcmp(last, symbol->name) == 0))
            continue;
        zepi_error_append("%s %s '%s'", last ? "," : "", symbol_kind_name(symbol->kind),
                          symbol->name);
        if (symbol->object != ZEPI_SYMBOL_OF_NO_OBJECT)
            zepi_error_append(" (object %u)", symbol->object);
        last = symbol->name;
    }
    if (!last)
        zepi_error_append(" the driver says: %.1024s", text ? text : "nothing");
    return ZEPI_ERROR_LINK_FAILURE;
}
