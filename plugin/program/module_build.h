// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_MODULE_BUILD_H
#define ZEPI_PROGRAM_MODULE_BUILD_H

#include "program/build/build_options.h"
#include "program/module.h"

// From input to object (compile) and executable (build). Any thread.

// Does what zepi_module_build does with these values in place of the input's own; the module is not
// published. `desc` may be NULL.
zepi_result_t zepi_module_build_with(struct zepi_module *input, struct zepi_spec_values *values,
                                     const zepi_build_desc_t *desc, enum zepi_variables variables,
                                     struct zepi_module **out_executable);
zepi_result_t zepi_module_build(zepi_module_t input, const zepi_build_desc_t *desc,
                                enum zepi_variables variables, zepi_module_t *out_executable);
zepi_result_t zepi_module_compile(zepi_module_t input, const zepi_build_desc_t *desc,
                                  zepi_module_t *out_object);

#endif
