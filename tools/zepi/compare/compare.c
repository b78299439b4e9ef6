// SPDX-License-Identifier: MIT
#include "compare.h"

#include "../commands.h"
#include "../exec.h"
#include "../scratch.h"
#include "adapter_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_ROUNDS 5
#define INTELS_ADAPTER "libur_adapter_level_zero_v2.so.0"
#define LOADER "libur_loader.so.0"

static const char usage[] =
    "usage: zepi compare " COMMAND_DRIVERS " [--adapter FILE] [--rounds N]\n"
    "                    [--json] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program of the DPC++ runtime with zepi and with Intel's adapter, in turns. In each "
    "round\n"
    "both have a first start, with empty folders for the caches of zepi, SYCL and the driver, and "
    "a\n"
    "warm start, with the folders that the first one left. Prints wall time, processor time, peak\n"
    "memory, and for zepi the programs that were compiled and that were taken from its cache.\n"
    "\n" COMMAND_DRIVER_HELP
    "  --adapter FILE  in place of the adapter for Level Zero, v2, beside the program's runtime\n"
    "  --rounds N      1 to 100; 5 if it is left out\n"
    "  --json          all numbers, for scripts\n"
    "\n"
    "The program's output is left out, unless it fails. Exit code: that of the program if it "
    "fails.\n";

struct choice {
    enum host_driver driver;
    const char *adapter; // NULL: that of the runtime
    uint32_t rounds;
};

// ---- The other adapter ----

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Finds the adapter, and whether it has a device; else the reason.
static void find_other(const struct choice *choice, const struct runtime *runtime,
                       struct compare_way *way, char path[PATH_MAX])
{
    char loader[PATH_MAX + 32];
    const char *slash = strrchr(runtime->library, '/');
    const int folder = slash ? (int)(slash + 1 - runtime->library) : 0;
    if (choice->adapter && !realpath(choice->adapter, path))
        snprintf(path, PATH_MAX, "%s", choice->adapter);
    else if (!choice->adapter)
        snprintf(path, PATH_MAX, "%.*s%s", folder, runtime->library, INTELS_ADAPTER);
    way->adapter = path;
    way->name = name_of(choice->adapter ? choice->adapter : path);
    snprintf(loader, sizeof(loader), "%.*s%s", folder, runtime->library, LOADER);
    if (!choice->adapter && folder == 0)
        snprintf(way->reason, sizeof(way->reason),
                 "the program's DPC++ runtime is not known; --adapter FILE names an adapter");
    else if (access(path, R_OK) != 0)
        snprintf(way->reason, sizeof(way->reason), "there is no %s", path);
    // Intel's driver without a GPU is for programs that this one starts, and has a device.
    else if (choice->driver != HOST_DRIVER_INTEL && folder > 0) {
        const char *reason = adapter_probe(loader, path);
        const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
        const char *type = getenv("ZE_CPU_TYPE");
        const bool is_cpu =
            drivers && strstr(drivers, "libze_cpu") && type && strcmp(type, "cpu") == 0;
        if (reason)
            snprintf(way->reason, sizeof(way->reason), "%s%s", reason,
                     is_cpu ? ": ze_cpu says that it is a CPU (--cpu=gpu)" : "");
    }
}

// ---- Rounds ----

// The other way comes first in every second round.
static int run_round(struct compare *compare, unsigned round)
{
    int code = EXIT_OK;
    for (int start = 0; start < COMPARE_START_COUNT; start++) {
        for (unsigned turn = 0; turn < 2 && code == EXIT_OK; turn++) {
            struct compare_way *way = &compare->ways[(turn + round) % 2];
            if (way->reason[0])
                continue;
            command_progress("round %u of %u: %s start, %s", round + 1, compare->rounds,
                             start == COMPARE_FIRST ? "first" : "warm", way->name);
            code = compare_run(compare, round, way, (enum compare_start)start);
        }
    }
    return code;
}

static int run_rounds(struct compare *compare)
{
    char folder[PATH_MAX];
    if (!scratch_make("compare", folder))
        return EXIT_FAILED;
    compare->folder = folder;
    int code = EXIT_OK;
    for (unsigned round = 0; round < compare->rounds && code == EXIT_OK; round++)
        code = run_round(compare, round);
    command_progress_end();
    scratch_remove(folder);
    return code;
}

static int run(const struct choice *choice, char *const program[])
{
    char path[PATH_MAX];
    struct runtime runtime;
    int code = exec_prepare(choice->driver, program, &runtime);
    struct compare *compare = code == EXIT_OK ? calloc(1, sizeof(*compare)) : NULL;
    if (!compare)
        return code == EXIT_OK ? EXIT_FAILED : code;
    compare->driver = choice->driver;
    compare->program = program;
    compare->rounds = choice->rounds;
    compare->ways[0].name = "zepi";
    find_other(choice, &runtime, &compare->ways[1], path);
    code = run_rounds(compare);
    if (code == EXIT_OK)
        compare_report(compare);
    free(compare);
    return code;
}

int command_compare(int argc, char **argv)
{
    struct choice choice = {.rounds = DEFAULT_ROUNDS};
    const struct command_option own[] = {
        {.name = "adapter", .text = &choice.adapter},
        {.name = "rounds", .number = &choice.rounds, .most = COMPARE_MAX_ROUNDS},
        {0}};
    struct command_options options = {
        .usage = usage, .own = own, .words = COMMAND_PROGRAM, .is_for_program = true};
    const int code = command_parse(argc, argv, &options);
    choice.driver = options.driver;
    return code == EXIT_OK ? run(&choice, &argv[optind]) : code;
}
