// SPDX-License-Identifier: MIT
#include "program/native/symbols.h"

#include <criterion/criterion.h>
#include <string.h>

static struct zepi_symbols symbols;

static void add(const char *name, enum zepi_symbol_kind kind, enum zepi_spirv_linkage linkage,
                uint32_t member)
{
    const struct zepi_symbol symbol = {name, kind, linkage, member, 10 + member};
    cr_assert(zepi_symbols_add(&symbols, &symbol));
}

static void function(const char *name, enum zepi_spirv_linkage linkage, uint32_t member)
{
    add(name, ZEPI_SYMBOL_FUNCTION, linkage, member);
}

static void set_up(void)
{
    symbols = (struct zepi_symbols){0};
}

static void tear_down(void)
{
    zepi_symbols_finish(&symbols);
}

TestSuite(symbols, .init = set_up, .fini = tear_down);

static void expect_clash(const char *words)
{
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_ERROR_LINK_FAILURE);
    cr_assert(strstr(zepi_last_error(NULL), words), "%s", zepi_last_error(NULL));
}

Test(symbols, of_none_are_fine)
{
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
    cr_assert(!zepi_symbols_is_defined(&symbols, "f"));
}

Test(symbols, may_be_imported_by_many_and_exported_by_one)
{
    for (uint32_t i = 0; i < 20; i++)
        function("f", i == 7 ? ZEPI_SPIRV_EXPORT : ZEPI_SPIRV_IMPORT, i);
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
    cr_assert(zepi_symbols_is_defined(&symbols, "f"));
}

Test(symbols, that_are_only_imported_are_not_defined)
{
    function("f", ZEPI_SPIRV_IMPORT, 0);
    function("f", ZEPI_SPIRV_IMPORT, 1);
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
    cr_assert(!zepi_symbols_is_defined(&symbols, "f"));
}

Test(symbols, that_two_export_clash)
{
    function("f", ZEPI_SPIRV_EXPORT, 2);
    function("f", ZEPI_SPIRV_IMPORT, 1);
    function("f", ZEPI_SPIRV_EXPORT, 0);
    expect_clash("function 'f' (object 10, object 12)");
}

Test(symbols, that_clash_are_all_named)
{
    for (uint32_t i = 0; i < 3; i++) {
        function("f", ZEPI_SPIRV_EXPORT, i);
        add("v", ZEPI_SYMBOL_VARIABLE, ZEPI_SPIRV_EXPORT, i);
    }
    expect_clash("function 'f' (object 10, object 11, object 12) variable 'v' (object 10");
}

Test(symbols, marked_as_link_once_are_one_definition)
{
    function("f", ZEPI_SPIRV_LINK_ONCE_ODR, 0);
    function("f", ZEPI_SPIRV_LINK_ONCE_ODR, 1);
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
    cr_assert(zepi_symbols_is_defined(&symbols, "f"));
}

Test(symbols, clash_if_one_is_not_marked_as_link_once)
{
    function("f", ZEPI_SPIRV_LINK_ONCE_ODR, 0);
    function("f", ZEPI_SPIRV_EXPORT, 1);
    expect_clash("'f'");
}

Test(symbols, that_are_kernels_of_one_name_clash)
{
    add("k", ZEPI_SYMBOL_KERNEL, ZEPI_SPIRV_EXPORT, 0);
    add("k", ZEPI_SYMBOL_KERNEL, ZEPI_SPIRV_EXPORT, 1);
    expect_clash("kernel 'k' (object 10, object 11)");
}

Test(symbols, of_one_member_do_not_clash_with_themselves)
{
    function("f", ZEPI_SPIRV_EXPORT, 0);
    function("f", ZEPI_SPIRV_EXPORT, 0);
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
}

Test(symbols, are_found_among_names_that_begin_alike)
{
    function("base", ZEPI_SPIRV_IMPORT, 0);
    function("base2", ZEPI_SPIRV_EXPORT, 1);
    function("bas", ZEPI_SPIRV_EXPORT, 1);
    cr_assert_eq(zepi_symbols_check(&symbols), ZEPI_SUCCESS);
    cr_assert(!zepi_symbols_is_defined(&symbols, "base"));
    cr_assert(zepi_symbols_is_defined(&symbols, "base2"));
}
