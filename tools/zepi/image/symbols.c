// SPDX-License-Identifier: MIT
#include "symbols.h"

#include "../json.h"
#include "cache/disk/disk.h"
#include "plugin/program/native/container.h"
#include "plugin/program/native/symbol_table.h"
#include "plugin/spirv/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    char *name; // owned
    enum zepi_spirv_linkage linkage;
    bool is_function;
    uint32_t group; // of pieces that were linked with each other
};

struct list {
    struct symbol *symbols; // owned
    size_t count;
    uint32_t group; // of the next one to add
    bool is_complete;
};

static void list_finish(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->symbols[i].name);
    free(list->symbols);
}

static void add(struct list *list, const struct zepi_spirv_symbol *symbol)
{
    struct symbol *larger = realloc(list->symbols, (list->count + 1) * sizeof(*larger));
    char *name = larger ? strdup(symbol->name) : NULL;
    if (larger)
        list->symbols = larger;
    if (!name) {
        list->is_complete = false;
        return;
    }
    list->symbols[list->count++] =
        (struct symbol){name, symbol->linkage, symbol->is_function, list->group};
}

static void add_spirv(struct list *list, const struct file_bytes *file)
{
    struct zepi_spirv spirv;
    char message[256];
    list->is_complete = zepi_spirv_init(&spirv, file->bytes, file->size_bytes, message,
                                        sizeof(message)) == ZEPI_SPIRV_OK;
    for (uint32_t i = 0; list->is_complete && i < spirv.symbol_count; i++)
        add(list, &spirv.symbols[i]);
    zepi_spirv_finish(&spirv);
}

// ---- Native code ----

// The plugin's folder; NULL: there is none.
static struct zepi_disk *open_disk(void)
{
    zepi_cache_location_t location = {.size = sizeof(location)};
    return zepi.cache_get_location(&location) == ZEPI_SUCCESS && location.is_disk_on &&
                   location.folder[0]
               ? zepi_disk_create(location.folder, UINT64_MAX)
               : NULL;
}

// Returns whether there is a table of this native code.
static bool add_table(struct list *list, struct zepi_disk *disk, const void *bytes,
                      size_t size_bytes)
{
    struct zepi_build_record record = {0};
    struct zepi_key key;
    const bool is_there = zepi_symbol_table_key(&key, zepi_digest_of(bytes, size_bytes)) &&
                          zepi_disk_store_ops.load(disk, &key, &record);
    struct zepi_spirv_symbol symbol;
    size_t offset = 0;
    while (is_there &&
           zepi_symbol_table_next(record.payload, record.payload_size, &offset, &symbol))
        add(list, &symbol);
    zepi_build_record_finish(&record);
    zepi_key_finish(&key);
    return is_there;
}

static void add_container(struct list *list, struct zepi_disk *disk, const struct file_bytes *file)
{
    const char *reason;
    const uint32_t count = zepi_container_check(file->bytes, file->size_bytes, &reason);
    struct zepi_container_member *members = calloc(count ? count : 1, sizeof(*members));
    list->is_complete = members && count > 0;
    if (list->is_complete)
        zepi_container_unpack(file->bytes, members);
    for (uint32_t i = 0; members && i < count; i++) {
        list->group = members[i].group;
        if (!add_table(list, disk, members[i].bytes, members[i].size_bytes))
            list->is_complete = false;
    }
    free(members);
}

static void add_native(struct list *list, const struct file_bytes *file)
{
    struct zepi_disk *disk = open_disk();
    if (!disk)
        list->is_complete = false;
    else if (zepi_container_is(file->bytes, file->size_bytes))
        add_container(list, disk, file);
    else
        list->is_complete = add_table(list, disk, file->bytes, file->size_bytes);
    zepi_disk_destroy(disk);
}

bool symbols_is_object(const struct file_bytes *file)
{
    struct list list = {.is_complete = true};
    if (image_is_spirv(file) || zepi_container_is(file->bytes, file->size_bytes))
        return false;
    add_native(&list, file);
    list_finish(&list);
    return list.is_complete;
}

// ---- Both ----

// Whether a piece that it was linked with has what the symbol asks for.
static bool is_resolved(const struct list *list, const struct symbol *symbol)
{
    for (size_t i = 0; i < list->count && symbol->linkage == ZEPI_SPIRV_IMPORT; i++) {
        const struct symbol *other = &list->symbols[i];
        if (other->linkage != ZEPI_SPIRV_IMPORT && other->group == symbol->group &&
            strcmp(other->name, symbol->name) == 0)
            return true;
    }
    return false;
}

bool symbols_describe(const struct file_bytes *file, const char *path, cJSON *array)
{
    static const char *const linkages[] = {"import", "export", "link once"};
    struct list list = {.is_complete = true};
    if (image_is_spirv(file))
        add_spirv(&list, file);
    else
        add_native(&list, file);
    for (size_t i = 0; i < list.count; i++) {
        const struct symbol *symbol = &list.symbols[i];
        if (is_resolved(&list, symbol))
            continue;
        cJSON *object = json_add_object(array);
        cJSON_AddStringToObject(object, "name", symbol->name);
        cJSON_AddStringToObject(object, "linkage", linkages[symbol->linkage]);
        cJSON_AddStringToObject(object, "kind", symbol->is_function ? "function" : "variable");
        cJSON_AddStringToObject(object, "file", path);
    }
    const bool is_complete = list.is_complete;
    list_finish(&list);
    return is_complete;
}
