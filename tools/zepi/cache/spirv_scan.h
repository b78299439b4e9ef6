// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SPIRV_SCAN_H
#define ZEPI_TOOL_SPIRV_SCAN_H

#include <stdbool.h>
#include <stddef.h>

// SPIR-V modules among the bytes of a file: an executable or a library of the DPC++ compiler has
// its device images as they are, one behind the other.

struct spirv_module {
    const unsigned char *bytes; // borrowed from the file
    size_t size_bytes;
};

// Finds the next module at or behind *offset, and moves *offset behind it. A module begins at a
// multiple of four and ends behind its last function; one at the begin of a file is all of the
// file. Returns false if there is none. Whether a module is sound is not looked at.
bool spirv_scan_next(const unsigned char *bytes, size_t size_bytes, size_t *offset,
                     struct spirv_module *out_module);

#endif
