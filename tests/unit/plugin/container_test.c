// SPDX-License-Identifier: MIT
#include "program/native/container.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct zepi_container_member members[] = {
    {"first", 5, 0}, {"the second", 10, 0}, {"3", 1, 1}};

static uint8_t *pack(size_t *out_size)
{
    *out_size = zepi_container_size(3, members);
    uint8_t *bytes = malloc(*out_size);
    zepi_container_pack(3, members, bytes);
    return bytes;
}

Test(container, gives_back_what_was_packed)
{
    size_t size;
    const char *reason;
    struct zepi_container_member found[3];
    uint8_t *bytes = pack(&size);
    cr_assert(zepi_container_is(bytes, size));
    cr_assert_eq(zepi_container_check(bytes, size, &reason), 3);
    zepi_container_unpack(bytes, found);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(found[i].group, members[i].group);
        cr_assert_eq(found[i].size_bytes, members[i].size_bytes);
        cr_assert_eq(memcmp(found[i].bytes, members[i].bytes, members[i].size_bytes), 0);
    }
    free(bytes);
}

Test(container, refuses_every_truncation_and_every_extension)
{
    size_t size;
    const char *reason;
    uint8_t *bytes = pack(&size);
    for (size_t cut = 0; cut < size; cut++)
        cr_assert_eq(zepi_container_check(bytes, cut, &reason), 0);
    uint8_t *longer = calloc(1, size + 4);
    memcpy(longer, bytes, size);
    for (size_t more = 1; more <= 4; more++)
        cr_assert_eq(zepi_container_check(longer, size + more, &reason), 0);
    free(longer);
    free(bytes);
}

Test(container, refuses_every_flipped_bit)
{
    size_t size;
    const char *reason;
    uint8_t *bytes = pack(&size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(zepi_container_check(bytes, size, &reason), 0, "bit %zu", bit);
        cr_assert_gt(strlen(reason), 0);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

// Bytes with a right checksum may still have wrong lengths.
Test(container, refuses_members_that_do_not_fit)
{
    static const struct zepi_container_member wrong[][2] = {
        {{"a", 1, 1}, {"b", 1, 1}}, // begins at group 1
        {{"a", 1, 0}, {"b", 1, 2}}, // leaves out a group
        {{"a", 1, 0}, {"", 0, 0}},  // has no bytes
    };
    for (int i = 0; i < 3; i++) {
        uint8_t bytes[128];
        const char *reason;
        const size_t size = zepi_container_size(2, wrong[i]);
        zepi_container_pack(2, wrong[i], bytes);
        cr_assert_eq(zepi_container_check(bytes, size, &reason), 0);
        cr_assert(strstr(reason, "lengths") || strstr(reason, "groups"));
    }
}

Test(container, knows_others_bytes)
{
    const char *reason;
    cr_assert(!zepi_container_is("\177ELF and so on", 13));
    cr_assert(!zepi_container_is("", 0));
    cr_assert_eq(
        zepi_container_check("\177ELF and so on, longer than a head would be", 43, &reason), 0);
}
