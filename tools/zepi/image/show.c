// SPDX-License-Identifier: MIT
#include "show.h"

#include "../json.h"
#include "../scalar.h"
#include "image_file.h"
#include "symbols.h"

#include "plugin/spirv/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_constant(const zepi_spec_constant_t *constant, cJSON *object)
{
    char text[SCALAR_TEXT_SIZE];
    cJSON_AddNumberToObject(object, "id", constant->id);
    cJSON_AddStringToObject(object, "type", scalar_type_name(constant->type));
    cJSON_AddNumberToObject(object, "size_bytes", (double)constant->size_bytes);
    cJSON_AddItemToObject(object, "default",
                          json_value(scalar_format(constant->type, constant->default_value, text)));
    cJSON_AddItemToObject(object, "value",
                          json_value(scalar_format(constant->type, constant->value, text)));
    cJSON_AddBoolToObject(object, "is_set", constant->is_set);
}

static cJSON *describe_constants(zepi_module_t module)
{
    uint32_t count = 0;
    cJSON *array = cJSON_CreateArray();
    if (zepi.spec_constant_list(module, NULL, 0, NULL, &count) != ZEPI_SUCCESS || count == 0)
        return array;
    zepi_spec_constant_t *constants = calloc(count, sizeof(*constants));
    if (constants &&
        zepi.spec_constant_list(module, NULL, count, constants, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            describe_constant(&constants[i], json_add_object(array));
    }
    free(constants);
    return array;
}

static cJSON *describe_kernels(zepi_module_t module)
{
    uint32_t count = 0;
    cJSON *array = cJSON_CreateArray();
    if (zepi.module_get_kernel_names(module, 0, NULL, &count) != ZEPI_SUCCESS || count == 0)
        return array;
    const char **names = calloc(count, sizeof(*names));
    if (names && zepi.module_get_kernel_names(module, count, names, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            cJSON_AddStringToObject(json_add_object(array), "name", names[i]);
    }
    free(names);
    return array;
}

static cJSON *describe_arguments(const struct zepi_spirv_kernel *kernel)
{
    static const struct {
        const char *kind;
        const char *address_space;
    } kinds[] = {
        [ZEPI_SPIRV_ARGUMENT_VALUE] = {"value", NULL},
        [ZEPI_SPIRV_ARGUMENT_GLOBAL] = {"pointer", "global"},
        [ZEPI_SPIRV_ARGUMENT_CONSTANT] = {"pointer", "constant"},
        [ZEPI_SPIRV_ARGUMENT_LOCAL] = {"pointer", "local"},
        [ZEPI_SPIRV_ARGUMENT_IMAGE] = {"image", NULL},
        [ZEPI_SPIRV_ARGUMENT_SAMPLER] = {"sampler", NULL},
        [ZEPI_SPIRV_ARGUMENT_OTHER] = {"other", NULL},
    };
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct zepi_spirv_argument *argument = &kernel->arguments[i];
        cJSON *object = json_add_object(array);
        cJSON_AddStringToObject(object, "kind", kinds[argument->kind].kind);
        if (kinds[argument->kind].address_space)
            cJSON_AddStringToObject(object, "address_space", kinds[argument->kind].address_space);
        cJSON_AddNumberToObject(object, "size_bytes", argument->size_bytes);
    }
    return array;
}

// SPIR-V declares the arguments of kernels.
static void add_arguments(cJSON *kernels, const struct file_bytes *file)
{
    struct zepi_spirv spirv;
    char message[256];
    cJSON *object;
    zepi_spirv_init(&spirv, file->bytes, file->size_bytes, message, sizeof(message));
    cJSON_ArrayForEach(object, kernels)
    {
        const struct zepi_spirv_kernel *kernel =
            zepi_spirv_find_kernel(&spirv, json_text(object, "name"));
        if (kernel && !cJSON_GetObjectItem(object, "arguments"))
            cJSON_AddItemToObject(object, "arguments", describe_arguments(kernel));
    }
    zepi_spirv_finish(&spirv);
}

static void describe_file(const struct file_bytes *file, const char *path, cJSON *document)
{
    if (!symbols_describe(file, path, cJSON_GetObjectItem(document, "symbols")))
        cJSON_AddItemToArray(cJSON_GetObjectItem(document, "symbols_unknown_in"),
                             cJSON_CreateString(path));
    if (image_is_spirv(file))
        add_arguments(cJSON_GetObjectItem(document, "kernels"), file);
    else
        cJSON_AddItemToArray(cJSON_GetObjectItem(document, "constants_unknown_in"),
                             cJSON_CreateString(path));
}

// The contents of the files, and which of them cannot be told.
static void describe_files(const char *const *files, uint32_t file_count, cJSON *document)
{
    cJSON_AddArrayToObject(document, "symbols");
    cJSON_AddArrayToObject(document, "symbols_unknown_in");
    cJSON_AddArrayToObject(document, "constants_unknown_in");
    for (uint32_t i = 0; i < file_count; i++) {
        struct file_bytes file;
        if (file_read(files[i], &file)) {
            describe_file(&file, files[i], document);
            free(file.bytes);
        }
    }
}

static const char *state_name(zepi_module_state_t state)
{
    static const char *const names[] = {"unknown", "input", "object", "executable"};
    return names[(unsigned)state < 4 ? state : 0];
}

static void describe_image(zepi_device_image_t image, cJSON *object)
{
    zepi_device_image_info_t info = {.size = sizeof(info)};
    if (zepi.device_image_get_info(image, &info) != ZEPI_SUCCESS)
        return;
    cJSON_AddStringToObject(object, "format",
                            info.format == ZEPI_DEVICE_IMAGE_SPIRV ? "SPIR-V" : "native code");
    cJSON_AddStringToObject(object, "state", state_name(info.state));
    cJSON_AddNumberToObject(object, "size_bytes", (double)info.size_bytes);
}

static cJSON *describe_images(zepi_module_t module)
{
    uint32_t count = 0;
    cJSON *array = cJSON_CreateArray();
    if (zepi.module_get_device_images(module, 0, NULL, &count) != ZEPI_SUCCESS || count == 0)
        return array;
    zepi_device_image_t *images = calloc(count, sizeof(*images));
    if (images && zepi.module_get_device_images(module, count, images, &count) == ZEPI_SUCCESS) {
        for (uint32_t i = 0; i < count; i++) {
            describe_image(images[i], json_add_object(array));
            host_release(images[i]);
        }
    }
    free(images);
    return array;
}

cJSON *show_describe(zepi_module_t module, const char *const *files, uint32_t file_count)
{
    cJSON *document = cJSON_CreateObject();
    zepi_module_info_t info = {.size = sizeof(info)};
    cJSON_AddItemToObject(document, "files", cJSON_CreateStringArray(files, (int)file_count));
    if (zepi.module_get_info(module, &info) == ZEPI_SUCCESS)
        cJSON_AddStringToObject(document, "state", state_name(info.state));
    cJSON_AddItemToObject(document, "images", describe_images(module));
    cJSON_AddItemToObject(document, "kernels", describe_kernels(module));
    cJSON_AddItemToObject(document, "constants", describe_constants(module));
    describe_files(files, file_count, document);
    return document;
}

static void print_symbols(const cJSON *document)
{
    const bool has_several = cJSON_GetArraySize(cJSON_GetObjectItem(document, "files")) > 1;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "symbols"))
        printf("%s: %s %s%s%s\n", json_text(item, "linkage"), json_text(item, "kind"),
               json_text(item, "name"), has_several ? " of " : "",
               has_several ? json_text(item, "file") : "");
}

static void print_kernels(const cJSON *kernels)
{
    const cJSON *kernel;
    puts("kernels:");
    cJSON_ArrayForEach(kernel, kernels)
    {
        const cJSON *argument;
        int index = 0;
        printf("  %s\n", json_text(kernel, "name"));
        cJSON_ArrayForEach(argument, cJSON_GetObjectItem(kernel, "arguments"))
        {
            const double size = cJSON_GetNumberValue(cJSON_GetObjectItem(argument, "size_bytes"));
            const char *space = json_text(argument, "address_space");
            printf("    argument %d: %s%s%s", index++, json_text(argument, "kind"),
                   space[0] ? ", address space " : "", space);
            if (size > 0)
                printf(", %.0f byte%s\n", size, size > 1 ? "s" : "");
            else
                puts(", size unknown");
        }
    }
}

void show_print(const cJSON *document)
{
    const cJSON *item;
    const cJSON *images = cJSON_GetObjectItem(document, "images");
    printf("state: %s\nimages: %d\n", json_text(document, "state"), cJSON_GetArraySize(images));
    cJSON_ArrayForEach(item, images)
        printf("  %s, %s, %.0f bytes\n", json_text(item, "format"), json_text(item, "state"),
               cJSON_GetNumberValue(cJSON_GetObjectItem(item, "size_bytes")));
    print_kernels(cJSON_GetObjectItem(document, "kernels"));
    puts("constants:");
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "constants"))
        printf("  %5.0f  %-4s = %s (default %s, %.0f bytes)\n",
               cJSON_GetNumberValue(cJSON_GetObjectItem(item, "id")), json_text(item, "type"),
               json_text(item, "value"), json_text(item, "default"),
               cJSON_GetNumberValue(cJSON_GetObjectItem(item, "size_bytes")));
    print_symbols(document);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "symbols_unknown_in"))
        printf("imports and exports of %s: unknown, native code does not say them\n"
               "  and no table of its compile is on the disk\n",
               item->valuestring);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(document, "constants_unknown_in"))
        printf("constants and arguments of %s: unknown, native code does not say them\n",
               item->valuestring);
}
