// SPDX-License-Identifier: MIT
#include "ur/layout/loader.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ur_layouts.h>

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

// Functions of the loaders themselves whose names look like those of tables.
static const char *const own[] = {"urDeviceGetSelected"};

struct search {
    uintptr_t address; // inside the module that is looked for
    bool has_module;
    bool has_function[FUNCTION_COUNT];
    struct zepi_ur_loader *loader;
};

static int compare_function_name(const void *name, const void *function)
{
    return strcmp(name, ((const struct function *)function)->name);
}

static bool is_of_a_table(const char *name)
{
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(name, own[i]) == 0)
            return false;
    }
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const size_t length = strlen(tables[i]);
        if (strncmp(name + 2, tables[i], length) == 0 && name[2 + length] >= 'A' &&
            name[2 + length] <= 'Z')
            return true;
    }
    return false;
}

static void note_imported_name(struct search *search, const char *name)
{
    const struct function *found =
        bsearch(name, functions, FUNCTION_COUNT, sizeof(functions[0]), compare_function_name);
    if (found)
        search->has_function[found - functions] = true;
    else if (is_of_a_table(name))
        memcpy(search->loader->unknown_function, name, strlen(name) + 1);
}

static bool is_of_library_name(unsigned char byte)
{
    return isalnum(byte) || byte == '_';
}

// Notes each string that is a name as functions of Unified Runtime have it: urAdapterGet. It looks
// at all of a segment, into the gaps between variables as well, which is no error here.
__attribute__((no_sanitize("address"))) static void
find_names(struct search *search, const unsigned char *bytes, size_t size)
{
    char name[sizeof(search->loader->unknown_function)];
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
            note_imported_name(search, name);
        }
        at += length - 1;
    }
}

static bool is_inside_object(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                             uintptr_t address)
{
    const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
    return segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz;
}

// Searches the read-only memory of the module's file; its variables may change meanwhile.
static int visit_loaded_object(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !search->has_module; i++)
        search->has_module = is_inside_object(info, &info->dlpi_phdr[i], search->address);
    for (int i = 0; i < info->dlpi_phnum && search->has_module; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && !(segment->p_flags & PF_W))
            find_names(search, (const unsigned char *)(info->dlpi_addr + segment->p_vaddr),
                       segment->p_filesz);
    }
    return search->has_module; // ends the walk
}

void zepi_ur_loader_inspect(const void *caller, struct zepi_ur_loader *out_loader)
{
    Dl_info info;
    struct search search = {.address = (uintptr_t)caller, .loader = out_loader};
    out_loader->path =
        dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "an unknown module";
    out_loader->unknown_function[0] = '\0';
    out_loader->releases = UINT32_MAX;
    dl_iterate_phdr(visit_loaded_object, &search);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        out_loader->releases &=
            search.has_function[i] ? functions[i].releases : ~functions[i].releases;
}
