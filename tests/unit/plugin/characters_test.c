// SPDX-License-Identifier: MIT

#include "core/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void expect(const char *text, const char *allowed, const char *printable)
{
    char copy[64];
    snprintf(copy, sizeof(copy), "%s", text);
    zepi_make_printable(copy, allowed);
    cr_assert_str_eq(copy, printable);
}

Test(characters, control_characters_are_not_printable)
{
    expect("a\nb\x1b[2J\x7f", "", "a?b?[2J?");
    expect("\xc2\x80\xc2\x9b\xc2\x9f", "", "??????");
}

Test(characters, control_characters_that_are_allowed_stay)
{
    expect("a\n\tb\r", "\n\t", "a\n\tb?");
}

Test(characters, bytes_that_are_no_character_are_not_printable)
{
    expect("a\xff\xe2\x82z\xc3", "", "a???z?");
    expect("\xc0\xaf\xed\xa0\x80", "", "?????");
}

Test(characters, other_characters_are_printable)
{
    expect("k\xc3\xa4se \xe2\x82\xac \xc2\xa0\xf0\x9f\x98\x80", "",
           "k\xc3\xa4se \xe2\x82\xac \xc2\xa0\xf0\x9f\x98\x80");
}

static char kept[64];

static void keep_line(enum zepi_log_level level, const char *line)
{
    (void)level;
    snprintf(kept, sizeof(kept), "%s", line);
}

Test(characters, lines_of_the_log_are_printable)
{
    zepi_log_set_host(keep_line, ZEPI_LOG_ERROR);
    zepi_log_write(ZEPI_LOG_ERROR, "the kernel %s\nis", "a\x1b[2J");
    cr_assert_str_eq(kept, "the kernel a?[2J\nis");
}
