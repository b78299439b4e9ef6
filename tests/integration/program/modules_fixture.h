// SPDX-License-Identifier: MIT
//
// Common parts of the tests of modules and dispatch: modules built with a value, native images of
// them, and launches by name whose numbers are checked. For tests/data/scaled_copy.cl, whose kernel
// scaled_copy_int multiplies by constant 7.
#ifndef ZEPI_TESTS_INTEGRATION_MODULES_FIXTURE_H
#define ZEPI_TESTS_INTEGRATION_MODULES_FIXTURE_H

#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Any address will do as a token.
extern const char unit_tokens[8];
#define UNIT ((zepi_unit_t)&unit_tokens[0])
#define OTHER_UNIT ((zepi_unit_t)&unit_tokens[1])

// An executable of `input` with constant 7 set to a value; it stays set.
zepi_module_t build_with(zepi_module_t input, int32_t value);
// The same of scaled_copy.
zepi_module_t scaled_copy_with(int32_t value);

// The native code of a module as an image. `baked` may be NULL. test_native_image_finish frees its
// bytes.
zepi_device_image_desc_t native_image(zepi_module_t module, zepi_module_state_t state,
                                      const zepi_spec_value_t *baked);

uint32_t image_count(zepi_module_t module);

// A launch of scaled_copy_int by name over four numbers, from UNIT.
struct launch {
    int32_t *in;
    int32_t *out;
    zepi_argument_t arguments[2];
    zepi_spec_value_t value;
    int32_t number;
    zepi_launch_desc_t desc;
};
void launch_init(struct launch *launch);
void launch_finish(struct launch *launch);

// Launches with `value` for constant 7, or with none (0); expects the numbers times `factor`.
void expect(struct launch *launch, int32_t value, int32_t factor);
// Launches with `value`, or with none (0), and expects this failure.
void expect_failure(struct launch *launch, int32_t value, zepi_result_t result, const char *words);

#endif
