// SPDX-License-Identifier: MIT
#include "commands.h"
#include "host.h"
#include "intel_driver.h"
#include "paths.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: zepi exec [--cpu | --gpu | --intel-driver] [--adapter FILE] [--verbose]\n"
    "                 [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program of the DPC++ runtime on zepi: sets UR_ADAPTERS_FORCE_LOAD to zepi's adapter "
    "and,\n"
    "where there is no GPU or with --cpu, ZE_ENABLE_ALT_DRIVERS to the driver that executes on "
    "the\n"
    "CPU, which then says that its device is a CPU (ZE_CPU_TYPE, unless that is set).\n"
    "\n"
    "  --cpu           execute on the CPU, even if there is a GPU\n"
    "  --gpu           a GPU or nothing\n"
    "  --intel-driver  Intel's newest driver, which needs no GPU (tools/setup --intel-driver "
    "fetches it)\n"
    "  --adapter FILE  another adapter of Unified Runtime in zepi's place\n"
    "  --verbose       say on stderr what is set\n"
    "\n"
    "Exit code: that of the command; 126 or 127 if it cannot be run; 3: no driver or adapter.\n";

static bool is_verbose;
static const char *other_adapter;

static void set(const char *name, const char *value)
{
    setenv(name, value, 1);
    if (is_verbose)
        fprintf(stderr, "zepi: %s=%s\n", name, value);
}

static int prepare(enum host_driver driver)
{
    char adapter[PATH_MAX];
    const char *before = getenv("ZE_ENABLE_ALT_DRIVERS");
    const char *chosen = getenv("UR_ADAPTERS_FORCE_LOAD");
    const int code = host_prepare(driver);
    if (code != EXIT_OK)
        return code;
    // What a program on Intel's driver starts keeps the program's adapter.
    if (driver == HOST_DRIVER_INTEL && !other_adapter && getenv("DRM_SHIM_LAUNCHER") && chosen)
        other_adapter = chosen;
    if (other_adapter) {
        if (access(other_adapter, R_OK) != 0) {
            fprintf(stderr, "zepi: %s: %s\n", other_adapter, strerror(errno));
            return EXIT_NO_DEVICE;
        }
        snprintf(adapter, sizeof(adapter), "%s", other_adapter);
    } else if (!path_find_library("ZEPI_UR_ADAPTER", "libur_adapter_zepi.so", adapter)) {
        fprintf(stderr,
                "zepi: %s: %s; ZEPI_UR_ADAPTER says where libur_adapter_zepi.so is (it is built "
                "where Unified Runtime's headers are)\n",
                adapter, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    if (is_verbose)
        fprintf(stderr, "zepi: driver: %s\n", host_driver_description());
    set("UR_ADAPTERS_FORCE_LOAD", adapter);
    if (driver == HOST_DRIVER_INTEL)
        return EXIT_OK;
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && drivers != before)
        set("ZE_ENABLE_ALT_DRIVERS", drivers);
    // Libraries that bring native code for Intel GPUs along must not take it for one.
    if (drivers && strstr(drivers, "libze_cpu") && !getenv("ZE_CPU_TYPE"))
        set("ZE_CPU_TYPE", "cpu");
    return EXIT_OK;
}

int command_exec(int argc, char **argv)
{
    static const struct option options[] = {{"cpu", no_argument, NULL, 'c'},
                                            {"gpu", no_argument, NULL, 'g'},
                                            {"intel-driver", no_argument, NULL, 'I'},
                                            {"adapter", required_argument, NULL, 'a'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    enum host_driver driver = HOST_DRIVER_AUTO;
    int option;
    // '+': what follows the command is the command's.
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
        case 'g':
            if (!host_choose(&driver, option == 'c' ? HOST_DRIVER_CPU : HOST_DRIVER_GPU))
                return EXIT_USAGE;
            break;
        case 'I':
            driver = HOST_DRIVER_INTEL;
            break;
        case 'a':
            other_adapter = optarg;
            break;
        case 'v':
            is_verbose = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_OK;
        default:
            return command_refuse(usage);
        }
    }
    if (optind == argc) {
        fprintf(stderr, "zepi exec: there is no command\n");
        return command_refuse(usage);
    }
    const int code = prepare(driver);
    if (code != EXIT_OK)
        return code;
    if (driver == HOST_DRIVER_INTEL)
        return intel_driver_exec(&argv[optind]);
    execvp(argv[optind], &argv[optind]);
    const int error = errno;
    fprintf(stderr, "zepi exec: %s: %s\n", argv[optind], strerror(error));
    return error == ENOENT ? 127 : 126;
}
