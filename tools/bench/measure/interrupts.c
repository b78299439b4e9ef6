// SPDX-License-Identifier: MIT
#include "interrupts.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t is_interrupted;

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
