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
    "usage: zepi demo " COMMAND_DRIVERS " [--json]\n"
    "\n"
    "Builds three specialized kernels through the plugin's function table, runs them, and "
    "compares\n"
    "every element with a plain computation on the host.\n"
    "\n" COMMAND_DRIVER_HELP "  --json          print the table as JSON\n"
    "\n"
    "build: the first build with these constants, in a cache folder of its own; int and float are\n"
    "kernels of one module. again: the same from memory. disk: the same after everything in\n"
    "memory was forgotten. launch: submission to completion, best of up to 5. error: the largest\n"
    "one, relative to the largest element; allowed: the error that the kernel's arithmetic may\n"
    "have.\n"
    "Exit code 1: a number is wrong.\n";

static void print_row(const struct demo_row *row)
{
    printf("%-22s %-24s ", row->name, row->constants);
    if (row->is_built)
        printf("%7.2f %6.3f %6.2f", row->build_ms, row->again_ms, row->disk_ms);
    else
        printf("%7s %6s %6s", "-", "-", "-");
    printf(" %7.*f %7.1e %7.0e  %s\n", row->launch_ms < 1000 ? 3 : 1, row->launch_ms,
           row->max_error, row->tolerance, row->max_error <= row->tolerance ? "right" : "WRONG");
    fflush(stdout);
}

static void add_row(cJSON *rows, const struct demo_row *row)
{
    cJSON *object = json_add_object(rows);
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

void demo_report(struct demo *demo, const struct demo_row *row)
{
    if (!json_is_asked_for())
        print_row(row);
    add_row(demo->rows, row);
}

static int run(struct host_device *host)
{
    cJSON *document = cJSON_CreateObject();
    struct demo demo = {.host = host, .rows = cJSON_AddArrayToObject(document, "cases")};
    cJSON_AddStringToObject(document, "driver", host_driver_description());
    cJSON_AddStringToObject(document, "device", host->info.name);
    if (!json_is_asked_for())
        printf("driver: %s\ndevice: %s\n\n%-22s %-24s %7s %6s %6s %7s %7s %7s\n",
               host_driver_description(), host->info.name, "case (times in ms)", "constants",
               "build", "again", "disk", "launch", "error", "allowed");
    const int code = demo_run(&demo);
    cJSON_AddBoolToObject(document, "is_right", code == EXIT_OK);
    json_print(document);
    return code;
}

int command_demo(int argc, char **argv)
{
    struct command_options options = {.usage = usage};
    struct host_device host;
    char folder[PATH_MAX];
    int code = command_parse(argc, argv, &options);
    if (code != EXIT_OK)
        return code;
    if (!scratch_make("demo", folder))
        return EXIT_FAILED;
    setenv("ZEPI_CACHE_DIR", folder, 1);
    // The folder goes even if the table is not read to its end.
    signal(SIGPIPE, SIG_IGN);
    code = host_open(&host, options.driver);
    if (code == EXIT_OK) {
        code = run(&host);
        host_close(&host);
    }
    scratch_remove(folder);
    return code;
}
