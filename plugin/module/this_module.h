// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_THIS_MODULE_H
#define ZEPI_MODULE_THIS_MODULE_H

#include <zepi/zepi.h>

// Translation units of the host: images under a token, and the modules that were made of them. A
// unit knows its modules only as long as somebody else holds them.

struct zepi_module;
struct zepi_unit_entry; // opaque

// What goes up with every change that a dispatch might depend on: a unit that comes or goes, a
// value that is set on a unit's module.
uint64_t zepi_unit_generation(void);

// A value of the unit's module was set.
void zepi_unit_note_change(void);

// The module is destroyed: its unit forgets it. Only for modules with a unit.
void zepi_unit_forget(struct zepi_module *module);

// Whether the token names a registered unit; an error says so.
zepi_result_t zepi_unit_check(zepi_unit_t unit);

zepi_result_t zepi_unit_register(zepi_unit_t unit, uint32_t image_count,
                                 const zepi_image_desc_t *images);
zepi_result_t zepi_unit_unregister(zepi_unit_t unit);
zepi_result_t zepi_unit_get_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, zepi_module_t *out_module);
zepi_result_t zepi_unit_has_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, bool *out_has);
zepi_result_t zepi_unit_has_any_module(zepi_unit_t unit, zepi_context_t context, bool *out_has);

#endif
