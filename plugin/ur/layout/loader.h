// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_LOADER_H
#define ZEPI_UR_LAYOUT_LOADER_H

#include <stdint.h>

// Unified Runtime's tables differ from release to release of DPC++, and the version number stays
// 0.12. A loader with another layout would call wrong functions. So its release is found by the
// names of functions in its file, as exports or for tracing. Any thread.

// The functions of Unified Runtime that a module names. Bits are those of ZEPI_UR_FUNCTIONS.
struct zepi_ur_loader {
    const char *path;          // of the module; "an unknown module" if there is none. Borrowed
    uint32_t releases;         // releases whose functions, and no others, it names
    char unknown_function[64]; // a function of a table that it names and no release has, or ""
};

// Reads the file of the module that `caller` lies in.
void zepi_ur_loader_inspect(const void *caller, struct zepi_ur_loader *out_loader);

#endif
