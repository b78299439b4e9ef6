// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_CALLGRIND_FILE_H
#define ZEPI_TOOL_BENCH_CALLGRIND_FILE_H

#include <stdbool.h>

// The counts in a file of callgrind. This program itself counts nowhere, nor does the stand-in for
// the kernel's driver (libdrm_shim.so), with all that it calls.
struct callgrind_file {
    double all;    // instructions
    double loader; // of these, in the loader of Level Zero itself
    double driver; // in the driver and its callees
    // In calls of this program into zepi, the C library that it calls there included, without what
    // it calls of the loader and of a driver.
    double own;
};

// False if the file is not there, or has no instructions.
bool callgrind_file_read(const char *path, struct callgrind_file *out_file);

#endif
