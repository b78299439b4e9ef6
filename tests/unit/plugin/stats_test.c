// SPDX-License-Identifier: MIT
#include "core/stats.h"

#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The report of a process that compiled kernels of this name. Owned.
static char *report_with(const char *file_name, const char *kernels)
{
    int status;
    const char *path = test_env_scratch_path(file_name);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setenv("ZEPI_STATS", path, 1);
        if (!zepi_stats_begin())
            _exit(1);
        zepi_stats_note_compile(kernels, 1000000000, true);
        exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const struct test_bytes file = test_env_read_file(path);
    char *text = strndup((const char *)file.data, file.size_bytes);
    free(file.data);
    return text;
}

static void expect(const char *kernels, const char *written)
{
    char expected[2048];
    char *report = report_with("stats.json", kernels);
    snprintf(expected, sizeof(expected), "\"kernels\": \"%s\"", written);
    cr_assert(strstr(report, expected), "expected %s in %s", expected, report);
    free(report);
}

Test(stats, names_with_quotes_and_control_characters_are_escaped_in_json)
{
    expect("a\"b\\c\nd\x1b", "a\\u0022b\\u005cc\\u000ad\\u001b");
}

Test(stats, names_keep_their_characters_in_json)
{
    expect("k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80",
           "k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80");
}

Test(stats, bytes_that_are_no_character_are_replaced_in_json)
{
    expect("a\xff", "a\\ufffd");
    expect("\xc3", "\\ufffd");
    expect("\xe2\x82z", "\\ufffd\\ufffdz");
    expect("\xc0\xaf", "\\ufffd\\ufffd");
    expect("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd");
    expect("\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd");
}

Test(stats, half_a_character_at_the_end_of_a_long_name_is_replaced_in_json)
{
    char name[401] = "";
    char written[512] = "";
    for (int i = 0; i < 200; i++)
        memcpy(name + 2 * i, "\xc3\xa4", 2);
    memcpy(written, name, 254);
    strcpy(written + 254, "\\ufffd");
    expect(name, written);
}

static void expect_in_text(const char *kernels, const char *written)
{
    char expected[2048];
    char *report = report_with("stats.text", kernels);
    snprintf(expected, sizeof(expected), " 1.000 s %s\n", written);
    cr_assert(strstr(report, expected), "expected %s in %s", expected, report);
    free(report);
}

Test(stats, a_text_has_no_control_characters_of_names)
{
    expect_in_text("a\nb\tc\x1b[2Jd\x7f", "a?b?c?[2Jd?");
    expect_in_text("\xc2\x9b", "??");
    expect_in_text("a\xff\xe2\x82z", "a???z");
    expect_in_text("k\xc3\xa4se \xe2\x82\xac \xc2\xa0", "k\xc3\xa4se \xe2\x82\xac \xc2\xa0");
}
