// SPDX-License-Identifier: MIT
#include "counts.h"

#include "measure/callgrind.h"
#include "measure/callgrind_file.h"
#include "measure/progress.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

// Lengths of loops. Work before and after the loop falls out of the differences. One loop of the
// first length goes before them, so that structures have their size.
enum { LENGTHS = 3 };
static const unsigned lengths[LENGTHS] = {400, 800, 1200};
#define FILES_OF_CELL (2 * LENGTHS)

// ---- Under callgrind ----

typedef bool run_fn(const struct bench_row *row, enum bench_operation operation, unsigned count);

struct counted_loop {
    run_fn *run;
    const struct bench_row *row;
    enum bench_operation operation;
    unsigned count;
};

static bool run_loop(const void *user)
{
    const struct counted_loop *loop = user;
    return loop->run(loop->row, loop->operation, loop->count);
}

static bool run_counted(run_fn *run, const struct bench_row *row, enum bench_operation operation,
                        unsigned count)
{
    const struct counted_loop loop = {run, row, operation, count};
    return bench_callgrind_count(run_loop, &loop);
}

static bool is_counted(const struct bench *bench, int place, int operation)
{
    return bench->cells[place][operation].is_chosen && bench_is_of_part(bench, operation) &&
           !bench->rows[place].steps[operation].is_slow;
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

static bool measure_part(struct bench *bench, const char *folder)
{
    if (count_cells(bench) == 0)
        return true;
    struct bench_callgrind callgrind = bench_callgrind_start(bench, folder, false);
    const bool is_good = callgrind.output && follow(bench, folder, callgrind.output);
    return bench_callgrind_end(&callgrind, is_good);
}

bool bench_counts_measure(struct bench *bench, const char *folder)
{
    bool is_good = true;
    for (int part = BENCH_PART_ALL + 1; is_good && part < BENCH_PART_COUNT; part++) {
        bench->part = part;
        is_good = measure_part(bench, folder);
    }
    bench->part = BENCH_PART_ALL;
    return is_good;
}
