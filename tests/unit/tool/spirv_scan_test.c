// SPDX-License-Identifier: MIT
#include "tools/zepi/cache/spirv_scan.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

// A module of one function that does nothing, then a word that belongs to nothing.
#define MODULE                                                                                     \
    0x07230203, 0x00010200, 0, 9, 0,     /* header */                                              \
        2 << 16 | 17, 6,                 /* OpCapability Kernel */                                 \
        5 << 16 | 54, 1, 2, 0, 3,        /* OpFunction */                                          \
        2 << 16 | 248, 4, 1 << 16 | 253, /* OpLabel, OpReturn */                                   \
        1 << 16 | 56                     /* OpFunctionEnd */
enum { MODULE_WORDS = 16 };

static size_t offset;
static struct spirv_module module;

static bool next(const uint32_t *words, size_t count)
{
    return spirv_scan_next((const unsigned char *)words, 4 * count, &offset, &module);
}

Test(spirv_scan, finds_modules_behind_each_other_and_between_other_bytes)
{
    static const uint32_t words[] = {0x464c457f, 0, MODULE, MODULE, 0, 0x12345678, MODULE, 0};
    const unsigned char *bytes = (const unsigned char *)words;
    static const size_t places[] = {2, 2 + MODULE_WORDS, 4 + 2 * MODULE_WORDS};
    for (size_t i = 0; i < 3; i++) {
        cr_assert(next(words, sizeof(words) / 4));
        cr_assert_eq(module.bytes, bytes + 4 * places[i]);
        cr_assert_eq(module.size_bytes, 4 * MODULE_WORDS);
    }
    cr_assert_not(next(words, sizeof(words) / 4));
    cr_assert_not(next(words, sizeof(words) / 4), "and stays at the end");
}

Test(spirv_scan, takes_all_of_a_file_that_begins_with_a_module)
{
    static const uint32_t words[] = {MODULE, 1 << 16 | 317};
    cr_assert(next(words, MODULE_WORDS + 1));
    cr_assert_eq(module.size_bytes, 4 * (MODULE_WORDS + 1));
    cr_assert_not(next(words, MODULE_WORDS + 1));
}

Test(spirv_scan, does_not_take_what_looks_like_a_header)
{
    static const uint32_t no_functions[] = {0, 0x07230203, 0x00010200, 0, 9, 0, 2 << 16 | 17, 6};
    static const uint32_t another_version[] = {0, 0x07230203, 0x00020200, 0, 9, 0, 1 << 16 | 56};
    static const uint32_t endless[] = {0, 0x07230203, 0x00010200, 0, 9, 0, 0xffffu << 16 | 54};
    cr_assert_not(next(no_functions, sizeof(no_functions) / 4));
    offset = 0;
    cr_assert_not(next(another_version, sizeof(another_version) / 4));
    offset = 0;
    cr_assert_not(next(endless, sizeof(endless) / 4));
}

Test(spirv_scan, stays_within_the_file)
{
    static const uint32_t words[] = {0, MODULE};
    for (size_t count = 0; count <= MODULE_WORDS; count++) {
        offset = 0;
        cr_assert_not(next(words, count), "%zu words", count);
    }
    offset = 0;
    cr_assert(next(words, MODULE_WORDS + 1));
}
