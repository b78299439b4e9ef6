// SPDX-License-Identifier: MIT
#include "probe.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

int probe_in_process(int (*probe)(void *user), void *user, unsigned seconds)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDERR_FILENO);
        alarm(seconds);
        _exit(probe(user));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return PROBE_NOT_STARTED;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

FILE *probe_start(const char *const arguments[], const char *log, pid_t *out_process)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    const bool is_started = posix_spawnp(out_process, arguments[0], &actions, NULL,
                                         (char *const *)arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *output = is_started ? fdopen(ends[0], "r") : NULL;
    if (!output)
        close(ends[0]);
    return output;
}
