// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_COMPILER_LIBRARIES_H
#define ZEPI_DEVICE_COMPILER_LIBRARIES_H

#include "cache/digest.h"

#include <stdbool.h>
#include <stdint.h>

// The libraries that decide a driver's native code: the driver's own and those of its compiler, as
// the dynamic loader has loaded them. The compiler's are found by their names, since any library
// may have loaded them: comparing the lists of before and after a compile would miss a compiler
// that the host, another adapter or the driver's bring-up loaded, and would take in libraries
// that other threads load meanwhile.

#define ZEPI_LIBRARY_PATH_BYTES 512
#define ZEPI_BUILD_ID_BYTES 32
#define ZEPI_COMPILER_LIBRARIES_MAX 16

// Plain bytes without padding: records on disk hold them as they are.
struct zepi_compiler_library {
    char path[ZEPI_LIBRARY_PATH_BYTES];    // as the dynamic loader opened it; zeros follow
    uint8_t build_id[ZEPI_BUILD_ID_BYTES]; // zeros: it has none
    // Of the file. One of them changes whenever the contents do.
    uint64_t inode;
    uint64_t size_bytes;
    int64_t modified_ns;
    int64_t changed_ns;
};

struct zepi_compiler_libraries {
    uint32_t count;
    bool has_compiler; // itself, beside the libraries that it uses
    struct zepi_compiler_library list[ZEPI_COMPILER_LIBRARIES_MAX];
};

enum zepi_compiler_kind {
    ZEPI_COMPILER_OF_GPU, // a graphics compiler
    ZEPI_COMPILER_OF_CPU, // an OpenCL runtime
};

// Lists the libraries that are loaded at this moment: the driver's library (`driver_path`, as the
// dynamic loader has it) and any number of the compiler's. Returns false if the driver's is not
// loaded, or if a library cannot be identified: its file is gone, is another one by now, or cannot
// be read.
bool zepi_compiler_libraries_list(struct zepi_compiler_libraries *libraries,
                                  const char *driver_path, enum zepi_compiler_kind kind);

// Whether each file is unchanged since it was listed.
bool zepi_compiler_libraries_are_unchanged(const struct zepi_compiler_libraries *libraries);

// Whether no library in `loaded` is another file than the one of that name in `libraries`, and no
// compiler is new.
bool zepi_compiler_libraries_agree(const struct zepi_compiler_libraries *libraries,
                                   const struct zepi_compiler_libraries *loaded);

// Of the names and build ids; of the file's inode, size and times where there is no build id. Does
// not depend on the order, nor on the folders.
struct zepi_digest zepi_compiler_libraries_digest(const struct zepi_compiler_libraries *libraries);

#endif
