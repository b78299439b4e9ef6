// SPDX-License-Identifier: MIT
#include "log.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect(const char *log, size_t size, const char *tail)
{
    char to[64];
    memset(to, 'x', sizeof(to));
    shim_log_tail(log, to, size);
    cr_assert_str_eq(to, tail);
    cr_assert(size == sizeof(to) || to[size] == 'x');
}

Test(log_tail, has_the_last_lines_that_fit)
{
    expect("Compilation started\nfirst\nsecond\n", 64, "Compilation started; first; second");
    expect("Compilation started\nfirst\nsecond\n", 20, "first; second");
    expect("Compilation started\nfirst\nsecond\n", 14, "first; second");
    expect("Compilation started\nfirst\nsecond\n", 13, "second");
}

Test(log_tail, leaves_lines_without_text_out)
{
    expect("first\n\n  \nsecond\n\n", 64, "first; second");
    expect("\n\n", 64, "");
    expect("", 64, "");
}

Test(log_tail, has_the_beginning_of_a_last_line_that_is_too_long)
{
    expect("first\nerror: something that is long", 10, "error: so");
    expect("one", 1, "");
}
