// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_CACHE_WARM_H
#define ZEPI_TOOL_CACHE_WARM_H

#include "../host.h"

#include <cjson/cJSON.h>

// The options of the DPC++ runtime for programs that were compiled with -O2, its compiler's
// default.
#define CACHE_WARM_OPTIONS "-ze-opt-level=2"

#define CACHE_WARM_MAX_PROCESSES 256

struct cache_warm {
    const char *const *files; // borrowed
    int file_count;
    const char *folder;  // of the cache
    const char *options; // of the build
    const char *kernels; // a pattern (fnmatch): modules with a kernel of such a name; NULL: all
    uint32_t processes;
    enum host_driver driver;
};

// Builds the modules in the files, in several processes, so that they are on the disk. Adds what
// came of it to the document. Returns an exit code: EXIT_FAILED if a module was not built.
int cache_warm(const struct cache_warm *warm, cJSON *document);

#endif
