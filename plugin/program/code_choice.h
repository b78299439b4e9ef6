// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_CODE_CHOICE_H
#define ZEPI_PROGRAM_CODE_CHOICE_H

#include "program/device_image/device_image.h"

struct zepi_module;

// Which code serves a request, as far as values of specialization constants decide. Builds,
// launches from modules and launches from units ask here, and nowhere else are values compared.
// There are three rules.
//
// First, code that declares a constant (SPIR-V, or native code that says what it was made with)
// must have the value that is wanted: the launch's, else the one that was set, else the default.
//
// Second, code that does not declare a constant was made with its default, as far as there is one.
// Another value of a constant that other code of the kernel declares will not do.
//
// Third, values next to a module must be the module's, whichever of its kernels use them.
//
// All pointers are borrowed for the call. Any thread.

// Values that are wanted.
struct zepi_wanted {
    uint32_t entry_count;
    const struct zepi_spec_entry *entries; // the launch's
    const struct zepi_spec_values *bound;  // those that were set, or NULL
    // Sorted by id: of the input, or of the module that a launch names. A constant that only native
    // code was made with has no default.
    uint32_t declaration_count;
    const struct zepi_spec_declaration *declarations;
    // Constants without a value must have their default, and required ones must have a value. A
    // selector's choice and a module that a launch names need neither.
    bool needs_defaults;
    bool takes_emulated; // constants that come through memory have any value
};

// The launch's value of a constant, else the one that was set; NULL: neither.
const struct zepi_spec_entry *zepi_wanted_find(const struct zepi_wanted *wanted, uint32_t id);

// Code of one or more images.
struct zepi_code {
    uint32_t image_count;
    struct zepi_device_image *const *images;
    struct zepi_spec_values *const
        *values; // that each was built with; NULL: those that it declares
};

// Other images that may have a kernel of the code, with those that they import from; the code's own
// may be among them.
struct zepi_code_peers {
    uint32_t image_count;
    struct zepi_device_image *const *images;
    // Whether the image has a kernel of the code on the device. Asked if it matters: it may build.
    zepi_result_t (*has_kernel)(void *user, struct zepi_device_image *image, bool *out_has);
    void *user;
};

// The first constant for which the code will not do.
struct zepi_mismatch {
    const struct zepi_spec_declaration *declaration; // NULL: the code serves
    const struct zepi_spec_entry *given;             // NULL: no value, so the default is wanted
    const uint8_t *built;         // the code's value; NULL: it does not declare it
    const uint8_t *default_value; // NULL: the constant has none
};

// `peers` NULL: the first rule alone. Fails only if a peer's has_kernel fails, or without memory.
zepi_result_t zepi_code_match(const struct zepi_wanted *wanted, const struct zepi_code *code,
                              const struct zepi_code_peers *peers,
                              struct zepi_mismatch *out_mismatch);

// The third rule, for the launch's values.
zepi_result_t zepi_wanted_check_module(const struct zepi_wanted *wanted,
                                       const struct zepi_module *module);

// The error of a launch for a constant whose value was given.
zepi_result_t zepi_mismatch_fail(const struct zepi_mismatch *mismatch);

// The values of an image's emulated constants: those wanted, else `built`, else the defaults. A
// reference; *out_values may be NULL.
zepi_result_t zepi_wanted_emulated_values(const struct zepi_wanted *wanted,
                                          const struct zepi_device_image *image,
                                          struct zepi_spec_values *built,
                                          struct zepi_spec_values **out_values);

#endif
