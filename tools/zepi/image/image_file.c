// SPDX-License-Identifier: MIT
#include "image_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool image_is_spirv(const struct file_bytes *file)
{
    // Either byte order: the plugin's refusal of the wrong one says more than a driver's.
    static const unsigned char magic[2][4] = {{0x03, 0x02, 0x23, 0x07}, {0x07, 0x23, 0x02, 0x03}};
    return file->size_bytes >= 4 &&
           (memcmp(file->bytes, magic[0], 4) == 0 || memcmp(file->bytes, magic[1], 4) == 0);
}

// Whether the bytes are text, as native code never is.
static bool is_text(const struct file_bytes *file)
{
    const size_t size = file->size_bytes < 4096 ? file->size_bytes : 4096;
    for (size_t i = 0; i < size; i++)
        if (file->bytes[i] == 0x7f ||
            (file->bytes[i] < ' ' && !strchr("\t\n\v\f\r", file->bytes[i])) ||
            file->bytes[i] == '\0')
            return false;
    return size > 0;
}

// The name of source code in place of an image. NULL: it is none.
static const char *source_name(const struct file_bytes *file)
{
    // Plain, and in a wrapper.
    static const char bitcode[2][5] = {"BC\xc0\xde", "\xde\xc0\x17\x0b"};
    const char *text = (const char *)file->bytes;
    if (file->size_bytes >= 4 &&
        (memcmp(text, bitcode[0], 4) == 0 || memcmp(text, bitcode[1], 4) == 0))
        return "LLVM bitcode";
    if (!is_text(file))
        return NULL;
    return strstr(text, "OpCapability ")   ? "SPIR-V as text"
           : strstr(text, "target triple") ? "LLVM IR as text"
           : strstr(text, "kernel")        ? "OpenCL C"
                                           : "text";
}

// Says so, with the commands that make SPIR-V of source code.
static void refuse_source(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const int length = dot ? (int)(dot - path) : (int)strlen(path);
    fprintf(stderr, "zepi: %s is %s, expected SPIR-V or native code; ", path, name);
    if (strcmp(name, "SPIR-V as text") == 0)
        fprintf(stderr, "SPIR-V-Tools make SPIR-V of it:\n  spirv-as -o %.*s.spv %s\n", length,
                path, path);
    else
        fprintf(stderr,
                "clang and llvm-spirv of one version make SPIR-V of OpenCL C:\n"
                "  clang -c -target spir64 -cl-std=CL3.0 -Xclang -finclude-default-header "
                "-emit-llvm -o %.*s.bc %.*s.cl\n"
                "  llvm-spirv --spirv-max-version=1.2 -o %.*s.spv %.*s.bc\n",
                length, path, length, path, length, path, length, path);
}

bool image_read(const char *path, struct file_bytes *out_file)
{
    if (!file_read(path, out_file))
        return false;
    const char *name = source_name(out_file);
    const bool is_image = out_file->size_bytes > 0 && !name;
    if (name)
        refuse_source(path, name);
    else if (!is_image)
        fprintf(stderr, "zepi: %s is empty, expected SPIR-V or native code\n", path);
    if (!is_image)
        free(out_file->bytes);
    return is_image;
}

zepi_result_t image_create_module(const struct host_device *host, const struct file_bytes *file,
                                  zepi_module_state_t native_state, uint32_t layout_count,
                                  const zepi_spec_layout_t *layouts, zepi_module_t *out_module)
{
    const bool is_spirv = image_is_spirv(file);
    const zepi_module_state_t state = is_spirv ? ZEPI_MODULE_INPUT : native_state;
    const zepi_device_image_desc_t desc = {.size = sizeof(desc),
                                           .format = is_spirv ? ZEPI_DEVICE_IMAGE_SPIRV
                                                              : ZEPI_DEVICE_IMAGE_NATIVE,
                                           .state = state,
                                           .bytes = file->bytes,
                                           .size_bytes = file->size_bytes,
                                           .layouts = layouts,
                                           .layout_count = layout_count};
    return zepi.module_create(host->context, state, 1, &desc, out_module);
}
