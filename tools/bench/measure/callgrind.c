// SPDX-License-Identifier: MIT
#include "callgrind.h"

#include "tools/zepi/host.h"
#include "tools/zepi/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Under callgrind ----

// Callgrind counts in here alone, and writes down what it counted at its end. Called through a
// pointer that the compiler does not know, so that it keeps its name.
bool bench_run_counted(bool (*run)(const void *user), const void *user);
bool bench_run_counted(bool (*run)(const void *user), const void *user)
{
    const bool is_good = run(user);
    bench_keep(user);
    return is_good;
}

bool bench_callgrind_count(bool (*run)(const void *user), const void *user)
{
    static bool (*volatile run_counted)(bool (*)(const void *), const void *) = bench_run_counted;
    return run_counted(run, user);
}

// ---- Running ----

// Runs a program with its stdout in `out_output`, if that is not NULL. 0: it does not start.
static pid_t start(char *const arguments[], const char *log, FILE **out_output)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t process = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    if (posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ) != 0)
        process = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out_output = process > 0 ? fdopen(ends[0], "r") : NULL;
    if (!*out_output)
        close(ends[0]);
    return process;
}

static bool ended_well(pid_t process)
{
    int status;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool bench_callgrind_is_there(void)
{
    char *const arguments[] = {(char *)"valgrind", (char *)"--version", NULL};
    char line[64];
    FILE *output = NULL;
    const pid_t process = start(arguments, "/dev/null", &output);
    while (output && fgets(line, sizeof(line), output))
        continue;
    if (output)
        fclose(output);
    if (process > 0 && ended_well(process))
        return true;
    fputs("zepi-bench: instructions need callgrind, which is not there: install valgrind\n",
          stderr);
    return false;
}

// The end of a log, on stderr.
static void print_end(const char *path)
{
    char text[1024];
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fseek(file, -(long)sizeof(text), SEEK_END) != 0)
        rewind(file);
    fwrite(text, 1, fread(text, 1, sizeof(text), file), stderr);
    fclose(file);
}

struct bench_callgrind bench_callgrind_start(const struct bench *bench, const char *folder,
                                             bool is_scale)
{
    struct bench_callgrind callgrind = {.folder = folder};
    char self[PATH_MAX];
    char files[PATH_MAX + 64];
    char log[PATH_MAX];
    char counted[32];
    const char *arguments[13 + 2 * BENCH_MAX_ONLY + 2 * BENCH_MAX_ADAPTERS];
    int count = 0;
    if (!path_of_program(self))
        return callgrind;
    // Valgrind itself does not run on Intel's driver. The program under it comes up on that driver
    // by itself.
    unsetenv("DRM_SHIM_LAUNCHER");
    snprintf(files, sizeof(files), "--callgrind-out-file=%s/out", folder);
    snprintf(log, sizeof(log), "%s/log", folder);
    snprintf(counted, sizeof(counted), "--counted=%d", (int)bench->part);
    const char *const fixed[] = {"valgrind",
                                 "--tool=callgrind",
                                 "--trace-children=yes",
                                 "--toggle-collect=bench_run_counted",
                                 "--dump-after=bench_run_counted",
                                 files,
                                 self,
                                 counted};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        arguments[count++] = fixed[i];
    if (bench->driver == HOST_DRIVER_INTEL)
        arguments[count++] = "--intel-driver";
    if (is_scale)
        arguments[count++] = "--scale";
    for (int i = 0; i < bench->only_count; i++) {
        arguments[count++] = "--case";
        arguments[count++] = bench->only[i];
    }
    for (int i = 0; i < bench->adapter_count; i++) {
        arguments[count++] = "--adapter";
        arguments[count++] = bench->adapters[i];
    }
    arguments[count] = NULL;
    callgrind.process = start((char *const *)arguments, log, &callgrind.output);
    return callgrind;
}

bool bench_callgrind_end(struct bench_callgrind *callgrind, bool is_good)
{
    char log[PATH_MAX];
    if (callgrind->output)
        fclose(callgrind->output);
    is_good = callgrind->process > 0 && ended_well(callgrind->process) && is_good;
    if (!is_good) {
        fputs("zepi-bench: callgrind does not count:\n", stderr);
        snprintf(log, sizeof(log), "%s/log", callgrind->folder);
        print_end(log);
    }
    return is_good;
}
