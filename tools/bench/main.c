// SPDX-License-Identifier: MIT
#include "measure/callgrind.h"
#include "measure/interrupts.h"
#include "measure/times.h"
#include "measures.h"
#include "row/rows.h"
#include "scale/scale.h"
#include "tools/zepi/commands.h"
#include "tools/zepi/json.h"
#include "tools/zepi/scratch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: zepi-bench [--instructions] [--growth] [--case NAME]... [--adapter FILE]...\n"
    "                  [--json] [--gpu | --intel-driver[=PRODUCT]]\n"
    "       zepi-bench --scale [--case NAME]... [--json]\n"
    "       zepi-bench --held [--json] [--gpu | --intel-driver[=PRODUCT]]\n"
    "\n"
    "Costs of operations through zepi's table and through zepi as an adapter of Unified Runtime,\n"
    "on a driver that completes everything at once without executing it (ze_cpu with\n"
    "ZE_CPU_EXECUTE=0). Builds are real; they go to a cache of their own. Half of the arguments\n"
    "differ from launch to launch.\n"
    "\n"
    "  --instructions  count instructions outside this program with callgrind (of valgrind):\n"
    "                  those of the plugin or adapter + of the loader + of the driver, the slope\n"
    "                  between three loop lengths; on ze_cpu, fails above the operation's limit,\n"
    "                  in builds of the compiler that limits are for (gcc 12)\n"
    "  --growth        by how much the process grows in a million operations of each kind\n"
    "  --scale         zepi's own instructions an operation while 200 and while 20,000 objects of\n"
    "                  a type are alive, for every type, and in place of all else; fails if the\n"
    "                  second are more than twice the first, and 250 more\n"
    "  --held          the memory of process and device that the adapter keeps after a program of\n"
    "                  random sizes, in place of all else; ZEPI_UR_ADAPTER=FILE is another "
    "adapter\n"
    "  --case NAME     only operations with this in their names (below)\n"
    "  --adapter FILE  the same through another adapter of Unified Runtime, up to 3 of them\n"
    "  --json          all numbers, for scripts and plots\n"
    "  --gpu           on a GPU, which executes the kernels; times alone\n"
    "  --intel-driver  on Intel's newest driver, whose kernels are passed over; the stand-in for\n"
    "                  the kernel's driver (tools/drm_shim) is not counted. With --adapter, side\n"
    "                  by side with Intel's; fails where zepi's adapter costs more than Intel's\n"
    "                  v2 by more than 1 %, but for one operation and for copies that v2 does not\n"
    "                  enqueue, whose reasons it prints\n"
    "\n"
    "Times are the best (and the median) of 15 rounds in turns. Two threads are compared with\n"
    "one, and stand beside two that only spin in the same rounds.\n"
    "\n"
    "Operations:";

#define LINE_COLUMNS 96 // of the list of operations

struct bench_options {
    bool is_instructions;
    bool is_growth;
    bool is_scale;
    bool is_held;
    uint32_t counted; // under callgrind: 1 and the part of the bench that runs; else 0
};

static const char *operation_name(size_t index)
{
    return index < BENCH_OPERATION_COUNT ? bench_operations[index].name
           : index < BENCH_OPERATION_COUNT + BENCH_CREW_COUNT
               ? bench_crews[index - BENCH_OPERATION_COUNT].name
               : NULL;
}

static void print_names(FILE *file, const char *(*name_of)(size_t index))
{
    int column = LINE_COLUMNS;
    const char *name;
    for (size_t i = 0; (name = name_of(i)); i++) {
        const int length = (int)strlen(name);
        const bool fits = column + 1 + length <= LINE_COLUMNS;
        fprintf(file, "%s%s", fits ? " " : "\n  ", name);
        column = fits ? column + 1 + length : 2 + length;
    }
}

// The usage with the names of operations, which lives as long as the process.
static const char *make_usage(void)
{
    static char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return usage;
    fputs(usage, file);
    print_names(file, operation_name);
    fputs("\n\nTypes of --scale:", file);
    print_names(file, bench_scale_name);
    fputc('\n', file);
    fclose(file);
    return text;
}

// Whether the text is part of a name.
static bool is_in_names(const char *(*name_of)(size_t index), const char *text)
{
    const char *name;
    bool is_found = false;
    for (size_t i = 0; (name = name_of(i)) && !is_found; i++)
        is_found = strstr(name, text);
    return is_found;
}

static bool is_known(const char *text)
{
    if (is_in_names(operation_name, text) || is_in_names(bench_scale_name, text))
        return true;
    fprintf(stderr, "zepi-bench: there is no operation '%s'; --help lists them\n", text);
    return false;
}

static bool measure_all(struct bench *bench, const struct bench_options *options,
                        const char *folder)
{
    return bench_times_measure(bench) &&
           (!bench_asks_for_threads(bench) || bench_threads_measure(bench)) &&
           (!options->is_growth || bench_growth_measure(bench)) &&
           (!options->is_instructions || bench_counts_measure(bench, folder));
}

static int report(const struct bench *bench)
{
    if (json_is_asked_for())
        bench_report_json(bench);
    else
        bench_report_table(bench);
    return bench_is_within_limits(bench) ? EXIT_OK : EXIT_FAILED;
}

static int run(struct bench *bench, const struct bench_options *options, const char *folder)
{
    int code = options->is_scale ? bench_rows_open_zepi(bench) : bench_rows_open(bench);
    if (code == EXIT_OK && options->is_scale)
        code = bench_scale(bench, folder);
    else if (code == EXIT_OK && options->is_held)
        code = bench_held(bench);
    else if (code == EXIT_OK)
        code = measure_all(bench, options, folder) ? report(bench) : EXIT_FAILED;
    if (bench_is_interrupted())
        fputs("zepi-bench: interrupted\n", stderr);
    bench_rows_close(bench);
    return code;
}

// A cache of its own: the user's stays as it is.
static int run_in_folder(struct bench *bench, const struct bench_options *options)
{
    char folder[PATH_MAX];
    if ((options->is_instructions || options->is_scale) && !bench_callgrind_is_there())
        return EXIT_FAILED;
    if (!scratch_make("bench", folder))
        return EXIT_FAILED;
    setenv("ZEPI_CACHE", "on", 1);
    setenv("ZEPI_CACHE_DISK", "on", 1);
    setenv("ZEPI_CACHE_DIR", folder, 1);
    unsetenv("ZE_CPU_CODE_FOLDER");
    bench_watch_interrupts();
    const int code = run(bench, options, folder);
    scratch_remove(folder);
    return code;
}

// Under callgrind, in the environment of the process that measures.
static int run_counted(struct bench *bench, const struct bench_options *options)
{
    const bool is_scale = options->is_scale;
    bench->part = (enum bench_part)(options->counted - 1);
    int code = is_scale ? bench_rows_open_zepi(bench) : bench_rows_open(bench);
    if (code == EXIT_OK)
        code = is_scale ? bench_scale_run_counted(bench) : bench_counts_run(bench);
    bench_rows_close(bench);
    return code;
}

static int take_adapter(void *user, const char *path)
{
    struct bench *bench = user;
    if (bench->adapter_count == BENCH_MAX_ADAPTERS)
        return command_refuse(usage);
    bench->adapters[bench->adapter_count++] = path;
    return EXIT_OK;
}

static int take_case(void *user, const char *name)
{
    struct bench *bench = user;
    if (bench->only_count == BENCH_MAX_ONLY || !is_known(name))
        return command_refuse(usage);
    bench->only[bench->only_count++] = name;
    return EXIT_OK;
}

// Whether nothing is asked for that --scale does not do, and no operation by name.
static bool is_scale_alone(const struct bench *bench, const struct bench_options *options)
{
    bool is_good = bench->driver == HOST_DRIVER_CPU && bench->adapter_count == 0 &&
                   !options->is_instructions && !options->is_growth;
    for (int i = 0; i < bench->only_count && is_good; i++)
        is_good = is_in_names(bench_scale_name, bench->only[i]);
    return is_good;
}

static int read_options(int argc, char **argv, struct bench *bench, struct bench_options *options)
{
    const struct command_option own[] = {
        {.name = "instructions", .flag = &options->is_instructions},
        {.name = "growth", .flag = &options->is_growth},
        {.name = "scale", .flag = &options->is_scale},
        {.name = "held", .flag = &options->is_held},
        {.name = "case", .take = take_case, .user = bench},
        {.name = "counted", .number = &options->counted, .most = BENCH_PART_COUNT},
        {.name = "adapter", .take = take_adapter, .user = bench},
        {0}};
    struct command_options common = {.usage = make_usage(), .own = own};
    const int code = command_parse(argc, argv, &common);
    if (code != EXIT_OK)
        return code;
    bench->driver = common.driver == HOST_DRIVER_AUTO ? HOST_DRIVER_CPU : common.driver;
    if (options->is_instructions && bench->driver == HOST_DRIVER_GPU) {
        fputs("zepi-bench: instructions are counted on ze_cpu or with --intel-driver\n", stderr);
        return EXIT_USAGE;
    }
    return options->is_scale && !is_scale_alone(bench, options) ? command_refuse(usage) : EXIT_OK;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct bench_options options = {0};
    command_begin(argc, argv);
    // Commands are carried out in the thread that submits them, kernels are not.
    setenv("DRM_SHIM_INLINE", "1", 1);
    setenv("DRM_SHIM_EXEC", "0", 1);
    setenv("ZE_CPU_EXECUTE", "0", 1);
    setenv("ZEPI_UR_LAYOUT", BENCH_UR_RELEASE, 1); // no loader asks
    const int code = read_options(argc, argv, &bench, &options);
    if (code != EXIT_OK)
        return code;
    // Memory is shared with other processes.
    if (options.is_scale)
        setenv("ZE_CPU_IPC", "1", 1);
    // By this the drivers tell how much of a device's memory is free.
    if (options.is_held)
        setenv("ZES_ENABLE_SYSMAN", "1", 1);
    return options.counted > 0 ? run_counted(&bench, &options) : run_in_folder(&bench, &options);
}
