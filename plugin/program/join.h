// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_JOIN_H
#define ZEPI_PROGRAM_JOIN_H

#include <zepi/zepi.h>

// Modules beside each other: joining, equality, and the modules of a context. Any thread: objects
// and executables are constant, values of inputs are read under their lock.

zepi_result_t zepi_module_join(uint32_t module_count, const zepi_module_t *modules,
                               zepi_module_t *out_module);
zepi_result_t zepi_module_is_equal(zepi_module_t a, zepi_module_t b, bool *out_is_equal);
zepi_result_t zepi_module_get_hash(zepi_module_t module, uint64_t *out_hash);
zepi_result_t zepi_context_get_modules(zepi_context_t context, zepi_module_state_t state,
                                       uint32_t capacity, zepi_module_t *out_modules,
                                       uint32_t *out_count);

#endif
