// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_KERNELS_H
#define ZEPI_SPIRV_KERNELS_H

#include "spirv_parser.h"

// Computes the entry functions. After zepi_spirv_find_layouts.
bool zepi_spirv_find_entry_functions(struct zepi_spirv_parser *parser);
// NULL if `id` is no entry function.
struct zepi_spirv_entry_function *
zepi_spirv_find_entry_function(const struct zepi_spirv_parser *parser, uint32_t id);
// The first instruction from `word` on that is no debug line.
struct zepi_spirv_instruction zepi_spirv_skip_lines(const struct zepi_spirv_parser *parser,
                                                    uint32_t word);

#endif
