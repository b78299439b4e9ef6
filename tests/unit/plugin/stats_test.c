// SPDX-License-Identifier: MIT
#include "core/stats.h"

#include "cache/build_cache.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 10 // until a process counts as hanging
#define FIFO_BYTES 4096

// A process that compiled kernels of this name, and ends.
static pid_t start_with(const char *path, const char *kernels)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        setenv("ZEPI_STATS", path, 1);
        zepi_stats_init(zepi_build_budget_evictions);
        if (!zepi_stats_are_on)
            _exit(1);
        zepi_stats_note_compile(kernels, 1000000000, true);
        exit(0);
    }
    return child;
}

static void expect_good_end(pid_t child)
{
    int status;
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The report of such a process. Owned.
static char *report_with(const char *file_name, const char *kernels)
{
    const char *path = test_env_scratch_path(file_name);
    expect_good_end(start_with(path, kernels));
    const struct test_bytes file = test_env_read_file(path);
    char *text = strndup((const char *)file.data, file.size_bytes);
    free(file.data);
    return text;
}

static void expect(const char *kernels, const char *written)
{
    char expected[2048];
    snprintf(expected, sizeof(expected),
             "\"seconds\": 1.000, \"failed\": false, \"kernels\": \"%s\"", written);
    char *report = report_with("stats.jsonl", kernels);
    cr_assert(strstr(report, expected), "expected %s in %s", expected, report);
    free(report);
}

Test(stats, lines_for_people_have_100_columns_and_no_json)
{
    char name[401];
    memset(name, 'k', 400);
    name[400] = '\0';
    char *report = report_with("stats.text", name);
    cr_assert(strstr(report, "    1.000 s  kkk") && strstr(report, "kkk...\n"), "%s", report);
    cr_assert_null(strpbrk(report, "{}[]\""), "%s", report);
    for (char *rest = report, *line; (line = strsep(&rest, "\n"));)
        cr_assert_leq(strlen(line), 100, "%s", line);
    free(report);
    report = report_with("stats.text", "a\nb\x1b[2J");
    cr_assert(strstr(report, "    1.000 s  a?b?[2J\n"), "%s", report);
    free(report);
}

// The file would have a line a process.
Test(stats, a_file_that_says_json_is_refused)
{
    const char *path = test_env_scratch_path("stats.json");
    cr_assert_eq(setenv("ZEPI_STATS", path, 1), 0);
    zepi_stats_init(zepi_build_budget_evictions);
    cr_assert_not(zepi_stats_are_on);
}

// The slowest first, and of more than fit those alone.
Test(stats, has_the_slowest_builds_in_order)
{
    static const uint64_t seconds[] = {3, 9, 1, 12, 7, 2, 11, 5, 10, 4, 8, 6};
    const char *path = test_env_scratch_path("stats.jsonl");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setenv("ZEPI_STATS", path, 1);
        zepi_stats_init(zepi_build_budget_evictions);
        for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
            zepi_stats_note_compile("k", seconds[i] * 1000000000, true);
        exit(0);
    }
    expect_good_end(child);
    const struct test_bytes file = test_env_read_file(path);
    char *report = strndup((const char *)file.data, file.size_bytes);
    const char *at = strstr(report, "\"slowest\": [");
    for (int expected = 12; expected > 2; expected--) {
        char text[32];
        snprintf(text, sizeof(text), "{\"seconds\": %d.000,", expected);
        at = at ? strstr(at, text) : NULL;
        cr_assert(at, "%s in %s", text, report);
    }
    cr_assert_null(strstr(at, "{\"seconds\": 2.000,"));
    free(report);
    free(file.data);
}

Test(stats, names_with_quotes_are_escaped)
{
    expect("a\"b\\c", "a\\\"b\\\\c");
}

Test(stats, names_have_no_control_characters)
{
    expect("a\nb\tc\x1b[2Jd\x7f", "a?b?c?[2Jd?");
    expect("\xc2\x9b", "??");
}

Test(stats, names_keep_their_characters)
{
    expect("k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0",
           "k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0");
}

Test(stats, bytes_that_are_no_character_are_replaced)
{
    expect("a\xff", "a?");
    expect("\xc3", "?");
    expect("\xe2\x82z", "??z");
    expect("\xc0\xaf", "??");
    expect("\xed\xa0\x80", "???");
    expect("\xf4\x90\x80\x80", "????");
}

Test(stats, half_a_character_at_the_end_of_a_long_name_is_replaced)
{
    char name[401] = "";
    char written[512] = "";
    for (int i = 0; i < 200; i++)
        memcpy(name + 2 * i, "\xc3\xa4", 2);
    memcpy(written, name, 254);
    strcpy(written + 254, "?");
    expect(name, written);
}

static const char *make_fifo(void)
{
    const char *path = test_env_scratch_path("stats.fifo");
    cr_assert(mkfifo(path, 0600) == 0);
    return path;
}

Test(stats, a_fifo_without_a_reader_gets_a_message_and_no_report, .init = cr_redirect_stderr)
{
    char message[4200];
    char printed[8400] = ""; // leak checkers may print, too
    const char *path = make_fifo();
    snprintf(message, sizeof(message), "zepi: ZEPI_STATS=%s: No such device or address\n", path);
    expect_good_end(start_with(path, "a"));
    fflush(stderr);
    cr_assert(fread(printed, 1, sizeof(printed) - 1, cr_get_redirected_stderr()) > 0);
    cr_assert(strstr(printed, message), "expected %s in %s", message, printed);
}

Test(stats, a_fifo_gets_the_whole_report_when_its_reader_makes_room)
{
    char bytes[2 * FIFO_BYTES] = "";
    const char *path = make_fifo();
    const int file = open(path, O_RDWR | O_NONBLOCK);
    cr_assert(file >= 0 && fcntl(file, F_SETPIPE_SZ, FIFO_BYTES) == FIFO_BYTES);
    cr_assert(write(file, bytes, FIFO_BYTES) == FIFO_BYTES);
    const pid_t child = start_with(path, "a");
    usleep(200000); // the process is at its end
    cr_assert(read(file, bytes, FIFO_BYTES) == FIFO_BYTES);
    expect_good_end(child);
    cr_assert(read(file, bytes, sizeof(bytes) - 1) > 0);
    cr_assert(strstr(bytes, "zepi: statistics of process ") == bytes);
    cr_assert(strstr(bytes, "\n  failed calls   0\n"));
    close(file);
}
