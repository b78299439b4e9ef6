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

// Each id differs from 0 in one byte.
Test(spec_values, are_told_apart_by_each_byte_of_an_id_and_keep_each_byte_of_a_value)
{
    static const uint32_t ids[] = {0x01000000, 0x00000001, 0x00010000, 0x00000100, 0};
    enum { COUNT = sizeof(ids) / sizeof(ids[0]) };
    struct zepi_spec_entry entries[COUNT];
    for (int i = 0; i < COUNT; i++)
        entries[i] =
            (struct zepi_spec_entry){.id = ids[i],
                                     .size_bytes = 8,
                                     .value = {(uint8_t)i, 1, 2, 3, 4, 5, 6, (uint8_t)(7 + i)}};
    struct zepi_spec_values *values = zepi_spec_values_with(NULL, COUNT, entries, NULL);
    cr_assert_eq(values->count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct zepi_spec_entry *found = zepi_spec_values_find(values, ids[i]);
        cr_assert(found && memcmp(found, &entries[i], sizeof(*found)) == 0, "%x", ids[i]);
        cr_assert(i == 0 || values->entries[i - 1].id < values->entries[i].id);
        cr_assert_null(zepi_spec_values_find(values, ids[i] | 0x80));
    }
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
