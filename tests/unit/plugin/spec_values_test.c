// SPDX-License-Identifier: MIT
#include "program/device_image/spec_values.h"

#include <criterion/criterion.h>
#include <string.h>

static struct zepi_spec_entry entry(uint32_t id, uint8_t value)
{
    return (struct zepi_spec_entry){.id = id, .size_bytes = 1, .value = {value}};
}

Test(spec_values, are_sorted_and_the_last_one_counts)
{
    const struct zepi_spec_entry first[] = {entry(9, 1), entry(2, 2), entry(9, 3)};
    const struct zepi_spec_entry second[] = {entry(5, 4), entry(2, 5)};
    struct zepi_spec_values *old = zepi_spec_values_with(NULL, 3, first, NULL);
    struct zepi_spec_values *values = zepi_spec_values_with(old, 2, second, NULL);
    cr_assert_eq(old->count, 2);
    cr_assert_eq(zepi_spec_values_find(old, 9)->value[0], 3);
    cr_assert_eq(zepi_spec_values_find(old, 2)->value[0], 2);
    cr_assert_eq(values->count, 3);
    cr_assert(values->entries[0].id == 2 && values->entries[1].id == 5 &&
              values->entries[2].id == 9);
    cr_assert_eq(zepi_spec_values_find(values, 2)->value[0], 5);
    cr_assert_null(zepi_spec_values_find(values, 3));
    cr_assert_null(zepi_spec_values_find(NULL, 3));
    zepi_spec_values_release(old);
    zepi_spec_values_release(values);
}

Test(spec_values, keep_the_bytes_of_composites)
{
    uint8_t bytes[3] = {1, 2, 3};
    char name[] = "name";
    const struct zepi_spec_composite composite = {name, 3, bytes};
    struct zepi_spec_values *old = zepi_spec_values_with(NULL, 0, NULL, &composite);
    bytes[1] = 9;
    struct zepi_spec_values *values = zepi_spec_values_with(old, 0, NULL, &composite);
    cr_assert_eq(zepi_spec_values_find_composite(old, "name")->bytes[1], 2);
    cr_assert_eq(zepi_spec_values_find_composite(values, "name")->bytes[1], 9);
    cr_assert_eq(values->composite_count, 1);
    cr_assert_null(zepi_spec_values_find_composite(values, "other"));
    zepi_spec_values_release(old);
    zepi_spec_values_release(values);
}

Test(spec_values, bools_are_0_or_1)
{
    const struct zepi_spec_declaration declaration = {
        .id = 1, .type = ZEPI_SCALAR_BOOL, .size_bytes = 1};
    struct zepi_spec_entry made;
    const uint8_t large = 77;
    cr_assert_eq(zepi_spec_entry_init(&made, &declaration, 1, &large), ZEPI_SUCCESS);
    cr_assert_eq(made.value[0], 1);
    cr_assert_eq(zepi_spec_entry_init(&made, &declaration, 2, &large),
                 ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    cr_assert(strstr(zepi_last_error(NULL), "expected a value of 1 bytes, got 2"));
}
