// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SHOW_H
#define ZEPI_TOOL_SHOW_H

#include "host.h"

#include <cjson/cJSON.h>

// What zepi build --show lists: of a module state, images, kernels and constants, of the files that
// it was made from imports and exports.
struct shown {
    zepi_module_t module;
    zepi_module_t input; // what standard input was read into, if it is among the files; or NULL
    const char *const *files;
    uint32_t file_count;
};

// Owned.
cJSON *show_describe(const struct shown *shown);
// As text, on standard output.
void show_print(const cJSON *document);

#endif
