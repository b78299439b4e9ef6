// SPDX-License-Identifier: MIT
#include "program/build/native_symbols.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/platform.h"
#include "program/build/binary_cache.h"
#include "program/build/ze_module.h"
#include "program/native/symbol_table.h"
#include "ze/ze.h"

struct request {
    const struct zepi_spirv *spirv;                 // to keep; NULL: only the known names
    const struct zepi_device_module *device_module; // to ask the driver about
    const struct zepi_ze_module *ze_module;
};

static void add_symbol(struct zepi_text *table, const struct zepi_spirv_symbol *symbol,
                       size_t name_length)
{
    char head[2];
    zepi_symbol_table_write_head(symbol, head);
    zepi_text_append(table, head, sizeof(head));
    zepi_text_append(table, symbol->name, name_length);
    zepi_text_append(table, "", 1);
}

// The name in a line of the driver's: "export NAME", or "... symbol <NAME>". NULL: there is none.
static const char *find_name_in_line(const char *line, size_t length, const char *word,
                                     size_t *out_length)
{
    const size_t word_length = strlen(word);
    if (length > word_length && strncmp(line, word, word_length) == 0 && line[word_length] == ' ') {
        *out_length = length - word_length - 1;
        return line + word_length + 1;
    }
    const char *open = NULL;
    for (size_t i = 6; i < length && !open; i++) {
        if (line[i] == '<' && strncmp(line + i - 6, "ymbol ", 6) == 0)
            open = line + i + 1;
    }
    const char *close = open ? memchr(open, '>', length - (size_t)(open - line)) : NULL;
    *out_length = close ? (size_t)(close - open) : 0;
    return close ? open : NULL;
}

static bool inspect_native_symbols(struct zepi_text *table, const struct request *request,
                                   ze_linkage_inspection_ext_flags_t flag,
                                   enum zepi_spirv_linkage linkage)
{
    struct zepi_text text = {0};
    if (!zepi_ze_module_inspect(request->device_module->context, request->ze_module->ze, flag,
                                &text))
        return false;
    size_t length;
    for (const char *line = text.bytes; line && *line; line += length + (line[length] != '\0')) {
        size_t name_length;
        length = strcspn(line, "\r\n");
        const char *name = find_name_in_line(
            line, length, linkage == ZEPI_SPIRV_IMPORT ? "import" : "export", &name_length);
        // Quirk untold-symbol-kinds: it may be a variable.
        const struct zepi_spirv_symbol symbol = {
            .name = name, .linkage = linkage, .is_function = true};
        if (name && name_length > 0)
            add_symbol(table, &symbol, name_length);
    }
    zepi_text_finish(&text);
    return true;
}

static enum zepi_build_status make_symbol_table(void *user, struct zepi_build_output *output)
{
    const struct request *request = user;
    const char version = ZEPI_SYMBOL_TABLE_VERSION;
    struct zepi_text table = {0};
    bool is_known = true;
    zepi_text_append(&table, &version, 1);
    for (uint32_t i = 0; request->spirv && i < request->spirv->symbol_count; i++)
        add_symbol(&table, &request->spirv->symbols[i], strlen(request->spirv->symbols[i].name));
    if (!request->spirv)
        is_known = inspect_native_symbols(&table, request, ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS,
                                          ZEPI_SPIRV_IMPORT) &&
                   inspect_native_symbols(&table, request, ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS,
                                          ZEPI_SPIRV_EXPORT);
    is_known = is_known && zepi_binary_set(output, table.bytes, table.size_bytes);
    zepi_text_finish(&table);
    return is_known ? ZEPI_BUILD_SUCCEEDED : ZEPI_BUILD_SPURIOUS;
}

static struct zepi_build_result *symbol_table_find_or_make(struct zepi_digest digest,
                                                           struct request *request)
{
    struct zepi_build_cache *binaries = zepi_binary_cache();
    struct zepi_build_result *result = NULL;
    struct zepi_key key;
    if (!binaries)
        return NULL;
    if (zepi_symbol_table_key(&key, digest) &&
        zepi_build_cache_find_or_build(binaries, &key, make_symbol_table, request, &result) !=
            ZEPI_LOOKUP_SUCCEEDED) {
        zepi_build_result_release(result);
        result = NULL;
    }
    zepi_key_finish(&key);
    return result;
}

void zepi_native_symbols_keep(struct zepi_digest native, const struct zepi_spirv *spirv)
{
    struct request request = {.spirv = spirv};
    zepi_build_result_release(symbol_table_find_or_make(native, &request));
}

struct zepi_build_result *zepi_native_symbols_find(const struct zepi_device_module *device_module,
                                                   const struct zepi_ze_module *ze_module)
{
    struct request request = {.device_module = device_module, .ze_module = ze_module};
    return ze_module->native ? symbol_table_find_or_make(ze_module->native->digest, &request)
                             : NULL;
}

bool zepi_native_symbols_add(struct zepi_symbols *symbols, const struct zepi_build_result *table,
                             uint32_t member, uint32_t object)
{
    const void *bytes = table->output.stored;
    const size_t size_bytes = table->output.stored_size;
    struct zepi_spirv_symbol symbol;
    size_t offset = 0;
    while (zepi_symbol_table_next(bytes, size_bytes, &offset, &symbol)) {
        if (!zepi_symbols_add_linked(symbols, &symbol, member, object))
            return false;
    }
    return true;
}
