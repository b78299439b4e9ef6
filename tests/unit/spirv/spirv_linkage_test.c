// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>

TestSuite(spirv_linkage, .fini = spirv_tear_down);

static void expect(const char *name, enum zepi_spirv_linkage linkage, bool is_function)
{
    const struct zepi_spirv_symbol *symbol = spirv_find_symbol(name);
    cr_assert(symbol, "no symbol %s", name);
    cr_assert_eq(symbol->linkage, linkage, "%s", name);
    cr_assert_eq(symbol->is_function, is_function, "%s", name);
}

// A function without a body, or with one.
#define DECLARED(id) OP(OpFunction, VOID, id, 0, KERNEL_TYPE), OP0(OpFunctionEnd)
#define DEFINED(id, label)                                                                         \
    OP(OpFunction, VOID, id, 0, KERNEL_TYPE), OP(OpLabel, label), OP0(OpReturn), OP0(OpFunctionEnd)
#define LINKAGE(id, name, type) OP(OpDecorate, id, LinkageAttributes, name, type)

Test(spirv_linkage, of_functions_and_variables_is_found)
{
    TAKE(PROLOGUE, LINKAGE(20, TEXT("imp"), Import), LINKAGE(21, TEXT("exp"), Export),
         LINKAGE(22, TEXT("odr"), LinkOnceODR), LINKAGE(30, 'v', Import), LINKAGE(31, 'w', Export),
         LINKAGE(32, 'x', LinkOnceODR), TYPES, NUMBERS, OP(OpTypePointer, 10, CrossWorkgroup, INT),
         OP(OpConstantNull, INT, 11), OP(OpVariable, 10, 30, CrossWorkgroup),
         OP(OpVariable, 10, 31, CrossWorkgroup, 11), OP(OpVariable, 10, 32, CrossWorkgroup, 11),
         DECLARED(20), DEFINED(21, 40), DEFINED(22, 41));
    cr_assert_eq(spirv.symbol_count, 6);
    cr_assert_eq(spirv.kernel_count, 0);
    expect("imp", ZEPI_SPIRV_IMPORT, true);
    expect("exp", ZEPI_SPIRV_EXPORT, true);
    expect("odr", ZEPI_SPIRV_LINK_ONCE_ODR, true);
    expect("v", ZEPI_SPIRV_IMPORT, false);
    expect("w", ZEPI_SPIRV_EXPORT, false);
    expect("x", ZEPI_SPIRV_LINK_ONCE_ODR, false);
}

Test(spirv_linkage, of_constants_says_so)
{
    TAKE(PROLOGUE, LINKAGE(30, 'v', Export), LINKAGE(31, 'w', Export), OP(OpDecorate, 31, Constant),
         TYPES, NUMBERS, OP(OpTypePointer, 10, CrossWorkgroup, INT), OP(OpConstantNull, INT, 11),
         OP(OpVariable, 10, 30, CrossWorkgroup, 11), OP(OpVariable, 10, 31, CrossWorkgroup, 11),
         DECLARED(20));
    cr_assert_not(spirv_find_symbol("v")->is_constant);
    cr_assert(spirv_find_symbol("w")->is_constant);
}

Test(spirv_linkage, of_compiled_modules_is_found)
{
    spirv_take_file("exporter");
    cr_assert_eq(spirv.symbol_count, 2);
    expect("triple", ZEPI_SPIRV_EXPORT, true);
    expect("offset", ZEPI_SPIRV_EXPORT, false);
    // It also has get_global_id, as a variable with BuiltIn.
    spirv_take_file("importer");
    cr_assert_eq(spirv.symbol_count, 2);
    expect("triple", ZEPI_SPIRV_IMPORT, true);
    expect("offset", ZEPI_SPIRV_IMPORT, false);
}

Test(spirv_linkage, leaves_out_what_the_driver_supplies)
{
    TAKE(PROLOGUE, ENTRY, LINKAGE(20, TEXT("gid"), Import), OP(OpDecorate, 20, BuiltIn, 28),
         LINKAGE(21, TEXT("lid"), Import), OP(OpDecorate, 12, BuiltIn, 27),
         OP(OpDecorationGroup, 12), OP(OpGroupDecorate, 12, 21), LINKAGE(22, 'v', Import), TYPES,
         NUMBERS, OP(OpTypePointer, 10, 1, INT), OP(OpVariable, 10, 20, 1),
         OP(OpVariable, 10, 21, 1), OP(OpVariable, 10, 22, 1), KERNEL_FUNCTION);
    cr_assert_eq(spirv.symbol_count, 1);
    expect("v", ZEPI_SPIRV_IMPORT, false);
}

Test(spirv_linkage, leaves_out_functions_that_are_exported_by_the_name_of_a_kernel)
{
    TAKE(PROLOGUE, ENTRY, LINKAGE(KERNEL, 'k', Export), LINKAGE(20, 'k', LinkOnceODR),
         LINKAGE(21, 'm', Export), TYPES, KERNEL_FUNCTION, DEFINED(20, 40), DEFINED(21, 41));
    cr_assert_eq(spirv.symbol_count, 1);
    expect("m", ZEPI_SPIRV_EXPORT, true);
    // A kernel that is called, and one that is a variable's namesake.
    TAKE(PROLOGUE, ENTRY, LINKAGE(20, 'k', Import), TYPES, KERNEL_FUNCTION, DECLARED(20));
    expect("k", ZEPI_SPIRV_IMPORT, true);
    TAKE(PROLOGUE, ENTRY, LINKAGE(20, 'k', Export), TYPES, NUMBERS,
         OP(OpTypePointer, 10, CrossWorkgroup, INT), OP(OpVariable, 10, 20, CrossWorkgroup),
         KERNEL_FUNCTION);
    expect("k", ZEPI_SPIRV_EXPORT, false);
}

Test(spirv_linkage, is_found_through_a_group_of_decorations)
{
    TAKE(PROLOGUE, LINKAGE(10, 'f', Export), OP(OpDecorationGroup, 10),
         OP(OpGroupDecorate, 10, 20, 21), TYPES, DEFINED(20, 40), DEFINED(21, 41));
    // That it is there twice is for the link to judge.
    cr_assert_eq(spirv.symbol_count, 2);
    cr_assert_str_eq(spirv.symbols[0].name, "f");
    cr_assert_str_eq(spirv.symbols[1].name, "f");
    TAKE(PROLOGUE, ENTRY, LINKAGE(10, 'k', Export), OP(OpDecorationGroup, 10),
         OP(OpGroupDecorate, 10, 20, 21), TYPES, KERNEL_FUNCTION, DEFINED(20, 40), DEFINED(21, 41));
    cr_assert_eq(spirv.symbol_count, 0);
}

Test(spirv_linkage, takes_names_of_any_length)
{
    // Four letters and the terminator in a word of its own, and no letter at all.
    TAKE(PROLOGUE, OP(OpDecorate, 20, LinkageAttributes, 0x64636261, 0, Export),
         OP(OpDecorate, 21, LinkageAttributes, 0, Export), TYPES, DEFINED(20, 40), DEFINED(21, 41));
    expect("abcd", ZEPI_SPIRV_EXPORT, true);
    expect("", ZEPI_SPIRV_EXPORT, true);
}
