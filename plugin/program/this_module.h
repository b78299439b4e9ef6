// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_THIS_MODULE_H
#define ZEPI_PROGRAM_THIS_MODULE_H

#include "cache/hash.h"
#include "core/object.h"
#include "program/device_image/spec_values.h"

// Translation units of the host: images under a token, and the modules that were made of them. A
// unit knows its modules only as long as they are held; the values that were set on its
// input in a context stay until the context goes. Any thread: one lock guards units and their
// modules.

struct zepi_context;
struct zepi_device_image;
struct zepi_module;

// A registered unit. Its images may be used by its holders after it was unregistered.
struct zepi_unit_entry {
    UT_hash_handle hh; // of those registered, by token
    zepi_unit_t token;
    atomic_uint references;
    struct zepi_module *modules; // linked by unit_next, not retained
    uint32_t counts[4];          // of images in each state
    uint32_t image_count;
    struct zepi_device_image *images[]; // retained
};

// Goes up with every change that the kernel of a launch by name might depend on: a unit that comes
// or goes, a value that is set on a unit's module.
extern atomic_uint_fast64_t zepi_unit_version_number; // zepi_unit_version reads it
static inline uint64_t zepi_unit_version(void)
{
    // Acquire: a thread that sees a number sees the changes that made it.
    return atomic_load_explicit(&zepi_unit_version_number, memory_order_acquire);
}
void zepi_unit_note_change(void);

// A new reference to a registered unit. A token that is not in use is an error.
zepi_result_t zepi_unit_acquire(zepi_unit_t token, struct zepi_unit_entry **out_unit);
void zepi_unit_release(struct zepi_unit_entry *unit); // NULL is fine

// The declaration of an image in any state: that of an input first, else that of the native code
// that launches take first. NULL: no image has the constant.
const struct zepi_spec_declaration *zepi_unit_find_declaration(const struct zepi_unit_entry *unit,
                                                               uint32_t id);

// The unit's images of a state as a module, always the same one. New reference.
zepi_result_t zepi_unit_find_or_create_module(struct zepi_unit_entry *unit,
                                              struct zepi_context *context,
                                              zepi_module_state_t state,
                                              struct zepi_module **out_module);

zepi_result_t zepi_unit_register(zepi_unit_t unit, uint32_t image_count,
                                 const zepi_device_image_desc_t *images);
zepi_result_t zepi_unit_unregister(zepi_unit_t unit);

#endif
