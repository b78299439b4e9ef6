// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_SPEC_CONSTANTS_H
#define ZEPI_PROGRAM_SPEC_CONSTANTS_H

#include <zepi/zepi.h>

// Setting specialization constants of input modules. Any thread.

struct zepi_module;
struct zepi_spec_composite;
struct zepi_spec_entry;

zepi_result_t zepi_spec_constant_set_many(zepi_module_t input, uint32_t count,
                                          const zepi_spec_value_t *values);

// A value for a constant of the module, checked.
zepi_result_t zepi_module_check_constant(const struct zepi_module *module, uint32_t id,
                                         size_t size_bytes, const void *value,
                                         struct zepi_spec_entry *out_entry);
zepi_result_t zepi_module_fail_unknown_constant(const struct zepi_module *module, uint32_t id);
// Replaces the module's values by a set with these entries in it. `composite`, or NULL: that they
// are elements of.
zepi_result_t zepi_module_put_values(struct zepi_module *module, uint32_t count,
                                     const struct zepi_spec_entry *entries,
                                     const struct zepi_spec_composite *composite);

#endif
