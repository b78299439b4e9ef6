// SPDX-License-Identifier: MIT
#include "callgrind.h"

#include "tools/zepi/host.h"
#include "tools/zepi/paths.h"
#include "tools/zepi/probe.h"

#include <limits.h>
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

static bool ended_well(pid_t process)
{
    int status;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool bench_callgrind_is_there(void)
{
    const char *const arguments[] = {"valgrind", "--version", NULL};
    char line[64];
    pid_t process = 0;
    FILE *output = probe_start(arguments, "/dev/null", &process);
    const bool is_started = output;
    while (output && fgets(line, sizeof(line), output))
        continue;
    if (output)
        fclose(output);
    if (is_started && ended_well(process))
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
    callgrind.output = probe_start(arguments, log, &callgrind.process);
    return callgrind;
}

bool bench_callgrind_end(struct bench_callgrind *callgrind, bool is_good)
{
    char log[PATH_MAX];
    const bool is_started = callgrind->output;
    if (is_started)
        fclose(callgrind->output);
    is_good = is_started && ended_well(callgrind->process) && is_good;
    if (!is_good) {
        fputs("zepi-bench: callgrind does not count:\n", stderr);
        snprintf(log, sizeof(log), "%s/log", callgrind->folder);
        print_end(log);
    }
    return is_good;
}
