// SPDX-License-Identifier: MIT
#include "scale.h"

#include "../measure/callgrind.h"
#include "../measure/interrupts.h"
#include "../row/rows.h"
#include "tools/zepi/commands.h"
#include "tools/zepi/json.h"

#include <stdio.h>
#include <string.h>

#define LOOP 100 // operations
#define SIZES 2
static const unsigned sizes[SIZES] = {SCALE_FEW, SCALE_MANY};

static const struct scale_case *const lists[] = {scale_objects, scale_programs, scale_memory,
                                                 scale_graphs, scale_ur};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

const struct scale_left_out scale_left_out[] = {
    {"platform", "one for each driver"},
    {"device", "as many as the driver lists"},
    {"the first event of a command list", "it makes 8 events of the driver, once for each list"},
    {"builds of different modules",
     "compilers run meanwhile; device images and executables of one build are measured"},
    {"lists of all objects (context_get_modules)", "as long as what they list"},
    {"frees behind commands that are pending in many queues", "each such queue is looked at"},
    {"memory opened by a handle", "valgrind lacks a system call for that (pidfd_open)"},
    {"ur_graph", "an object around a graph, found by its pointer"},
    {"ur_executable", "the same"},
    {"ur_set_arguments", "at most one a kernel object, found by a pointer in it; and none in this "
                         "release of Unified Runtime, whose launches have the arguments"},
    {NULL, NULL}};

// ---- Operations ----

struct loop {
    struct scale *scale;
    const struct scale_case *info;
    unsigned operation;
};

// The operations that a case has without naming them, then its own.
enum { ONE_MORE, IN_BETWEEN, NAMED };

static bool run_one(const struct loop *loop, unsigned i)
{
    struct scale *scale = loop->scale;
    const struct scale_case *info = loop->info;
    if (loop->operation == ONE_MORE)
        return info->make(scale, scale->live) && info->drop(scale, scale->live);
    if (loop->operation == IN_BETWEEN)
        return info->drop(scale, i) && info->make(scale, i);
    const struct scale_operation *named = &info->operations[loop->operation - NAMED];
    if (!named->is_new)
        return named->run(scale, i);
    return info->make(scale, scale->live) && named->run(scale, scale->live) &&
           info->drop(scale, scale->live);
}

// Always at the same places.
static bool run_loop(const void *user)
{
    const struct loop *loop = user;
    uint32_t random = 1;
    bool is_good = true;
    for (unsigned i = 0; i < LOOP && is_good; i++) {
        random = random * 1664525 + 1013904223;
        is_good = run_one(loop, (unsigned)((uint64_t)random * loop->scale->live >> 32));
    }
    return is_good;
}

static const char *title_of(const struct scale_case *info, unsigned operation)
{
    static const char *const titles[] = {"one more: make, release",
                                         "one of them: release, make anew"};
    if (operation < NAMED)
        return info->drop ? titles[operation] : NULL;
    return operation < SCALE_MAX_OPERATIONS ? info->operations[operation - NAMED].title : NULL;
}

// ---- One case, under callgrind ----

static bool settle(const struct bench *bench)
{
    const struct bench_row *zepi_row = &bench->rows[BENCH_ROW_ZEPI];
    const struct bench_row *ur_row = &bench->rows[BENCH_ROW_UR];
    return zepi_row->settle(zepi_row->state) && ur_row->settle(ur_row->state);
}

static bool count_operations(const struct bench *bench, struct scale *scale,
                             const struct scale_case *info)
{
    bool is_good = true;
    for (unsigned i = info->drop ? 0 : NAMED; title_of(info, i) && is_good; i++) {
        const struct loop loop = {scale, info, i};
        is_good = run_loop(&loop) && settle(bench) && bench_callgrind_count(run_loop, &loop) &&
                  settle(bench);
        if (!is_good)
            fprintf(stderr, "zepi-bench: failed: %s, %u alive, %s\n", info->name, scale->live,
                    title_of(info, i));
    }
    return (!info->settle || info->settle(scale)) && is_good;
}

static bool count_case(const struct bench *bench, const struct scale_case *info)
{
    static struct scale whole;
    struct scale *scale = &whole;
    memset(scale, 0, sizeof(*scale));
    scale->info = info;
    scale->row = bench->rows[BENCH_ROW_ZEPI].state;
    scale->ur = bench->rows[BENCH_ROW_UR].state;
    bool is_good = !info->open || info->open(scale);
    for (unsigned size = 0; size < SIZES && is_good; size++) {
        for (; scale->live < sizes[size] && is_good; scale->live++)
            is_good = info->make(scale, scale->live);
        is_good = is_good && scale->live == sizes[size];
        if (!is_good)
            fprintf(stderr, "zepi-bench: failed: %s, object %u\n", info->name, scale->live);
        is_good = is_good && settle(bench) && count_operations(bench, scale, info);
    }
    while (info->drop && scale->live > 0)
        is_good = info->drop(scale, --scale->live) && is_good;
    if (info->close)
        info->close(scale);
    if (!is_good)
        host_fail("the last error");
    return is_good;
}

// ---- All cases ----

// NULL: there are no more.
static const struct scale_case *case_at(size_t index)
{
    for (size_t list = 0; list < LISTS; list++) {
        for (const struct scale_case *at = lists[list]; at->name; at++) {
            if (index-- == 0)
                return at;
        }
    }
    return NULL;
}

const char *bench_scale_name(size_t index)
{
    const struct scale_case *info = case_at(index);
    return info ? info->name : NULL;
}

int bench_scale_run_counted(struct bench *bench)
{
    const struct scale_case *info;
    for (size_t i = 0; (info = case_at(i)); i++) {
        if (bench_is_asked_for(bench, info->name) && !count_case(bench, info))
            return EXIT_FAILED;
    }
    return EXIT_OK;
}

// ---- Reading ----

// Reads the counts of one case.
static bool read_case(struct scale_result *result, struct bench_callgrind *callgrind)
{
    struct callgrind_file file;
    for (unsigned size = 0; size < SIZES; size++) {
        for (unsigned i = result->info->drop ? 0 : NAMED; title_of(result->info, i); i++) {
            if (!bench_callgrind_read(callgrind, &file))
                return false;
            result->cells[i].title = title_of(result->info, i);
            result->cells[i].own[size] = file.own / LOOP;
        }
    }
    return true;
}

static bool measure_all(struct bench *bench, struct scale_result *results, const char *folder,
                        int count)
{
    struct bench_callgrind callgrind = bench_callgrind_start(bench, folder);
    bool is_good = callgrind.output;
    for (int i = 0; i < count && is_good; i++) {
        command_progress("200 and 20,000 alive: case, %d of %d", i + 1, count);
        is_good = read_case(&results[i], &callgrind) && !bench_is_interrupted();
    }
    command_progress_end();
    return bench_callgrind_end(&callgrind, is_good);
}

int bench_scale(struct bench *bench, const char *folder)
{
    static struct scale_result results[SCALE_MAX_CASES + 1];
    const struct scale_case *info;
    int count = 0;
    bool is_within = true;
    for (size_t i = 0; (info = case_at(i)) && count < SCALE_MAX_CASES; i++) {
        if (bench_is_asked_for(bench, info->name))
            results[count++].info = info;
    }
    if (!measure_all(bench, results, folder, count))
        return EXIT_FAILED;
    if (json_is_asked_for())
        scale_report_json(results);
    else
        scale_report_table(results);
    for (const struct scale_result *result = results; result->info; result++) {
        for (int i = 0; i < SCALE_MAX_OPERATIONS; i++) {
            const struct scale_cell *cell = &result->cells[i];
            if (!cell->title || scale_is_within_limit(cell))
                continue;
            is_within = false;
            fprintf(
                stderr,
                "zepi-bench: %s, %s: %.0f instructions, at most %.0f (%.0f times those of %d)\n",
                result->info->name, cell->title, cell->own[1], SCALE_LIMIT * cell->own[0],
                SCALE_LIMIT, SCALE_FEW);
        }
    }
    return is_within ? EXIT_OK : EXIT_FAILED;
}
