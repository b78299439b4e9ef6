// SPDX-License-Identifier: MIT
#include "image_file.h"

#include <stdio.h>
#include <string.h>

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
