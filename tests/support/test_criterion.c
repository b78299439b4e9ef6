// SPDX-License-Identifier: MIT
//
// What tests of Criterion need beside it. Criterion judges a test before its tear-down: an
// assertion that fails there, an exit() there, or the exit code of a sanitizer would count as
// passed.
#include "test_env.h"

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdio.h>

static size_t begun;     // tests
static size_t torn_down; // of tests that passed

void test_skip(const char *reason)
{
    cr_skip_test("%s", reason);
}

// Passed so far, and no test that has to end its process.
static bool is_torn_down(const struct criterion_test_stats *stats)
{
    const struct criterion_test_extra_data *expected = stats->test->data;
    return stats->test_status == CR_STATUS_PASSED && expected->signal == 0 &&
           expected->exit_code == 0;
}

ReportHook(PRE_INIT)(struct criterion_test *test)
{
    (void)test;
    begun++;
}

ReportHook(POST_FINI)(struct criterion_test_stats *stats)
{
    torn_down += is_torn_down(stats);
}

// Prints the test if something failed later. Returns whether it did.
static bool failed_later(const struct criterion_suite_stats *suite,
                         const struct criterion_test_stats *stats)
{
    if (stats->failed_asserts == 0 && stats->exit_code == 0)
        return false;
    fprintf(stderr, "%s/%s failed after the test: %d assertions, exit code %d\n",
            suite->suite->name, stats->test->name, stats->failed_asserts, stats->exit_code);
    return true;
}

ReportHook(POST_ALL)(struct criterion_global_stats *all)
{
    size_t expected = 0;
    for (const struct criterion_suite_stats *suite = all->suites; suite; suite = suite->next) {
        for (const struct criterion_test_stats *test = suite->tests; test; test = test->next) {
            if (!is_torn_down(test))
                continue;
            expected++;
            all->tests_failed += failed_later(suite, test);
        }
    }
    if (torn_down != expected) {
        fprintf(stderr, "%zu of %zu tear-downs ended their process\n", expected - torn_down,
                expected);
        all->tests_failed++;
    }
    if (begun == 0) {
        fprintf(stderr, "no test has this name\n");
        all->tests_failed++;
    }
}

// Criterion initialises libgit2 in each process, for differences between strings, which these tests
// do not show. That reads all certificates of the machine: half the time of a small test.
__attribute__((visibility("default"))) int git_libgit2_init(void);
int git_libgit2_init(void)
{
    return 1;
}
__attribute__((visibility("default"))) int git_libgit2_shutdown(void);
int git_libgit2_shutdown(void)
{
    return 0;
}
