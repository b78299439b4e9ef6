// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_KERNELS_H
#define ZEPI_TOOL_KERNELS_H

#include <stddef.h>

// The demo's device code, compiled to SPIR-V and built into this program.
struct kernel_image {
    const char *name;
    const unsigned char *bytes;
    size_t size_bytes;
};

// Ends the program if there is none of this name: they are ours.
struct kernel_image kernel_image(const char *name);

#endif
