// SPDX-License-Identifier: MIT
#include "commands.h"
#include "host.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *description;
} commands[] = {
    {"info", command_info, "drivers, devices, optional functions, options in force"},
    {"build", command_build, "SPIR-V and constants to native code, or the build log"},
    {"run", command_run, "build, set arguments, launch, print"},
    {"exec", command_exec, "run a program of the DPC++ runtime on zepi"},
    {"demo", command_demo, "three specialized kernels with checked results"},
    {"cache", command_cache,
     "the native code on disk: show, verify, trim, clear, warm, export, import"},
    {"bench", command_bench, "costs of operations, in time and instructions"},
    {"report", command_report, "a text file about this machine, to attach to a bug report"},
    {"compare", command_compare, "times and memory of a program on zepi and on Intel's adapter"},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *file)
{
    fputs("usage: zepi COMMAND [OPTION...]\n\n", file);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].description);
    fputs("\nzepi COMMAND --help says more; zepi --version prints the version.\n"
          "Exit codes: 0 fine, 1 a build failed or a number is wrong, 2 usage, 3 no device.\n",
          file);
}

int command_refuse(const char *usage)
{
    const char *end = strstr(usage, "\n\n");
    fprintf(stderr, "%.*s\n(--help says more)\n",
            (int)(end ? (size_t)(end - usage) : strlen(usage)), usage);
    return EXIT_USAGE;
}

// The arguments stay as they are: commands and getopt_long change theirs.
static char *const *copy_arguments(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof(*copy));
    if (copy)
        memcpy(copy, argv, (size_t)argc * sizeof(*copy));
    return copy;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("zepi " ZEPI_PROJECT_VERSION);
        return EXIT_OK;
    }
    json_begin(argc, argv);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        // getopt_long begins its messages with it.
        char title[32];
        char *const *kept = copy_arguments(argc, argv);
        snprintf(title, sizeof(title), "zepi %s", commands[i].name);
        argv[1] = title;
        host_keep_arguments(kept ? kept : argv);
        const int code = commands[i].run(argc - 1, argv + 1);
        free((void *)kept);
        return code;
    }
    fprintf(stderr, "zepi: there is no command '%s'; zepi --help lists them\n", argv[1]);
    return EXIT_USAGE;
}
