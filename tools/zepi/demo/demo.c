// SPDX-License-Identifier: MIT
#include "demo.h"
#include "../commands.h"
#include "../json.h"
#include "../scratch.h"

#include <cjson/cJSON.h>

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: zepi demo [--cpu | --gpu | --intel-driver[=PRODUCT]] [--json]\n"
    "\n"
    "Builds three specialized kernels through the plugin's function table, runs them, and "
    "compares\n"
    "every element with a plain computation on the host.\n"
    "\n"
    "  --cpu   run on ze_cpu, even if there is a GPU\n"
    "  --gpu   run on a GPU, or not at all\n"
    "  --intel-driver  run on Intel's newest driver, which needs no GPU\n"
    "  --json  print the table as JSON\n"
    "\n"
    "build: the first build with these constants, in a cache folder of its own; int and float are\n"
    "kernels of one module. again: the same from memory. disk: the same after everything in\n"
    "memory was forgotten. launch: submission to completion, best of up to 5. error: the largest\n"
    "one, relative to the largest element; allowed: the error that the kernel's arithmetic may\n"
    "have.\n"
    "Exit code 1: a number is wrong.\n";

static void print_row(void *user, const struct demo_row *row)
{
    (void)user;
    printf("%-22s %-24s ", row->name, row->constants);
    if (row->is_built)
        printf("%7.2f %6.3f %6.2f", row->build_ms, row->again_ms, row->disk_ms);
    else
        printf("%7s %6s %6s", "-", "-", "-");
    printf(" %7.3f %7.1e %7.0e  %s\n", row->launch_ms, row->max_error, row->tolerance,
           row->max_error <= row->tolerance ? "right" : "WRONG");
    fflush(stdout);
}

static void add_row(void *user, const struct demo_row *row)
{
    cJSON *object = json_add_object(user);
    cJSON_AddStringToObject(object, "case", row->name);
    cJSON_AddStringToObject(object, "constants", row->constants);
    cJSON_AddNumberToObject(object, "elements", (double)row->elements);
    if (row->is_built) {
        cJSON_AddNumberToObject(object, "build_ms", row->build_ms);
        cJSON_AddNumberToObject(object, "again_ms", row->again_ms);
        cJSON_AddNumberToObject(object, "disk_ms", row->disk_ms);
    }
    cJSON_AddNumberToObject(object, "launch_ms", row->launch_ms);
    cJSON_AddNumberToObject(object, "max_error", row->max_error);
    cJSON_AddNumberToObject(object, "tolerance", row->tolerance);
    cJSON_AddBoolToObject(object, "is_right", row->max_error <= row->tolerance);
}

static int print_table(struct host_device *host)
{
    struct demo demo = {.host = host, .report = print_row};
    printf("driver: %s\ndevice: %s\n\n", host_driver_description(), host->info.name);
    printf("%-22s %-24s %7s %6s %6s %7s %7s %7s\n", "case (times in ms)", "constants", "build",
           "again", "disk", "launch", "error", "allowed");
    return demo_run(&demo);
}

static int print_json(struct host_device *host)
{
    cJSON *document = cJSON_CreateObject();
    struct demo demo = {
        .host = host, .report = add_row, .user = cJSON_AddArrayToObject(document, "cases")};
    cJSON_AddStringToObject(document, "driver", host_driver_description());
    cJSON_AddStringToObject(document, "device", host->info.name);
    const int code = demo_run(&demo);
    cJSON_AddBoolToObject(document, "is_right", code == EXIT_OK);
    json_print(document);
    return code;
}

int command_demo(int argc, char **argv)
{
    static const struct option list[] = {COMMAND_DRIVER_OPTIONS, COMMAND_JSON_OPTION, {0}};
    struct command_options options = {.usage = usage};
    struct host_device host;
    int option;
    while ((option = getopt_long(argc, argv, "", list, NULL)) != -1)
        command_take(&options, option);
    if (optind < argc)
        return command_refuse_word(argv[0], argv[optind]);
    char folder[PATH_MAX];
    if (!scratch_make("demo", folder))
        return EXIT_FAILED;
    setenv("ZEPI_CACHE_DIR", folder, 1);
    // The folder goes even if the table is not read to its end.
    signal(SIGPIPE, SIG_IGN);
    int code = host_load(options.driver);
    if (code == EXIT_OK)
        code = host_open(&host, 0);
    if (code != EXIT_OK) {
        scratch_remove(folder);
        return code;
    }
    code = options.is_json ? print_json(&host) : print_table(&host);
    host_close(&host);
    scratch_remove(folder);
    return code;
}
