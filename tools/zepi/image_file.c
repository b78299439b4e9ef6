// SPDX-License-Identifier: MIT
#include "image_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const char *path, int error)
{
    fprintf(stderr, "zepi: %s: %s\n", path, strerror(error));
    return false;
}

bool file_read(const char *path, struct file_bytes *out_file)
{
    const bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    size_t capacity = 65536;
    size_t size = 0;
    unsigned char *bytes = malloc(capacity + 1);
    if (!file) {
        free(bytes);
        return fail(path, errno);
    }
    while (bytes) {
        const size_t got = fread(bytes + size, 1, capacity - size, file);
        size += got;
        if (got == 0)
            break;
        if (size == capacity) {
            unsigned char *larger = realloc(bytes, 2 * capacity + 1);
            if (!larger)
                free(bytes);
            bytes = larger;
            capacity *= 2;
        }
    }
    const int error = !bytes ? ENOMEM : ferror(file) ? errno : 0;
    if (!is_input)
        fclose(file);
    if (error) {
        free(bytes);
        return fail(path, error);
    }
    bytes[size] = '\0';
    *out_file = (struct file_bytes){bytes, size};
    return true;
}

bool file_write(const char *path, const void *bytes, size_t size_bytes)
{
    const bool is_output = strcmp(path, "-") == 0;
    FILE *file = is_output ? stdout : fopen(path, "wb");
    if (!file)
        return fail(path, errno);
    const bool is_written = fwrite(bytes, 1, size_bytes, file) == size_bytes;
    const int error = errno;
    const bool is_closed = is_output ? fflush(file) == 0 : fclose(file) == 0;
    return (is_written && is_closed) || fail(path, error);
}

bool image_is_spirv(const struct file_bytes *file)
{
    // Either byte order: the plugin's refusal of the wrong one says more than a driver's.
    static const unsigned char magic[2][4] = {{0x03, 0x02, 0x23, 0x07}, {0x07, 0x23, 0x02, 0x03}};
    return file->size_bytes >= 4 &&
           (memcmp(file->bytes, magic[0], 4) == 0 || memcmp(file->bytes, magic[1], 4) == 0);
}

int image_create_module(const struct host_device *host, const struct file_bytes *file,
                        const char *path, uint32_t layout_count, const zepi_spec_layout_t *layouts,
                        zepi_module_t *out_module)
{
    const bool is_spirv = image_is_spirv(file);
    const zepi_module_state_t state = is_spirv ? ZEPI_MODULE_INPUT : ZEPI_MODULE_EXECUTABLE;
    const zepi_device_image_desc_t desc = {.size = sizeof(desc),
                                           .format = is_spirv ? ZEPI_DEVICE_IMAGE_SPIRV
                                                              : ZEPI_DEVICE_IMAGE_NATIVE,
                                           .state = state,
                                           .bytes = file->bytes,
                                           .size_bytes = file->size_bytes,
                                           .layouts = layouts,
                                           .layout_count = layout_count};
    if (file->size_bytes == 0) {
        fprintf(stderr, "zepi: %s is empty, expected SPIR-V or native code\n", path);
        return EXIT_FAILED;
    }
    return zepi.module_create(host->context, state, 1, &desc, out_module) == ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail(path);
}
