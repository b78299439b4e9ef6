// SPDX-License-Identifier: MIT
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

// Puts a file into the program as NAME_begin to NAME_end.
#define INCLUDE_FILE(name)                                                                         \
    __asm__(".section .rodata\n"                                                                   \
            ".balign 16\n" #name "_begin:\n"                                                       \
            ".incbin \"" KERNEL_FOLDER "/" #name ".spv\"\n" #name "_end:\n"                        \
            ".previous\n");                                                                        \
    extern const unsigned char name##_begin[] __attribute__((visibility("hidden")));               \
    extern const unsigned char name##_end[] __attribute__((visibility("hidden")));

#define FILES(X)                                                                                   \
    X(bench)                                                                                       \
    X(bench_large) X(bench_small) X(convolution) X(matrix_multiply) X(single_value)
FILES(INCLUDE_FILE)

zepi_device_image_desc_t kernel_image(const char *name)
{
    const struct {
        const char *name;
        const unsigned char *begin;
        const unsigned char *end;
    } images[] = {
#define IMAGE(name) {#name, name##_begin, name##_end},
        FILES(IMAGE)
#undef IMAGE
    };
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        if (strcmp(images[i].name, name) == 0)
            return (zepi_device_image_desc_t){.size = sizeof(zepi_device_image_desc_t),
                                              .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                              .state = ZEPI_MODULE_INPUT,
                                              .bytes = images[i].begin,
                                              .size_bytes =
                                                  (size_t)(images[i].end - images[i].begin)};
    }
    abort();
}
