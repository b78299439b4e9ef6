// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_MODULE_LINK_H
#define ZEPI_PROGRAM_MODULE_LINK_H

#include "program/build/build_options.h"
#include "program/module.h"

// From objects to an executable. Any thread.

// Does what zepi_module_link does, but the module is not published.
zepi_result_t zepi_module_link_objects(uint32_t object_count, const zepi_module_t *objects,
                                       const zepi_build_desc_t *desc, enum zepi_variables variables,
                                       struct zepi_module **out_executable);
zepi_result_t zepi_module_link(uint32_t object_count, const zepi_module_t *objects,
                               const zepi_build_desc_t *desc, enum zepi_variables variables,
                               zepi_module_t *out_executable);

#endif
