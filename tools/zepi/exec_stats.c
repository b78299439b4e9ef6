// SPDX-License-Identifier: MIT
#include "exec_stats.h"
#include "file_bytes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
#define FORWARDED_COUNT (sizeof(forwarded) / sizeof(forwarded[0]))

static volatile pid_t child;

// A terminal sends its signals to the program itself.
static void forward(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (info->si_code <= 0)
        kill(child, number);
}

// Starts the program, to which signals go from then on. Returns whether there is one.
static bool start_child(exec_start_fn *start, enum host_driver driver, char *const program[])
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t signals;
    sigset_t before;
    sigemptyset(&signals);
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        sigaddset(&signals, forwarded[i]);
    // No signal comes while the child is not known.
    sigprocmask(SIG_BLOCK, &signals, &before);
    child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(start(driver, program));
    }
    for (size_t i = 0; i < FORWARDED_COUNT && child > 0; i++)
        sigaction(forwarded[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child > 0;
}

// The end that the program had.
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int exec_with_stats(exec_start_fn *start, enum host_driver driver, char *const program[],
                    const char *file)
{
    char own[] = "/tmp/zepi-stats-XXXXXX";
    struct stat before = {0};
    struct stat after = {0};
    int status;
    const bool is_own = strcmp(file, "stderr") == 0;
    const int descriptor = is_own ? mkstemp(own) : -1;
    if (descriptor >= 0)
        close(descriptor);
    const char *path = descriptor >= 0 ? own : file;
    stat(path, &before);
    setenv("ZEPI_STATS", path, 1);
    if (!start_child(start, driver, program)) {
        fprintf(stderr, "zepi exec: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    // A device and a FIFO have no size.
    const bool is_known = stat(path, &after) != 0 || S_ISREG(after.st_mode);
    const bool has_run = !WIFEXITED(status) || WEXITSTATUS(status) < 126;
    if (descriptor >= 0)
        file_show(own);
    if (is_known && after.st_size == before.st_size && has_run)
        fprintf(stderr,
                "zepi: %s: no process used zepi, or the one that did ended by a signal or "
                "_exit: there is no report\n",
                program[0]);
    if (descriptor >= 0)
        unlink(own);
    return end_as(status);
}
