// SPDX-License-Identifier: MIT
// Tests that pass, with tear-downs that do not: tear_down_test.sh.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void pass(void)
{
    cr_assert(getpid() > 0);
}

static void assert_wrongly(void)
{
    cr_assert_eq(getpid(), 0);
}

static void expect_wrongly(void)
{
    cr_expect_eq(getpid(), 0);
}

static void end(void)
{
    _exit(3);
}

// As a sanitizer does.
static void end_late(void)
{
    cr_assert_eq(atexit(end), 0);
}

#define TORN_DOWN_BY(tear_down)                                                                    \
    Test(tear_down, is_judged, .fini = tear_down)                                                  \
    {                                                                                              \
        pass();                                                                                    \
    }

TORN_DOWN_BY(pass)
TORN_DOWN_BY(assert_wrongly)
TORN_DOWN_BY(expect_wrongly)
TORN_DOWN_BY(end)
TORN_DOWN_BY(end_late)
TORN_DOWN_BY(abort)

Test(exit_code, is_expected, .exit_code = 3, .fini = assert_wrongly)
{
    end();
}

Test(signal, is_expected, .signal = SIGABRT, .fini = assert_wrongly)
{
    abort();
}
