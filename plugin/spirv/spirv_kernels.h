// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_KERNELS_H
#define ZEPI_SPIRV_KERNELS_H

#include "spirv_walk.h"

// Computes the entry functions. After zepi_spirv_find_layouts.
enum zepi_spirv_status zepi_spirv_find_entry_functions(struct zepi_spirv_walk *walk);
// NULL if `id` is no entry function.
struct zepi_spirv_entry_function *zepi_spirv_find_entry_function(const struct zepi_spirv_walk *walk,
                                                                 uint32_t id);
// Writes the argument_count arguments of `function`.
void zepi_spirv_write_arguments(const struct zepi_spirv_walk *walk,
                                const struct zepi_spirv_entry_function *function,
                                struct zepi_spirv_argument *out_arguments);

#endif
