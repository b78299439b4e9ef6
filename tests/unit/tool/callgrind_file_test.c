// SPDX-License-Identifier: MIT
#include "tools/bench/measure/callgrind_file.h"

#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const char *write_file(const char *text)
{
    const char *path = test_env_scratch_path("callgrind.out");
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
    return path;
}

// A plugin (100) calls the driver (30), which calls the C library (20) and the shim (500); the
// plugin calls the C library, too (7), and the driver calls itself (5).
static const char sample[] = "version: 1\n"
                             "events: Ir\n"
                             "summary: 662\n"
                             "\n"
                             "ob=(1) /lib/libzepi.so\n"
                             "fl=(1) queue.c\n"
                             "fn=(1) launch\n"
                             "10 100\n"
                             "cob=(2) /lib/libze_intel_gpu.so.1\n"
                             "cfn=(2) append\n"
                             "calls=1 5\n"
                             "12 555\n"
                             "cob=(3) /lib/libc.so.6\n"
                             "cfn=(3) memcpy\n"
                             "calls=1 5\n"
                             "+3 7\n"
                             "cfn=(5) own\n"
                             "calls=1 5\n"
                             "* 0\n"
                             "ob=(2)\n"
                             "fn=(2)\n"
                             "5 30\n"
                             "cob=(3)\n"
                             "cfn=(3)\n"
                             "calls=1 5\n"
                             "6 20\n"
                             "cob=(4) /build/lib/libdrm_shim.so\n"
                             "cfn=(6) ioctl\n"
                             "calls=1 5\n"
                             "7 500\n"
                             "cfn=(7) flush\n"
                             "calls=1 5\n"
                             "8 5\n"
                             "ob=(4)\n"
                             "fn=(6)\n"
                             "1 400\n"
                             "cob=(3)\n"
                             "cfn=(3)\n"
                             "calls=1 5\n"
                             "2 100\n";

Test(callgrind_file, tells_the_drivers_share_and_leaves_the_shim_out)
{
    struct callgrind_file file;
    cr_assert(callgrind_file_read(write_file(sample), &file));
    cr_assert_eq(file.all, 162, "%.0f instructions", file.all);
    cr_assert_eq(file.driver, 55, "%.0f of them the driver's", file.driver);
}

// This program (9) calls the plugin (40), which calls the C library (8), whose function calls the
// plugin back (2), and the loader, which calls ze_cpu, whose C library calls it back.
static const char calls_of_the_program[] = "summary: 1059\n"
                                           "ob=(1) /build/bin/zepi\n"
                                           "fn=(1) loop\n"
                                           "1 9\n"
                                           "cob=(2) /lib/zepi/libzepi_core.so\n"
                                           "cfn=(2) release\n"
                                           "calls=1 5\n"
                                           "2 1050\n"
                                           "ob=(2)\n"
                                           "fn=(2)\n"
                                           "5 40\n"
                                           "cob=(3) /lib/libc.so.6\n"
                                           "cfn=(3) qsort\n"
                                           "calls=1 5\n"
                                           "6 10\n"
                                           "cob=(4) /lib/libze_loader.so.1\n"
                                           "cfn=(4) zeMemFree\n"
                                           "calls=1 5\n"
                                           "7 1000\n"
                                           "ob=(3)\n"
                                           "fn=(3)\n"
                                           "5 8\n"
                                           "cob=(2)\n"
                                           "cfn=(5) compare\n"
                                           "calls=1 5\n"
                                           "6 2\n"
                                           "cob=(5) /build/lib/libze_cpu.so.1\n"
                                           "cfn=(6) compare\n"
                                           "calls=1 5\n"
                                           "6 300\n"
                                           "ob=(4)\n"
                                           "fn=(4)\n"
                                           "5 100\n"
                                           "cob=(5)\n"
                                           "cfn=(7) free\n"
                                           "calls=1 5\n"
                                           "6 900\n";

Test(callgrind_file, counts_everything_but_this_program)
{
    struct callgrind_file file;
    cr_assert(callgrind_file_read(write_file(calls_of_the_program), &file));
    cr_assert_eq(file.all, 1050, "%.0f instructions", file.all);
    cr_assert_eq(file.loader, 100, "%.0f of them the loader's", file.loader);
    cr_assert_eq(file.driver, 1200, "%.0f of them the driver's", file.driver);
}

Test(callgrind_file, tells_what_calls_of_this_program_cost_without_loader_and_driver)
{
    struct callgrind_file file;
    cr_assert(callgrind_file_read(write_file(calls_of_the_program), &file));
    cr_assert_eq(file.own, 50, "%.0f instructions", file.own);
}

Test(callgrind_file, refuses_what_has_no_instructions)
{
    struct callgrind_file file;
    cr_assert_not(callgrind_file_read(test_env_scratch_path("none"), &file));
    cr_assert_not(callgrind_file_read(write_file(""), &file));
    cr_assert_not(callgrind_file_read(write_file("ob=(99999999) x\ncalls=\nob=("), &file));
}
