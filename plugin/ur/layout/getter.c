// SPDX-License-Identifier: MIT
// The getters that a loader finds by name in libur_adapter_zepi.so. The first call of a loader
// decides which layout's tables it gets.
#include "ur/layout/getter.h"
#include "core/log.h"
#include "core/options.h"
#include "ur/layout/layout.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The loader ----
// The tables differ from release to release, and the version number stays 0.12. A loader with
// another layout would call wrong functions. So its release is found by the names of functions in
// its file, as exports or for tracing.

struct function {
    const char *name;
    uint32_t releases;
};

// In the order of strcmp.
static const struct function functions[] = {
#define FUNCTION(name, releases) {#name, releases},
    ZEPI_UR_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

static const char *const tables[] = {
#define TABLE(name) #name,
    ZEPI_UR_TABLES(TABLE)
#undef TABLE
};

// The module that calls a getter, and what its file names.
struct loader {
    uintptr_t caller; // an address in it
    bool has_function[FUNCTION_COUNT];
    char unknown_function[64]; // of a table, and of no release; or ""
};

static int compare_function_name(const void *name, const void *function)
{
    return strcmp(name, ((const struct function *)function)->name);
}

static bool is_of_a_table(const char *name)
{
    bool is_one = false;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !is_one; i++) {
        const size_t length = strlen(tables[i]);
        is_one = strncmp(name + 2, tables[i], length) == 0 && name[2 + length] >= 'A' &&
                 name[2 + length] <= 'Z';
    }
    return is_one && strcmp(name, "urDeviceGetSelected") != 0; // the loaders' own
}

static void note_imported_name(struct loader *loader, const char *name)
{
    const struct function *found =
        bsearch(name, functions, FUNCTION_COUNT, sizeof(functions[0]), compare_function_name);
    if (found)
        loader->has_function[found - functions] = true;
    else if (is_of_a_table(name))
        memcpy(loader->unknown_function, name, strlen(name) + 1);
}

static bool is_of_library_name(unsigned char byte)
{
    return isalnum(byte) || byte == '_';
}

// Notes each string that is a name as functions of Unified Runtime have it: urAdapterGet. It looks
// at all of a segment, into the gaps between variables as well, which is no error here.
__attribute__((no_sanitize("address"))) static void
find_names(struct loader *loader, const unsigned char *bytes, size_t size)
{
    char name[sizeof(loader->unknown_function)];
    for (size_t at = 0; at + 3 < size; at++) {
        if (bytes[at] != 'u' || bytes[at + 1] != 'r' || bytes[at + 2] < 'A' ||
            bytes[at + 2] > 'Z' || (at > 0 && is_of_library_name(bytes[at - 1])))
            continue;
        size_t length = 0;
        while (at + length < size && length < sizeof(name) &&
               is_of_library_name(bytes[at + length])) {
            name[length] = (char)bytes[at + length];
            length++;
        }
        if (at + length < size && length < sizeof(name) && bytes[at + length] == '\0') {
            name[length] = '\0';
            note_imported_name(loader, name);
        }
        at += length - 1;
    }
}

static bool is_inside_object(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && address >= begin &&
            address - begin < info->dlpi_phdr[i].p_memsz)
            return true;
    }
    return false;
}

// Searches the read-only memory of the loader's file; its variables may change meanwhile.
static int visit_loaded_object(struct dl_phdr_info *info, size_t size, void *user)
{
    struct loader *loader = user;
    (void)size;
    if (!is_inside_object(info, loader->caller))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && !(segment->p_flags & PF_W))
            find_names(loader, (const unsigned char *)(info->dlpi_addr + segment->p_vaddr),
                       segment->p_filesz);
    }
    return 1; // ends the walk
}

static const char *path_of_module(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "an unknown module";
}

// ---- Its layout ----

static _Atomic(const struct zepi_ur_layout *) chosen;
static atomic_uint first_name; // of enum zepi_ur_name
static atomic_bool has_refused_version;

// The host only sees that an adapter is missing: stderr has the reason.
static const struct zepi_ur_layout *refuse_layout(const char *subject, const char *reason,
                                                  const char *name)
{
    fprintf(stderr, "zepi: error: %s %s%s; this adapter serves Unified Runtime 0.12 of DPC++",
            subject, reason, name);
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++)
        fprintf(stderr, "%s%s", i == 0 ? " " : ", ", zepi_ur_layouts[i].release);
    fprintf(stderr,
            "; it stays out (a caller that is no loader sets ZEPI_UR_LAYOUT to one of them)\n");
    return NULL;
}

static const struct zepi_ur_layout *find_layout_by_name(const char *release)
{
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++) {
        if (strcmp(release, zepi_ur_layouts[i].release) == 0)
            return &zepi_ur_layouts[i];
    }
    return refuse_layout("ZEPI_UR_LAYOUT",
                         "names a release that this build has no layout of: ", release);
}

static const struct zepi_ur_layout *find_layout_by_loader(const void *caller)
{
    struct loader loader = {.caller = (uintptr_t)caller};
    uint32_t releases = UINT32_MAX; // whose functions, and no others, it names
    dl_iterate_phdr(visit_loaded_object, &loader);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        releases &= loader.has_function[i] ? functions[i].releases : ~functions[i].releases;
    if (loader.unknown_function[0])
        return refuse_layout(path_of_module(caller), "has tables of another layout: it knows ",
                             loader.unknown_function);
    for (size_t i = 0; i < ZEPI_UR_RELEASE_COUNT; i++) {
        if (releases & UINT32_C(1) << i)
            return &zepi_ur_layouts[i];
    }
    return refuse_layout(path_of_module(caller), "has tables of another layout", "");
}

// NULL: refused, with a message. Handles of one layout begin with its tables, so that a process has
// one.
static const struct zepi_ur_layout *choose_layout(const void *caller)
{
    const char *release = zepi_options()->ur_layout;
    const struct zepi_ur_layout *before = atomic_load(&chosen);
    const struct zepi_ur_layout *layout =
        release[0] ? find_layout_by_name(release) : find_layout_by_loader(caller);
    if (layout && before && layout != before)
        return refuse_layout("a second loader", "asks for another layout than the first", "");
    if (layout && !before) {
        zepi_ur_layout_use(layout);
        atomic_store(&chosen, layout);
    }
    return layout;
}

// A loader asks for every table, and hears of it once.
static void refuse_version(ur_api_version_t version, const void *caller)
{
    char asked[64];
    snprintf(asked, sizeof(asked), "%u.%u", UR_MAJOR_VERSION(version), UR_MINOR_VERSION(version));
    refuse_layout(path_of_module(caller), "asks for tables of Unified Runtime ", asked);
}

static bool is_first_name(enum zepi_ur_name name)
{
    unsigned first = ZEPI_UR_NAME_NONE;
    return atomic_compare_exchange_strong(&first_name, &first, name) || first == name;
}

ur_result_t zepi_ur_get_table(enum zepi_ur_table table, ur_api_version_t version, void *out_table,
                              enum zepi_ur_name name, const void *caller)
{
    // The first getter that a loader calls: a second loader begins there, too.
    const bool is_begin = table == ZEPI_UR_TABLE_Adapter;
    if (!out_table)
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    if (version != UR_API_VERSION_0_12) {
        if (!atomic_exchange(&has_refused_version, true))
            refuse_version(version, caller);
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    // A loader asks a library for no other table if it has none of adapters.
    if (is_begin && !is_first_name(name)) {
        zepi_log(ZEPI_LOG_INFO, "the loader has zepi under another name already");
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    const struct zepi_ur_layout *layout = is_begin ? NULL : atomic_load(&chosen);
    if (!layout)
        layout = choose_layout(caller);
    if (!layout)
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    if (layout->table[table].count == 0)
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    memcpy(out_table, &layout->slots[layout->table[table].first],
           layout->table[table].count * sizeof(layout->slots[0]));
    return UR_RESULT_SUCCESS;
}

#define GETTER(name)                                                                               \
    UR_DLLEXPORT ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version,       \
                                                                   void *pDdiTable);               \
    ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version, void *pDdiTable)   \
    {                                                                                              \
        const void *caller = __builtin_extract_return_addr(__builtin_return_address(0));           \
        return zepi_ur_get_table(ZEPI_UR_TABLE_##name, version, pDdiTable, ZEPI_UR_NAME_ZEPI,      \
                                 caller);                                                          \
    }
ZEPI_UR_TABLES(GETTER)
