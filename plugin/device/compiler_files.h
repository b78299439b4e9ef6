// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_COMPILER_FILES_H
#define ZEPI_DEVICE_COMPILER_FILES_H

#include "device/elf_needs.h"
#include "device/library_search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The files that decide a driver's machine code: the driver itself, the compiler that it would
// load, and what those need that generates code. What they need beside that (the C library, ...) is
// left out.

struct zepi_compiler_file {
    char name[ZEPI_ELF_NAME_BYTES]; // what it was asked for by, without folders
    char *path;                     // owned
    // Some of these change whenever the contents do.
    uint64_t device;
    uint64_t inode;
    uint64_t size_bytes;
    int64_t modified_ns;
    int64_t changed_ns;
};

struct zepi_compiler_files {
    struct zepi_compiler_file *files; // owned; sorted by name, each name once
    size_t count;
    size_t capacity;
    bool is_exact;     // false: a file could not be looked at, or is another than the one loaded
    bool has_compiler; // beside the driver itself
};

// Where the search begins.
struct zepi_compiler_roots {
    const char *driver; // path of the driver's library
    const char
        *runtime; // path of the OpenCL runtime that ze_cpu compiles with; NULL: other drivers
};

// Names under which drivers have asked for their compiler, ended by NULL.
extern const char *const zepi_compiler_names[];

// False without memory (nothing is left).
bool zepi_compiler_files_init(struct zepi_compiler_files *files,
                              const struct zepi_library_search *search,
                              const struct zepi_compiler_roots *roots);
void zepi_compiler_files_finish(struct zepi_compiler_files *files);

#endif
