// SPDX-License-Identifier: MIT
#include "program/native/symbol_table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct zepi_spirv_symbol symbols[] = {{"first", ZEPI_SPIRV_IMPORT, true, false},
                                                   {"", ZEPI_SPIRV_EXPORT, false, false},
                                                   {"third", ZEPI_SPIRV_LINK_ONCE_ODR, true, false},
                                                   {"fourth", ZEPI_SPIRV_IMPORT, false, false}};
enum { SYMBOLS = sizeof(symbols) / sizeof(symbols[0]) };

static size_t write_table(char *out)
{
    char *at = out;
    *at++ = ZEPI_SYMBOL_TABLE_VERSION;
    for (int i = 0; i < SYMBOLS; i++) {
        zepi_symbol_table_write_head(&symbols[i], at);
        strcpy(at + 2, symbols[i].name);
        at += 2 + strlen(symbols[i].name) + 1;
    }
    return (size_t)(at - out);
}

// How many symbols the bytes have, which are the first of those that were written.
static int count_written(const char *table, size_t size)
{
    struct zepi_spirv_symbol symbol;
    size_t offset = 0;
    int count = 0;
    for (; zepi_symbol_table_next(table, size, &offset, &symbol); count++) {
        cr_assert_lt(count, SYMBOLS);
        cr_assert_str_eq(symbol.name, symbols[count].name);
        cr_assert_eq(symbol.linkage, symbols[count].linkage);
        cr_assert_eq(symbol.is_function, symbols[count].is_function);
    }
    return count;
}

Test(symbol_table, gives_what_was_written)
{
    char table[128];
    cr_assert_eq(count_written(table, write_table(table)), SYMBOLS);
}

Test(symbol_table, that_is_cut_off_gives_the_symbols_that_are_whole)
{
    char table[128];
    const size_t size = write_table(table);
    int before = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        // On the heap and of exact size: sanitizers see a byte too many.
        char *part = malloc(cut + (cut == 0));
        memcpy(part, table, cut);
        const int count = count_written(part, cut);
        cr_assert(count >= before && count <= before + 1);
        before = count;
        free(part);
    }
    cr_assert_eq(before, SYMBOLS);
}

Test(symbol_table, of_another_make_ends_where_it_makes_no_sense)
{
    char table[128];
    const size_t size = write_table(table);
    for (size_t at = 0; at < size; at++) {
        for (int byte = 0; byte < 256; byte++) {
            struct zepi_spirv_symbol symbol;
            size_t offset = 0;
            const char kept = table[at];
            table[at] = (char)byte;
            while (zepi_symbol_table_next(table, size, &offset, &symbol)) {
                cr_assert_leq(symbol.linkage, ZEPI_SPIRV_LINK_ONCE_ODR);
                cr_assert(at > 0 || byte == ZEPI_SYMBOL_TABLE_VERSION);
            }
            table[at] = kept;
        }
    }
}

Test(symbol_table, has_a_key_of_its_own_for_each_digest)
{
    struct zepi_key keys[2];
    cr_assert(zepi_symbol_table_key(&keys[0], zepi_digest_of("a", 1)));
    cr_assert(zepi_symbol_table_key(&keys[1], zepi_digest_of("b", 1)));
    cr_assert(!zepi_digest_equal(zepi_key_digest(&keys[0]), zepi_key_digest(&keys[1])));
    for (int i = 0; i < 2; i++)
        zepi_key_finish(&keys[i]);
}
