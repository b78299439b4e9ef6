// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SHOW_H
#define ZEPI_TOOL_SHOW_H

#include "../host.h"

#include <cjson/cJSON.h>

// The lists of zepi build --show: state, images, kernels and constants of a module, imports and
// exports of the files that it was made from. Owned.
cJSON *show_describe(zepi_module_t module, const char *const *files, uint32_t file_count);
// As text, on standard output.
void show_print(const cJSON *document);

#endif
