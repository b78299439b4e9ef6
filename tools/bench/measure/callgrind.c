// SPDX-License-Identifier: MIT
#include "callgrind.h"

#include "tools/zepi/commands.h"
#include "tools/zepi/file_bytes.h"
#include "tools/zepi/paths.h"
#include "tools/zepi/probe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNTED "zepi-bench counted" // the line that says that there is another file

// ---- Under callgrind ----

// Callgrind counts in here alone, and writes down what it counted at its end. Called through a
// pointer that the compiler does not know, so that it keeps its name.
bool bench_run_counted(bool (*run)(const void *user), const void *user);
bool bench_run_counted(bool (*run)(const void *user), const void *user)
{
    const bool is_good = run(user);
    __asm__ volatile("" : : "r"(user) : "memory"); // the call above is no jump
    return is_good;
}

bool bench_callgrind_count(bool (*run)(const void *user), const void *user)
{
    static bool (*volatile run_counted)(bool (*)(const void *), const void *) = bench_run_counted;
    const bool is_good = run_counted(run, user);
    if (is_good)
        puts(COUNTED);
    fflush(stdout);
    return is_good;
}

// ---- Running ----

#define MAX_ARGUMENTS 64

static bool ended_well(pid_t process)
{
    int status;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool bench_callgrind_is_there(void)
{
    if (system("valgrind --version >/dev/null 2>&1") == 0)
        return true;
    fputs("zepi-bench: instructions need callgrind, which is not there: install valgrind\n",
          stderr);
    return false;
}

struct bench_callgrind bench_callgrind_start(const struct bench *bench, const char *folder)
{
    struct bench_callgrind callgrind = {.folder = folder};
    char self[PATH_MAX];
    char files[PATH_MAX + 64];
    char log[PATH_MAX];
    char counted[32];
    const char *arguments[MAX_ARGUMENTS] = {"valgrind",
                                            "--tool=callgrind",
                                            "--trace-children=yes",
                                            "--toggle-collect=bench_run_counted",
                                            "--dump-after=bench_run_counted",
                                            files,
                                            self,
                                            counted};
    size_t count = 0;
    while (arguments[count])
        count++;
    if (!path_of_program(self))
        return callgrind;
    // Valgrind itself does not run on Intel's driver. The program under it comes up on that driver
    // by itself.
    unsetenv("DRM_SHIM_LAUNCHER");
    snprintf(files, sizeof(files), "--callgrind-out-file=%s/out", folder);
    snprintf(log, sizeof(log), "%s/log", folder);
    snprintf(counted, sizeof(counted), "--counted=%d", 1 + (int)bench->part);
    for (char *const *own = command_arguments() + 1; *own && count < MAX_ARGUMENTS - 1; own++)
        arguments[count++] = *own;
    callgrind.output = probe_start(arguments, log, &callgrind.process);
    return callgrind;
}

bool bench_callgrind_read(struct bench_callgrind *callgrind, struct callgrind_file *out_file)
{
    char line[64];
    char path[PATH_MAX];
    while (fgets(line, sizeof(line), callgrind->output)) {
        if (strcmp(line, COUNTED "\n") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/out.%u", callgrind->folder, ++callgrind->files);
        const bool is_read = callgrind_file_read(path, out_file);
        remove(path);
        return is_read;
    }
    return false;
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
        file_show(log);
    }
    return is_good;
}
