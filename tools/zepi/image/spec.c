// SPDX-License-Identifier: MIT
#include "spec.h"

#include "../scalar.h"
#include "image_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS 1024

static int add(const char **list, uint32_t *count, const char *text, const char *expected)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        fprintf(stderr, "zepi: '%s': expected %s\n", text, expected);
        return EXIT_USAGE;
    }
    if (*count == SPEC_MAX) {
        fprintf(stderr, "zepi: more than %d values\n", SPEC_MAX);
        return EXIT_USAGE;
    }
    list[(*count)++] = text;
    return EXIT_OK;
}

int spec_add(void *user, const char *text)
{
    struct spec_options *options = user;
    return add(options->specs, &options->spec_count, text,
               "ID=VALUE, NAME=VALUE,VALUE,... or NAME=@FILE");
}

int spec_add_layout(void *user, const char *text)
{
    struct spec_options *options = user;
    return add(options->layouts, &options->layout_count, text,
               "NAME=FIRST..LAST or NAME=ID,ID,...");
}

static bool parse_id(const char *text, size_t length, uint32_t *out_id)
{
    return scalar_parse_part(ZEPI_SCALAR_UINT32, text, length, out_id);
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
    zepi_spec_constant_t *constants; // owned: those that the module declares
    uint32_t constant_count;
};

static void composites_finish(struct composites *composites)
{
    for (uint32_t i = 0; i < composites->count; i++)
        free(composites->list[i].name);
    free(composites->list);
    free(composites->constants);
}

// The declaration of a constant; NULL: there is none.
static const zepi_spec_constant_t *find_constant(const struct composites *composites, uint32_t id)
{
    uint32_t at = 0;
    while (at < composites->constant_count && composites->constants[at].id != id)
        at++;
    return at < composites->constant_count ? &composites->constants[at] : NULL;
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
static bool place(const struct composites *composites, struct composite *composite)
{
    size_t alignment = 1;
    for (uint32_t i = 0; i < composite->count; i++) {
        zepi_spec_element_t *element = &composite->elements[i];
        const zepi_spec_constant_t *constant = find_constant(composites, element->id);
        if (!constant) {
            fprintf(stderr, "zepi: composite '%s': the module has no constant %u\n",
                    composite->name, element->id);
            return false;
        }
        for (uint32_t before = 0; before < i; before++) {
            if (composite->elements[before].id == element->id) {
                fprintf(stderr, "zepi: composite '%s': constant %u is there twice\n",
                        composite->name, element->id);
                return false;
            }
        }
        const size_t size = constant->size_bytes;
        composite->types[i] = constant->type;
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

// False: there is no memory.
static bool list_constants(struct composites *composites, zepi_module_t module)
{
    uint32_t count = 0;
    zepi.spec_constant_list(module, NULL, 0, NULL, &count);
    composites->constants = calloc(count ? count : 1, sizeof(*composites->constants));
    if (composites->constants &&
        zepi.spec_constant_list(module, NULL, count, composites->constants, &count) == ZEPI_SUCCESS)
        composites->constant_count = count;
    return composites->constants;
}

// OpenCL's SPIR-V does not tell signed integers from unsigned ones: the command line may.
static bool is_same_kind(zepi_scalar_type_t a, zepi_scalar_type_t b)
{
    const bool is_float = a >= ZEPI_SCALAR_FLOAT16;
    return is_float == (b >= ZEPI_SCALAR_FLOAT16) &&
           (a == ZEPI_SCALAR_BOOL) == (b == ZEPI_SCALAR_BOOL);
}

// The type behind the last colon of a value, 0 if there is none; *out_length is the length before
// it. False after a message if there is one, but unknown.
static bool parse_type(const char *text, const char *value, zepi_scalar_type_t *out_type,
                       size_t *out_length)
{
    const char *colon = strrchr(value, ':');
    *out_type = colon ? scalar_type(colon + 1) : 0;
    *out_length = colon ? (size_t)(colon - value) : strlen(value);
    if (!colon || *out_type != 0)
        return true;
    fprintf(stderr, "zepi: '%s': type '%s' is none of %s\n", text, colon + 1, scalar_type_names);
    return false;
}

static int set_one(zepi_module_t module, const struct composites *composites, uint32_t id,
                   const char *text)
{
    uint8_t value[8] = {0};
    size_t length;
    zepi_scalar_type_t type;
    const char *number = strchr(text, '=') + 1;
    const zepi_spec_constant_t *constant = find_constant(composites, id);
    const zepi_scalar_type_t declared = constant ? constant->type : 0;
    if (!parse_type(text, number, &type, &length))
        return EXIT_USAGE;
    // Another size is the plugin's to refuse.
    if (type != 0 && declared != 0 && !is_same_kind(type, declared) &&
        scalar_size(type) == scalar_size(declared)) {
        fprintf(stderr, "zepi: '%s': constant %u is %s\n", text, id, scalar_type_name(declared));
        return EXIT_USAGE;
    }
    // So is an id that is not declared: it says which there are.
    if (type == 0)
        type = declared != 0 ? declared : ZEPI_SCALAR_UINT64;
    if (!scalar_parse_part(type, number, length, value) && declared != 0) {
        fprintf(stderr, "zepi: '%s': '%.*s' is no value of type %s\n", text, (int)length, number,
                scalar_type_name(type));
        return EXIT_USAGE;
    }
    return zepi.spec_constant_set(module, id, scalar_size(type), value) == ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail(text);
}

// Whether values may be read as this type for each element.
static bool suits(const struct composite *composite, zepi_scalar_type_t type)
{
    for (uint32_t i = 0; i < composite->count; i++) {
        if (!is_same_kind(type, composite->types[i]) ||
            scalar_size(type) != scalar_size(composite->types[i]))
            return false;
    }
    return true;
}

// Reads "V1,V2,..." with as many values as there are elements.
static bool parse_elements(const struct composite *composite, const char *text, const char *values,
                           size_t length, zepi_scalar_type_t type, uint8_t *bytes)
{
    const char *at = values;
    const char *end = values + length;
    for (uint32_t i = 0; i < composite->count; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const zepi_scalar_type_t element_type = type ? type : composite->types[i];
        if (!scalar_parse_part(element_type, at, (size_t)(stop - at),
                               bytes + composite->elements[i].offset_bytes) ||
            (comma == NULL) != (i + 1 == composite->count)) {
            fprintf(stderr, "zepi: '%s': expected %u values, number %u of type %s\n", text,
                    composite->count, i + 1, scalar_type_name(element_type));
            return false;
        }
        at = stop + 1;
    }
    return true;
}

static int set_elements(zepi_module_t module, const struct composite *composite, const char *text)
{
    const char *values = strchr(text, '=') + 1;
    size_t length;
    zepi_scalar_type_t type;
    if (!parse_type(text, values, &type, &length))
        return EXIT_USAGE;
    if (type != 0 && !suits(composite, type)) {
        fprintf(stderr, "zepi: '%s': composite '%s' is not made of %s\n", text, composite->name,
                scalar_type_name(type));
        return EXIT_USAGE;
    }
    uint8_t *bytes = calloc(1, composite->size_bytes);
    int code = EXIT_OK;
    if (!bytes) {
        fprintf(stderr, "zepi: out of memory\n");
        code = EXIT_FAILED;
    } else if (!parse_elements(composite, text, values, length, type, bytes)) {
        code = EXIT_USAGE;
    } else if (zepi.spec_constant_set_by_name(module, composite->name, composite->size_bytes,
                                              bytes) != ZEPI_SUCCESS) {
        code = host_fail(text);
    }
    free(bytes);
    return code;
}

static int set_from_file(zepi_module_t module, const char *name, const char *path, const char *text)
{
    struct file_bytes file;
    if (!file_read(path, &file))
        return EXIT_FAILED;
    const zepi_result_t result =
        zepi.spec_constant_set_by_name(module, name, file.size_bytes, file.bytes);
    free(file.bytes);
    return result == ZEPI_SUCCESS ? EXIT_OK : host_fail(text);
}

static int set_composite(zepi_module_t module, const struct composites *composites,
                         const char *text)
{
    const size_t length = strcspn(text, "=");
    const struct composite *composite = NULL;
    for (uint32_t i = 0; i < composites->count; i++) {
        const char *name = composites->list[i].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            composite = &composites->list[i];
    }
    if (!composite) {
        fprintf(stderr, "zepi: '%s': '%.*s' is no number of a constant, and no --layout names it\n",
                text, (int)length, text);
        return EXIT_USAGE;
    }
    return text[length + 1] == '@' ? set_from_file(module, composite->name, text + length + 2, text)
                                   : set_elements(module, composite, text);
}

static int set_all(const struct spec_options *options, zepi_module_t module,
                   const struct composites *composites)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; i < options->spec_count && code == EXIT_OK; i++) {
        uint32_t id;
        const char *text = options->specs[i];
        code = parse_id(text, strcspn(text, "="), &id) ? set_one(module, composites, id, text)
                                                       : set_composite(module, composites, text);
    }
    return code;
}

// With layouts the module is made twice: the first one tells the types of the elements.
static int create(const struct host_device *host, const struct file_bytes *file, const char *path,
                  struct composites *composites, zepi_module_t *out_module)
{
    zepi_spec_layout_t layouts[SPEC_MAX];
    if (image_create_module(host, file, ZEPI_MODULE_EXECUTABLE, 0, NULL, out_module) !=
        ZEPI_SUCCESS)
        return host_fail(path);
    if (!list_constants(composites, *out_module))
        return EXIT_FAILED;
    if (composites->count == 0)
        return EXIT_OK;
    host_release(*out_module);
    *out_module = NULL;
    for (uint32_t i = 0; i < composites->count; i++) {
        struct composite *composite = &composites->list[i];
        if (!place(composites, composite))
            return EXIT_FAILED;
        layouts[i] = (zepi_spec_layout_t){.name = composite->name,
                                          .size_bytes = composite->size_bytes,
                                          .elements = composite->elements,
                                          .element_count = composite->count};
    }
    return image_create_module(host, file, ZEPI_MODULE_EXECUTABLE, composites->count, layouts,
                               out_module) == ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail(path);
}

int spec_create_module(const struct spec_options *options, const struct host_device *host,
                       const char *path, zepi_module_t *out_module)
{
    struct composites composites = {0};
    struct file_bytes file;
    zepi_module_t module = NULL;
    int code = EXIT_USAGE;
    if (parse_layouts(options, &composites))
        code = image_read(path, &file) ? EXIT_OK : EXIT_FAILED;
    if (code == EXIT_OK) {
        code = create(host, &file, path, &composites, &module);
        free(file.bytes);
    }
    if (code == EXIT_OK)
        code = set_all(options, module, &composites);
    if (code == EXIT_OK)
        *out_module = module;
    else
        host_release(module);
    composites_finish(&composites);
    return code;
}
