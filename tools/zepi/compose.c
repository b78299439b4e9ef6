// SPDX-License-Identifier: MIT
#include "compose.h"

#include "image_file.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_FILES 64

static void release_all(uint32_t count, zepi_module_t *modules)
{
    for (uint32_t i = 0; i < count; i++)
        host_release(modules[i]);
}

static int join(const struct host_device *host, const struct spec_options *spec,
                uint32_t file_count, const char *const *files, zepi_module_t *out_module)
{
    zepi_module_t modules[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < file_count && code == EXIT_OK; count++)
        code = spec_create_module(spec, host, files[count], &modules[count]);
    if (code == EXIT_OK && zepi.module_join(count, modules, out_module) != ZEPI_SUCCESS)
        code = host_fail("join");
    release_all(count, modules);
    return code;
}

int compose_input(const struct host_device *host, enum compose_mode mode,
                  const struct spec_options *spec, uint32_t file_count, const char *const *files,
                  zepi_module_t *out_module)
{
    *out_module = NULL;
    if (file_count > MAX_FILES) {
        fprintf(stderr, "zepi build: at most %d files\n", MAX_FILES);
        return EXIT_USAGE;
    }
    if (mode == COMPOSE_LINK)
        return EXIT_OK;
    return mode == COMPOSE_JOIN ? join(host, spec, file_count, files, out_module)
                                : spec_create_module(spec, host, files[0], out_module);
}

// An object of a file: SPIR-V is compiled, native code is taken as an object.
static zepi_result_t read_object(const struct host_device *host, const char *path,
                                 const zepi_build_desc_t *desc, zepi_module_t *out_object)
{
    struct file_bytes file;
    zepi_module_t input = NULL;
    if (!file_read(path, &file))
        return ZEPI_ERROR_INVALID_VALUE;
    const bool is_spirv = image_is_spirv(&file);
    const zepi_module_state_t state = is_spirv ? ZEPI_MODULE_INPUT : ZEPI_MODULE_OBJECT;
    const zepi_image_desc_t image = {.size = sizeof(image),
                                     .format = is_spirv ? ZEPI_IMAGE_SPIRV : ZEPI_IMAGE_NATIVE,
                                     .state = state,
                                     .bytes = file.bytes,
                                     .size_bytes = file.size_bytes};
    zepi_result_t result =
        zepi.module_create(host->context, state, 1, &image, is_spirv ? &input : out_object);
    if (result == ZEPI_SUCCESS && is_spirv)
        result = zepi.module_compile(input, desc, out_object);
    host_release(input);
    free(file.bytes);
    return result;
}

static zepi_result_t link_files(const struct host_device *host, uint32_t file_count,
                                const char *const *files, const zepi_build_desc_t *desc,
                                zepi_module_t *out_module)
{
    zepi_module_t objects[MAX_FILES] = {NULL};
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    for (; count < file_count && result == ZEPI_SUCCESS; count++)
        result = read_object(host, files[count], desc, &objects[count]);
    if (result == ZEPI_SUCCESS)
        result = zepi.module_link(count, objects, desc, out_module);
    release_all(count, objects);
    return result;
}

zepi_result_t compose_output(const struct host_device *host, enum compose_mode mode,
                             zepi_module_t input, uint32_t file_count, const char *const *files,
                             const zepi_build_desc_t *desc, zepi_module_t *out_module)
{
    if (mode == COMPOSE_LINK)
        return link_files(host, file_count, files, desc, out_module);
    return mode == COMPOSE_COMPILE ? zepi.module_compile(input, desc, out_module)
                                   : zepi.module_build(input, desc, out_module);
}
