// SPDX-License-Identifier: MIT
#include "counts.h"

#include "../host.h"
#include "../paths.h"
#include "callgrind_file.h"
#include "progress.h"
#include "times.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Lengths of loops. Work before and after the loop falls out of the differences. One loop of the
// first length goes before them, so that structures have their size.
enum { LENGTHS = 3 };
static const unsigned lengths[LENGTHS] = {400, 800, 1200};
#define FILES_OF_CELL (2 * LENGTHS)

// ---- Under callgrind ----

typedef bool run_fn(const struct bench_row *row, enum bench_operation operation, unsigned count);

// Callgrind counts in here alone, and writes down what it counted at its end. Called through a
// pointer that the compiler does not know, so that it keeps its name.
bool bench_run_counted(run_fn *run, const struct bench_row *row, enum bench_operation operation,
                       unsigned count);
bool bench_run_counted(run_fn *run, const struct bench_row *row, enum bench_operation operation,
                       unsigned count)
{
    const bool is_good = run(row, operation, count);
    bench_keep(row);
    return is_good;
}

static bool (*volatile run_counted)(run_fn *, const struct bench_row *, enum bench_operation,
                                    unsigned) = bench_run_counted;

static bool is_counted(const struct bench *bench, int place, int operation)
{
    return bench->cells[place][operation].is_chosen && !bench->rows[place].steps[operation].is_slow;
}

static void loop_lengths(const struct bench *bench, int operation, unsigned counts[LENGTHS])
{
    for (int i = 0; i < LENGTHS; i++)
        counts[i] = bench_loop_length(bench, operation, lengths[i]);
}

int bench_counts_run(struct bench *bench)
{
    int files = 0;
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
            if (!is_counted(bench, place, operation))
                continue;
            const struct bench_row *row = &bench->rows[place];
            unsigned counts[LENGTHS];
            loop_lengths(bench, operation, counts);
            if (!bench_run(row, operation, counts[0]))
                return EXIT_FAILED;
            for (size_t i = 0; i < LENGTHS; i++) {
                if (!row->settle(row->state) ||
                    !run_counted(bench_run, row, operation, counts[i]) ||
                    !run_counted(bench_prepare, row, operation, counts[i]))
                    return EXIT_FAILED;
            }
            printf("%d %d %d\n", place, operation, files + 1);
            fflush(stdout);
            files += FILES_OF_CELL;
        }
    }
    return EXIT_OK;
}

// ---- Reading ----

// The instructions of a length of loop, less the loop itself.
static bool read_loop(const char *folder, int number, struct callgrind_file *out_file)
{
    char path[PATH_MAX];
    struct callgrind_file loop;
    snprintf(path, sizeof(path), "%s/out.%d", folder, number);
    if (!callgrind_file_read(path, out_file))
        return false;
    snprintf(path, sizeof(path), "%s/out.%d", folder, number + 1);
    if (!callgrind_file_read(path, &loop))
        return false;
    out_file->all -= loop.all;
    out_file->driver -= loop.driver;
    return true;
}

static bool read_slope(const char *folder, int first_file, const unsigned counts[LENGTHS],
                       struct bench_cell *cell)
{
    struct callgrind_file own[LENGTHS];
    for (size_t i = 0; i < LENGTHS; i++) {
        if (!read_loop(folder, first_file + 2 * (int)i, &own[i]))
            return false;
    }
    struct bench_slope *slope = &cell->count;
    slope->whole = (own[2].all - own[0].all) / (counts[2] - counts[0]);
    slope->first = (own[1].all - own[0].all) / (counts[1] - counts[0]);
    slope->second = (own[2].all - own[1].all) / (counts[2] - counts[1]);
    cell->driver_count = (own[2].driver - own[0].driver) / (counts[2] - counts[0]);
    return true;
}

bool bench_slope_is_straight(const struct bench_slope *slope)
{
    return fabs(slope->second - slope->first) <= 1 + 0.02 * fabs(slope->second);
}

static int count_cells(const struct bench *bench)
{
    int count = 0;
    for (int i = 0; i < BENCH_ROW_COUNT * BENCH_OPERATION_COUNT; i++)
        count += is_counted(bench, i / BENCH_OPERATION_COUNT, i % BENCH_OPERATION_COUNT);
    return count;
}

// Reads the output of the process while it runs. False: a file has a wrong format.
static bool follow(struct bench *bench, const char *folder, FILE *output)
{
    char line[64];
    unsigned counts[LENGTHS];
    int done = 0;
    const int count = count_cells(bench);
    bool is_good = true;
    static const char what[] = "counting instructions: case";
    bench_progress(what, 1, count);
    while (fgets(line, sizeof(line), output)) {
        char *rest = line;
        const long place = strtol(rest, &rest, 10);
        const long operation = strtol(rest, &rest, 10);
        const long file = strtol(rest, &rest, 10);
        if (*rest != '\n' || place < 0 || place >= BENCH_ROW_COUNT || operation < 0 ||
            operation >= BENCH_OPERATION_COUNT)
            continue;
        struct bench_cell *cell = &bench->cells[place][operation];
        loop_lengths(bench, (int)operation, counts);
        cell->has_count = read_slope(folder, (int)file, counts, cell);
        is_good = is_good && cell->has_count;
        done++;
        bench_progress(what, done < count ? done + 1 : count, count);
    }
    bench_progress_end();
    return is_good && done == count;
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

bool bench_counts_are_there(void)
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
    fputs("zepi bench: --instructions needs callgrind, which is not there: install valgrind\n",
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

// Runs this program under callgrind, with its stdout in `out_output`. 0: it does not start.
static pid_t start_counting(const struct bench *bench, const char *folder, FILE **out_output)
{
    char self[PATH_MAX];
    char files[PATH_MAX + 64];
    char log[PATH_MAX];
    const char *arguments[12 + 2 * BENCH_MAX_ONLY + 2 * BENCH_MAX_ADAPTERS];
    int count = 0;
    if (!path_of_program(self))
        return 0;
    // Valgrind itself does not run on Intel's driver. The program under it comes up on that driver
    // by itself.
    unsetenv("DRM_SHIM_LAUNCHER");
    snprintf(files, sizeof(files), "--callgrind-out-file=%s/out", folder);
    snprintf(log, sizeof(log), "%s/log", folder);
    const char *const fixed[] = {"valgrind",
                                 "--tool=callgrind",
                                 "--trace-children=yes",
                                 "--toggle-collect=bench_run_counted",
                                 "--dump-after=bench_run_counted",
                                 files,
                                 self,
                                 "bench",
                                 "--counted"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        arguments[count++] = fixed[i];
    if (bench->driver == HOST_DRIVER_INTEL)
        arguments[count++] = "--intel-driver";
    for (int i = 0; i < bench->only_count; i++) {
        arguments[count++] = "--case";
        arguments[count++] = bench->only[i];
    }
    for (int i = 0; i < bench->adapter_count; i++) {
        arguments[count++] = "--adapter";
        arguments[count++] = bench->adapters[i];
    }
    arguments[count] = NULL;
    return start((char *const *)arguments, log, out_output);
}

bool bench_counts_measure(struct bench *bench, const char *folder)
{
    FILE *output = NULL;
    char log[PATH_MAX];
    if (count_cells(bench) == 0)
        return true;
    const pid_t process = start_counting(bench, folder, &output);
    bool is_good = output && follow(bench, folder, output);
    if (output)
        fclose(output);
    is_good = process > 0 && ended_well(process) && is_good;
    if (!is_good) {
        fputs("zepi bench: callgrind does not count:\n", stderr);
        snprintf(log, sizeof(log), "%s/log", folder);
        print_end(log);
    }
    return is_good;
}
