// SPDX-License-Identifier: MIT
#include "spec.h"

#include "image_file.h"
#include "scalar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS 1024

static bool add(const char **list, uint32_t *count, const char *text, const char *expected)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        fprintf(stderr, "zepi: '%s': expected %s\n", text, expected);
        return false;
    }
    if (*count == SPEC_MAX) {
        fprintf(stderr, "zepi: more than %d values\n", SPEC_MAX);
        return false;
    }
    list[(*count)++] = text;
    return true;
}

bool spec_add(struct spec_options *options, const char *text)
{
    return add(options->specs, &options->spec_count, text,
               "ID=VALUE, NAME=VALUE,VALUE,... or NAME=@FILE");
}

bool spec_add_layout(struct spec_options *options, const char *text)
{
    return add(options->layouts, &options->layout_count, text,
               "NAME=FIRST..LAST or NAME=ID,ID,...");
}

static bool parse_id(const char *text, size_t length, uint32_t *out_id)
{
    char copy[16];
    char *end;
    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    const unsigned long long number = strtoull(copy, &end, 10);
    if (errno != 0 || *end != '\0' || copy[0] < '0' || copy[0] > '9' || number > UINT32_MAX)
        return false;
    *out_id = (uint32_t)number;
    return true;
}

// A composite while its layout is made.
struct composite {
    char *name; // owned
    zepi_spec_element_t elements[MAX_ELEMENTS];
    zepi_scalar_type_t types[MAX_ELEMENTS];
    uint32_t count;
    size_t size_bytes;
};

struct composites {
    struct composite *list; // owned
    uint32_t count;
};

static void composites_finish(struct composites *composites)
{
    for (uint32_t i = 0; i < composites->count; i++)
        free(composites->list[i].name);
    free(composites->list);
}

// Reads the ids of a layout.
static bool parse_layout(const char *text, struct composite *composite)
{
    const char *at = strchr(text, '=') + 1;
    const char *dots = strstr(at, "..");
    uint32_t first;
    uint32_t last;
    composite->name = strndup(text, (size_t)(at - 1 - text));
    if (!composite->name)
        return false;
    if (dots) {
        if (!parse_id(at, (size_t)(dots - at), &first) ||
            !parse_id(dots + 2, strlen(dots + 2), &last) || last < first ||
            last - first >= MAX_ELEMENTS)
            return false;
        for (uint32_t id = first; id <= last && composite->count < MAX_ELEMENTS; id++)
            composite->elements[composite->count++].id = id;
        return true;
    }
    while (composite->count < MAX_ELEMENTS) {
        const size_t length = strcspn(at, ",");
        if (!parse_id(at, length, &composite->elements[composite->count].id))
            return false;
        composite->count++;
        if (!at[length])
            return true;
        at += length + 1;
    }
    return false;
}

// The types, and so the places, of the elements come from the module.
static bool place(struct composite *composite, uint32_t count,
                  const zepi_spec_constant_t *constants)
{
    size_t alignment = 1;
    for (uint32_t i = 0; i < composite->count; i++) {
        zepi_spec_element_t *element = &composite->elements[i];
        uint32_t at = 0;
        while (at < count && constants[at].id != element->id)
            at++;
        if (at == count) {
            fprintf(stderr, "zepi: composite '%s': the module has no constant %u\n",
                    composite->name, element->id);
            return false;
        }
        const size_t size = constants[at].size_bytes;
        composite->types[i] = constants[at].type;
        element->size_bytes = size;
        element->offset_bytes = (composite->size_bytes + size - 1) / size * size;
        composite->size_bytes = element->offset_bytes + size;
        alignment = size > alignment ? size : alignment;
    }
    composite->size_bytes = (composite->size_bytes + alignment - 1) / alignment * alignment;
    return true;
}

static bool parse_layouts(const struct spec_options *options, struct composites *composites)
{
    composites->list =
        calloc(options->layout_count ? options->layout_count : 1, sizeof(composites->list[0]));
    if (!composites->list)
        return false;
    for (uint32_t i = 0; i < options->layout_count; i++) {
        composites->count++;
        if (!parse_layout(options->layouts[i], &composites->list[i])) {
            fprintf(stderr, "zepi: '%s': expected NAME=FIRST..LAST or NAME=ID,ID,...\n",
                    options->layouts[i]);
            return false;
        }
    }
    return true;
}

// The constants that a module declares, owned. NULL without memory.
static zepi_spec_constant_t *list_constants(zepi_module_t module, uint32_t *out_count)
{
    if (zepi.spec_constant_list(module, NULL, 0, NULL, out_count) != ZEPI_SUCCESS)
        return NULL;
    zepi_spec_constant_t *constants = calloc(*out_count ? *out_count : 1, sizeof(*constants));
    if (constants)
        zepi.spec_constant_list(module, NULL, *out_count, constants, out_count);
    return constants;
}

// OpenCL's SPIR-V does not tell signed integers from unsigned ones: the command line may.
static bool is_same_kind(zepi_scalar_type_t a, zepi_scalar_type_t b)
{
    const bool is_float = a >= ZEPI_SCALAR_FLOAT16;
    return is_float == (b >= ZEPI_SCALAR_FLOAT16) &&
           (a == ZEPI_SCALAR_BOOL) == (b == ZEPI_SCALAR_BOOL);
}

static int set_one(zepi_module_t module, const char *text)
{
    uint8_t value[8];
    uint32_t id = 0;
    uint32_t count;
    const char *equals = strchr(text, '=');
    const char *colon = strrchr(equals, ':');
    char number[64];
    parse_id(text, (size_t)(equals - text), &id);
    const size_t length = colon ? (size_t)(colon - equals - 1) : strlen(equals + 1);
    snprintf(number, sizeof(number), "%.*s", (int)length, equals + 1);
    zepi_scalar_type_t type = colon ? scalar_type(colon + 1) : 0;
    if (colon && type == 0) {
        fprintf(stderr, "zepi: '%s': type '%s' is none of %s\n", text, colon + 1,
                scalar_type_names);
        return EXIT_USAGE;
    }
    zepi_spec_constant_t *constants = list_constants(module, &count);
    for (uint32_t i = 0; constants && i < count; i++) {
        if (constants[i].id != id)
            continue;
        if (type != 0 && !is_same_kind(type, constants[i].type) &&
            scalar_size(type) == scalar_size(constants[i].type)) {
            fprintf(stderr, "zepi: '%s': constant %u is %s\n", text, id,
                    scalar_type_name(constants[i].type));
            free(constants);
            return EXIT_USAGE;
        }
        if (type == 0)
            type = constants[i].type;
    }
    free(constants);
    // An id that is not declared: the plugin says which there are.
    if (type == 0)
        type = ZEPI_SCALAR_UINT32;
    if (!scalar_parse(type, number, value)) {
        fprintf(stderr, "zepi: '%s': '%s' is no value of type %s\n", text, number,
                scalar_type_name(type));
        return EXIT_USAGE;
    }
    return zepi.spec_constant_set(module, id, scalar_size(type), value) == ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail(text);
}

static int set_elements(zepi_module_t module, const struct composite *composite, const char *text)
{
    const char *at = strchr(text, '=') + 1;
    uint8_t *bytes = calloc(1, composite->size_bytes);
    int code = bytes ? EXIT_OK : EXIT_FAILED;
    for (uint32_t i = 0; i < composite->count && code == EXIT_OK; i++) {
        char number[64];
        const size_t length = strcspn(at, ",");
        snprintf(number, sizeof(number), "%.*s", (int)length, at);
        const bool is_last = at[length] == '\0';
        if (!scalar_parse(composite->types[i], number,
                          bytes + composite->elements[i].offset_bytes) ||
            is_last != (i + 1 == composite->count)) {
            fprintf(stderr, "zepi: '%s': expected %u values, number %u of type %s\n", text,
                    composite->count, i + 1, scalar_type_name(composite->types[i]));
            code = EXIT_USAGE;
        }
        at += length + !is_last;
    }
    if (code == EXIT_OK &&
        zepi.spec_constant_set_by_name(module, composite->name, composite->size_bytes, bytes) !=
            ZEPI_SUCCESS)
        code = host_fail(text);
    free(bytes);
    return code;
}

static int set_composite(zepi_module_t module, const struct composites *composites,
                         const char *text)
{
    struct file_bytes file;
    const char *equals = strchr(text, '=');
    char name[256];
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (equals[1] == '@') {
        if (!file_read(equals + 2, &file))
            return EXIT_FAILED;
        const zepi_result_t result =
            zepi.spec_constant_set_by_name(module, name, file.size_bytes, file.bytes);
        free(file.bytes);
        return result == ZEPI_SUCCESS ? EXIT_OK : host_fail(text);
    }
    for (uint32_t i = 0; i < composites->count; i++) {
        if (strcmp(composites->list[i].name, name) == 0)
            return set_elements(module, &composites->list[i], text);
    }
    fprintf(stderr, "zepi: '%s': '%s' is no number of a constant, and no --layout names it\n", text,
            name);
    return EXIT_USAGE;
}

static int set_all(const struct spec_options *options, zepi_module_t module,
                   const struct composites *composites)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; i < options->spec_count && code == EXIT_OK; i++) {
        uint32_t id;
        const char *text = options->specs[i];
        code = parse_id(text, (size_t)(strchr(text, '=') - text), &id)
                   ? set_one(module, text)
                   : set_composite(module, composites, text);
    }
    return code;
}

// With layouts the module is made twice: the first one tells the types of the elements.
static int create(const struct host_device *host, const struct file_bytes *file, const char *path,
                  struct composites *composites, zepi_module_t *out_module)
{
    zepi_spec_layout_t layouts[SPEC_MAX];
    uint32_t constant_count;
    int code = image_create_module(host, file, path, 0, NULL, out_module);
    if (code != EXIT_OK || composites->count == 0)
        return code;
    zepi_spec_constant_t *constants = list_constants(*out_module, &constant_count);
    host_release(*out_module);
    for (uint32_t i = 0; i < composites->count && code == EXIT_OK; i++) {
        struct composite *composite = &composites->list[i];
        if (!constants || !place(composite, constant_count, constants))
            code = EXIT_FAILED;
        layouts[i] = (zepi_spec_layout_t){.name = composite->name,
                                          .size_bytes = composite->size_bytes,
                                          .elements = composite->elements,
                                          .element_count = composite->count};
    }
    free(constants);
    return code == EXIT_OK
               ? image_create_module(host, file, path, composites->count, layouts, out_module)
               : code;
}

int spec_create_module(const struct spec_options *options, const struct host_device *host,
                       const char *path, zepi_module_t *out_module)
{
    struct composites composites = {0};
    struct file_bytes file;
    if (!parse_layouts(options, &composites)) {
        composites_finish(&composites);
        return EXIT_USAGE;
    }
    if (!file_read(path, &file)) {
        composites_finish(&composites);
        return EXIT_FAILED;
    }
    int code = create(host, &file, path, &composites, out_module);
    if (code == EXIT_OK) {
        code = set_all(options, *out_module, &composites);
        if (code != EXIT_OK)
            host_release(*out_module);
    }
    free(file.bytes);
    composites_finish(&composites);
    return code;
}
