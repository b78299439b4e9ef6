// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SHOW_H
#define ZEPI_TOOL_SHOW_H

#include "../host.h"

#include <cjson/cJSON.h>

// The lists of zepi build --show: state, images, kernels and constants of a module, imports and
// exports of the files that it was made from.
struct shown {
    zepi_module_t module;
    zepi_module_t input; // the bytes of standard input, if it is among the files; or NULL
    const char *const *files;
    uint32_t file_count;
};

// Owned.
cJSON *show_describe(const struct shown *shown);
// As text, on standard output.
void show_print(const cJSON *document);

#endif
