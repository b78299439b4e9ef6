// SPDX-License-Identifier: MIT
#include "compare.h"

#include "../commands.h"
#include "../exec.h"
#include "../scalar.h"
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
    "usage: zepi compare [--cpu[=gpu] | --gpu | --intel-driver[=PRODUCT]] [--adapter FILE] "
    "[--rounds N]\n"
    "                    [--json] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program of the DPC++ runtime with zepi and with Intel's adapter, in turns. In each "
    "round\n"
    "both have a first start, with empty folders for the caches of zepi, SYCL and the driver, and "
    "a\n"
    "warm start, with the folders that the first one left. Prints wall time, processor time, peak\n"
    "memory, and for zepi the programs that were compiled and that were taken from its cache.\n"
    "\n"
    "  --cpu           execute on the CPU, even if there is a GPU; Intel's adapter takes no CPU\n"
    "  --cpu=gpu       the same, with a device that says it is a GPU\n"
    "  --gpu           a GPU or nothing\n"
    "  --intel-driver  Intel's newest driver, which needs no GPU (tools/setup --intel-driver)\n"
    "  --adapter FILE  in place of the adapter for Level Zero, v2, beside the program's runtime\n"
    "  --rounds N      1 to 100; 5 if it is left out\n"
    "  --json          all numbers, for scripts\n"
    "\n"
    "The program's output is left out, unless it fails. Exit code: that of the program if it "
    "fails.\n";

struct choice {
    struct command_options options;
    const char *adapter; // NULL: that of the runtime
    unsigned rounds;
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
    else if (choice->options.driver != HOST_DRIVER_INTEL && folder > 0) {
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

static void show_progress(const struct compare *compare, unsigned round, int start,
                          const struct compare_way *way)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kround %u of %u: %s start, %s ", round + 1, compare->rounds,
                start == COMPARE_FIRST ? "first" : "warm", way->name);
}

// The other way comes first in every second round.
static int run_round(struct compare *compare, unsigned round)
{
    int code = EXIT_OK;
    for (int start = 0; start < COMPARE_START_COUNT; start++) {
        for (unsigned turn = 0; turn < 2 && code == EXIT_OK; turn++) {
            struct compare_way *way = &compare->ways[(turn + round) % 2];
            if (way->reason[0])
                continue;
            show_progress(compare, round, start, way);
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
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    scratch_remove(folder);
    return code;
}

static int run(const struct choice *choice, char *const program[])
{
    char path[PATH_MAX];
    struct runtime runtime;
    int code = exec_prepare(choice->options.driver, program, &runtime);
    struct compare *compare = code == EXIT_OK ? calloc(1, sizeof(*compare)) : NULL;
    if (!compare)
        return code == EXIT_OK ? EXIT_FAILED : code;
    compare->driver = choice->options.driver;
    compare->program = program;
    compare->rounds = choice->rounds;
    compare->ways[0].name = "zepi";
    find_other(choice, &runtime, &compare->ways[1], path);
    code = run_rounds(compare);
    if (code == EXIT_OK)
        compare_report(compare, choice->options.is_json);
    free(compare);
    return code;
}

// ---- The command line ----

static bool take_rounds(const char *text, unsigned *out_rounds)
{
    if (scalar_parse(ZEPI_SCALAR_UINT32, text, out_rounds) && *out_rounds >= 1 &&
        *out_rounds <= COMPARE_MAX_ROUNDS)
        return true;
    fprintf(stderr, "zepi compare: --rounds %s: expected 1 to %d\n", text, COMPARE_MAX_ROUNDS);
    return false;
}

int command_compare(int argc, char **argv)
{
    static const struct option list[] = {COMMAND_DRIVER_OPTIONS,
                                         COMMAND_JSON_OPTION,
                                         {"adapter", required_argument, NULL, 'a'},
                                         {"rounds", required_argument, NULL, 'r'},
                                         {0}};
    struct choice choice = {.options = {.usage = usage, .is_for_program = true},
                            .rounds = DEFAULT_ROUNDS};
    int option;
    // '+': words after the command are the command's.
    while ((option = getopt_long(argc, argv, "+h", list, NULL)) != -1) {
        if (option == 'a')
            choice.adapter = optarg;
        else if (option != 'r')
            command_take(&choice.options, option);
        else if (!take_rounds(optarg, &choice.rounds))
            return command_refuse(usage);
    }
    if (optind == argc) {
        fprintf(stderr, "zepi compare: there is no command\n");
        return command_refuse(usage);
    }
    return run(&choice, &argv[optind]);
}
