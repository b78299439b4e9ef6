// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(spirv_constants, .fini = spirv_tear_down);

static void expect(uint32_t id, enum zepi_spirv_scalar_kind kind, bool is_signed,
                   uint32_t size_bytes, uint64_t value)
{
    const struct zepi_spirv_constant *constant = zepi_spirv_find_constant(&spirv, id);
    cr_assert(constant, "no constant %u", id);
    cr_assert_eq(constant->id, id);
    cr_assert_eq(constant->kind, kind, "constant %u", id);
    cr_assert_eq(constant->is_signed, is_signed, "constant %u", id);
    cr_assert_eq(constant->size_bytes, size_bytes, "constant %u", id);
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(constant->default_value[i], (uint8_t)(value >> (8 * i)), "constant %u", id);
}

static void expect_ids(const uint32_t *ids, uint32_t count)
{
    cr_assert_eq(spirv.constant_count, count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(spirv.constants[i].id, ids[i]);
}

#define EXPECT_IDS(...) expect_ids(WORDS(__VA_ARGS__), COUNT(__VA_ARGS__))

#define CONSTANT(id, spec_id) OP(OpDecorate, id, SpecId, spec_id)

Test(spirv_constants, have_the_size_and_the_default_value_of_their_type)
{
    TAKE(PROLOGUE, ENTRY, CONSTANT(20, 90), CONSTANT(21, 80), CONSTANT(22, 70), CONSTANT(23, 60),
         CONSTANT(24, 50), CONSTANT(25, 40), CONSTANT(26, 30), CONSTANT(27, 20), CONSTANT(28, 10),
         CONSTANT(29, 0), CONSTANT(30, 0xffffffff), TYPES, NUMBERS, OP(OpTypeBool, 10),
         OP(OpTypeInt, 11, 8, 0), OP(OpTypeInt, 12, 16, 1), OP(OpTypeFloat, 13, 16),
         OP(OpTypeFloat, 14, 64), OP(OpTypeInt, 15, 64, 1), OP(OpTypeInt, 16, 8, 1),
         OP(OpSpecConstantTrue, 10, 20), OP(OpSpecConstantFalse, 10, 21),
         OP(OpSpecConstant, 11, 22, 200), OP(OpSpecConstant, 12, 23, 0xfffffffe),
         OP(OpSpecConstant, INT, 24, 0xfffffffd), OP(OpSpecConstant, LONG, 25, 1, 2),
         OP(OpSpecConstant, 13, 26, 0x3e00), OP(OpSpecConstant, FLOAT, 27, 0x3f800000),
         OP(OpSpecConstant, 14, 28, 0, 0x3ff00000), OP(OpSpecConstant, 15, 29, ~0u, ~0u),
         OP(OpSpecConstant, 16, 30, 0xffffff80), KERNEL_FUNCTION);
    EXPECT_IDS(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0xffffffff);
    expect(90, ZEPI_SPIRV_BOOL, false, 1, 1);
    expect(80, ZEPI_SPIRV_BOOL, false, 1, 0);
    expect(70, ZEPI_SPIRV_INT, false, 1, 200);
    // Narrow literals are extended to a word with their sign, which is none of the value's bytes.
    expect(60, ZEPI_SPIRV_INT, true, 2, 0xfffe);
    expect(50, ZEPI_SPIRV_INT, false, 4, 0xfffffffd);
    expect(40, ZEPI_SPIRV_INT, false, 8, 0x200000001);
    expect(30, ZEPI_SPIRV_FLOAT, true, 2, 0x3e00);
    expect(20, ZEPI_SPIRV_FLOAT, true, 4, 0x3f800000);
    expect(10, ZEPI_SPIRV_FLOAT, true, 8, 0x3ff0000000000000);
    expect(0, ZEPI_SPIRV_INT, true, 8, UINT64_MAX);
    expect(0xffffffff, ZEPI_SPIRV_INT, true, 1, 0x80);
    cr_assert_null(zepi_spirv_find_constant(&spirv, 5));
    cr_assert_null(zepi_spirv_find_constant(&spirv, 91));
}

Test(spirv_constants, of_a_compiled_module_are_found)
{
    spirv_take_file("scaled_copy");
    EXPECT_IDS(2, 3, 5, 7, 11, 13);
    expect(2, ZEPI_SPIRV_INT, false, 8, (uint64_t)-4);
    expect(3, ZEPI_SPIRV_FLOAT, true, 4, 0x3f800000);
    expect(5, ZEPI_SPIRV_INT, false, 2, 0xfffe);
    expect(7, ZEPI_SPIRV_INT, false, 4, 1);
    expect(11, ZEPI_SPIRV_INT, false, 1, 0xff);
    expect(13, ZEPI_SPIRV_BOOL, false, 1, 1);
    spirv_take_file("scaled_copy_double");
    cr_assert_eq(spirv.constants[0].kind, ZEPI_SPIRV_FLOAT);
    cr_assert_eq(spirv.constants[0].size_bytes, 8);
}

Test(spirv_constants, are_found_through_a_group_of_decorations)
{
    // The group has two targets of one SpecId, and comes with a decoration that says nothing here.
    TAKE(PROLOGUE, ENTRY, CONSTANT(10, 42), OP(OpDecorate, 10, 44), OP(OpDecorationGroup, 10),
         OP(OpGroupDecorate, 10, 20, 21), TYPES, NUMBERS, OP(OpSpecConstant, INT, 20, 9),
         OP(OpSpecConstant, INT, 21, 10), KERNEL_FUNCTION);
    EXPECT_IDS(42);
    expect(42, ZEPI_SPIRV_INT, false, 4, 9);

    // Two groups, used before they are defined, and one of them twice for the same target.
    TAKE(PROLOGUE, ENTRY, OP(OpGroupDecorate, 11, 21, 21), OP(OpGroupDecorate, 10, 20),
         OP(OpGroupDecorate, 11, 21), CONSTANT(10, 1), CONSTANT(11, 2), OP(OpDecorationGroup, 10),
         OP(OpDecorationGroup, 11), TYPES, NUMBERS, OP(OpSpecConstant, INT, 20, 9),
         OP(OpSpecConstant, FLOAT, 21, 10), KERNEL_FUNCTION);
    EXPECT_IDS(1, 2);
    expect(1, ZEPI_SPIRV_INT, false, 4, 9);
    expect(2, ZEPI_SPIRV_FLOAT, true, 4, 10);

    // A group without targets is about nothing.
    TAKE(PROLOGUE, ENTRY, CONSTANT(10, 1), OP(OpDecorationGroup, 10), OP(OpGroupDecorate, 10),
         TYPES, KERNEL_FUNCTION);
    cr_assert_eq(spirv.constant_count, 0);
}

Test(spirv_constants, may_be_decorated_directly_and_by_a_group_that_agrees)
{
    TAKE(PROLOGUE, ENTRY, CONSTANT(20, 1), CONSTANT(20, 1), CONSTANT(10, 1),
         OP(OpDecorationGroup, 10), OP(OpGroupDecorate, 10, 20), TYPES, NUMBERS,
         OP(OpSpecConstant, INT, 20, 9), KERNEL_FUNCTION);
    EXPECT_IDS(1);
}

Test(spirv_constants, that_share_an_id_are_listed_once_with_the_default_of_the_first)
{
    TAKE(PROLOGUE, ENTRY, CONSTANT(21, 5), CONSTANT(20, 5), TYPES, NUMBERS,
         OP(OpSpecConstant, INT, 20, 1), OP(OpSpecConstant, INT, 21, 2), KERNEL_FUNCTION);
    EXPECT_IDS(5);
    expect(5, ZEPI_SPIRV_INT, false, 4, 1);
}

Test(spirv_constants, without_an_id_are_none)
{
    TAKE(PROLOGUE, ENTRY, CONSTANT(21, 7), TYPES, NUMBERS, OP(OpSpecConstant, INT, 20, 1),
         OP(OpSpecConstant, INT, 21, 2), OP(OpTypeVector, 10, INT, 2),
         OP(OpSpecConstantComposite, 10, 22, 20, 21), OP(OpSpecConstantOp, INT, 23, OpIAdd, 20, 21),
         KERNEL_FUNCTION);
    EXPECT_IDS(7);
}

Test(spirv_constants, are_none_in_a_module_without_any)
{
    spirv_take_file("vector_add");
    cr_assert_eq(spirv.constant_count, 0);
    cr_assert_null(zepi_spirv_find_constant(&spirv, 0));
}
