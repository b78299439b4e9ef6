// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_JOIN_H
#define ZEPI_PROGRAM_JOIN_H

#include <zepi/zepi.h>

// Modules beside each other: joining and equality. Any thread: objects
// and executables are constant, values of inputs are read under their lock.

struct zepi_module;

// Modules of one context and state.
zepi_result_t zepi_module_join(uint32_t module_count, const zepi_module_t *modules,
                               zepi_module_t *out_module);
bool zepi_modules_are_equal(const struct zepi_module *a, const struct zepi_module *b);
// Equal modules have equal hashes.
uint64_t zepi_module_hash(const struct zepi_module *module);

#endif
