// SPDX-License-Identifier: MIT
#include "trace.h"

#include "log.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define LINES 200

static char path[] = "/tmp/drm_shim_trace.XXXXXX";

// The options are read once, so before anything else.
static void set_up(void)
{
    const int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    setenv("DRM_SHIM_TRACE", path, 1);
    setenv("DRM_SHIM_STRICT", "1", 1);
}

static void tear_down(void)
{
    unlink(path);
}

TestSuite(trace, .init = set_up, .fini = tear_down);

static void *write_lines(void *unused)
{
    (void)unused;
    for (int i = 0; i < LINES; i++)
        shim_trace("line %d", i);
    return NULL;
}

Test(trace, numbers_its_lines_in_the_order_in_which_they_stand)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, write_lines, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    FILE *file = fopen(path, "r");
    char line[128];
    unsigned long count = 0;
    while (fgets(line, sizeof(line), file) != NULL)
        cr_assert_eq(strtoul(line, NULL, 10), ++count, "%s", line);
    fclose(file);
    cr_assert_eq(count, THREADS * LINES);
}

Test(trace, shows_bytes_and_that_there_are_none)
{
    const struct shim_trace_bytes parts[] = {{"inline", "\x01\xab", 2}, {"indirect", NULL, 8}};
    shim_trace_with(parts, 2, "begin kernel %d", 7);
    char line[128] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(fgets(line, sizeof(line), file));
    fclose(file);
    cr_assert_str_eq(line, "1 begin kernel 7 inline 01ab indirect -\n");
}

static int exit_code_after(void (*act)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        act();
        exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void do_nothing(void) {}

static void report(void)
{
    shim_error("command 0x%x is not known", 0x3f);
}

Test(trace, has_errors_and_the_process_fails_for_them)
{
    cr_assert_eq(exit_code_after(do_nothing), 0);
    cr_assert_eq(exit_code_after(report), 86);
    char line[128] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(fgets(line, sizeof(line), file));
    fclose(file);
    cr_assert_str_eq(line, "1 error command 0x3f is not known\n");
}
