// SPDX-License-Identifier: MIT
#include "compose.h"

#include "image_file.h"
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static zepi_result_t create_native(const struct host_device *host, const struct file_bytes *file,
                                   zepi_module_state_t state, zepi_module_t *out_module)
{
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = state,
                                            .bytes = file->bytes,
                                            .size_bytes = file->size_bytes};
    return zepi.module_create(host->context, state, 1, &image, out_module);
}

// Native code does not tell whether it is an object. Code of a known object, or with imports, is
// one.
static int show(const struct host_device *host, const struct spec_options *spec, const char *path,
                zepi_module_t *out_module)
{
    struct file_bytes file;
    zepi_result_t result = ZEPI_ERROR_LINK_FAILURE;
    if (strcmp(path, "-") == 0)
        return spec_create_module(spec, host, path, out_module);
    if (!image_read(path, &file))
        return EXIT_FAILED;
    const bool is_native = !image_is_spirv(&file) && file.size_bytes > 0;
    if (is_native && !symbols_is_object(&file))
        result = create_native(host, &file, ZEPI_MODULE_EXECUTABLE, out_module);
    if (is_native && result == ZEPI_ERROR_LINK_FAILURE)
        result = create_native(host, &file, ZEPI_MODULE_OBJECT, out_module);
    free(file.bytes);
    if (!is_native)
        return spec_create_module(spec, host, path, out_module);
    return result == ZEPI_SUCCESS ? EXIT_OK : host_fail(path);
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
    switch (mode) {
    case COMPOSE_LINK:
        return EXIT_OK;
    case COMPOSE_JOIN:
        return join(host, spec, file_count, files, out_module);
    case COMPOSE_SHOW:
        return show(host, spec, files[0], out_module);
    default:
        return spec_create_module(spec, host, files[0], out_module);
    }
}

// An object of a file: SPIR-V is compiled, native code is taken as an object.
static zepi_result_t make_object(const struct host_device *host, const struct file_bytes *file,
                                 const zepi_build_desc_t *desc, zepi_module_t *out_object)
{
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = file->bytes,
                                            .size_bytes = file->size_bytes};
    zepi_module_t input = NULL;
    if (!image_is_spirv(file))
        return create_native(host, file, ZEPI_MODULE_OBJECT, out_object);
    zepi_result_t result = zepi.module_create(host->context, ZEPI_MODULE_INPUT, 1, &image, &input);
    if (result == ZEPI_SUCCESS)
        result = zepi.module_compile(input, desc, out_object);
    host_release(input);
    return result;
}

static int link_files(const struct host_device *host, uint32_t file_count, const char *const *files,
                      const zepi_build_desc_t *desc, const char **out_failed,
                      zepi_module_t *out_module)
{
    zepi_module_t objects[MAX_FILES] = {NULL};
    uint32_t count = 0;
    int code = EXIT_OK;
    for (; count < file_count && code == EXIT_OK; count++) {
        struct file_bytes file;
        if (!image_read(files[count], &file)) {
            code = EXIT_FAILED;
            break;
        }
        if (make_object(host, &file, desc, &objects[count]) != ZEPI_SUCCESS) {
            *out_failed = files[count];
            code = EXIT_FAILED;
        }
        free(file.bytes);
    }
    if (code == EXIT_OK && zepi.module_link(count, objects, desc, out_module) != ZEPI_SUCCESS) {
        *out_failed = "link";
        code = EXIT_FAILED;
    }
    release_all(count, objects);
    return code;
}

int compose_output(const struct host_device *host, enum compose_mode mode, zepi_module_t input,
                   uint32_t file_count, const char *const *files, const zepi_build_desc_t *desc,
                   const char **out_failed, zepi_module_t *out_module)
{
    if (mode == COMPOSE_LINK)
        return link_files(host, file_count, files, desc, out_failed, out_module);
    const zepi_result_t result = mode == COMPOSE_COMPILE
                                     ? zepi.module_compile(input, desc, out_module)
                                     : zepi.module_build(input, desc, out_module);
    if (result == ZEPI_SUCCESS)
        return EXIT_OK;
    *out_failed = files[0];
    return EXIT_FAILED;
}
