// SPDX-License-Identifier: MIT
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t is_interrupted;

void bench_progress(const char *what, int at, int count)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s, %d of %d ", what, at, count);
}

void bench_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

void bench_watch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // A second process that ended is seen where it is written to.
    signal(SIGPIPE, SIG_IGN);
}

bool bench_is_interrupted(void)
{
    return is_interrupted;
}
