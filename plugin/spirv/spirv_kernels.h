// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_KERNELS_H
#define ZEPI_SPIRV_KERNELS_H

#include "spirv.h"
#include "spirv_parser.h"

// Computes the entry functions. After zepi_spirv_find_layouts.
bool zepi_spirv_find_entry_functions(struct zepi_spirv_parser *parser);
// NULL if `id` is no entry function.
struct zepi_spirv_entry_function *
zepi_spirv_find_entry_function(const struct zepi_spirv_parser *parser, uint32_t id);
// Writes the function's arguments to a list with room for them.
void zepi_spirv_write_arguments(const struct zepi_spirv_parser *parser,
                                const struct zepi_spirv_entry_function *function,
                                struct zepi_spirv_argument *out_arguments);

#endif
