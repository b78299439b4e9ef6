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
    extern const unsigned char name##_end[] __attribute__((visibility("hidden")))

INCLUDE_FILE(bench);
INCLUDE_FILE(bench_large);
INCLUDE_FILE(bench_small);
INCLUDE_FILE(convolution);
INCLUDE_FILE(matrix_multiply);
INCLUDE_FILE(single_value);

struct kernel_image kernel_image(const char *name)
{
    const struct {
        const char *name;
        const unsigned char *begin;
        const unsigned char *end;
    } images[] = {
        {"bench", bench_begin, bench_end},
        {"bench_large", bench_large_begin, bench_large_end},
        {"bench_small", bench_small_begin, bench_small_end},
        {"convolution", convolution_begin, convolution_end},
        {"matrix_multiply", matrix_multiply_begin, matrix_multiply_end},
        {"single_value", single_value_begin, single_value_end},
    };
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        if (strcmp(images[i].name, name) == 0)
            return (struct kernel_image){name, images[i].begin,
                                         (size_t)(images[i].end - images[i].begin)};
    }
    abort();
}
