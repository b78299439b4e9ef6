// SPDX-License-Identifier: MIT
#include "commands.h"
#include "host.h"
#include "intel_driver.h"
#include "paths.h"
#include "runtime.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: zepi exec [--cpu[=gpu] | --gpu | --intel-driver] [--adapter FILE] [--stats[=FILE]]\n"
    "                 [--verbose] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program of the DPC++ runtime on zepi. UR_ADAPTERS_SEARCH_PATH gets the folder where "
    "zepi\n"
    "stands in for Intel's adapters for Level Zero; other backends (OpenCL, CUDA) stay. Where "
    "there\n"
    "is no GPU, or with --cpu, ZE_ENABLE_ALT_DRIVERS gets the driver that executes on the "
    "CPU.\n"
    "\n"
    "  --cpu           execute on the CPU, even if there is a GPU\n"
    "  --cpu=gpu       the same, with a device that says it is a GPU, for programs that ask for "
    "one\n"
    "                  (ZE_CPU_TYPE=gpu)\n"
    "  --gpu           a GPU or nothing\n"
    "  --intel-driver  Intel's newest driver, which needs no GPU (tools/setup --intel-driver "
    "fetches it)\n"
    "  --adapter FILE  this adapter of Unified Runtime, and no other backend\n"
    "  --stats[=FILE]  at the end of each process, what it built and from where, launched, copied "
    "and\n"
    "                  allocated (ZEPI_STATS): on stderr, or appended to FILE, as JSON if it ends "
    "in\n"
    "                  .json\n"
    "  --verbose       name the program's DPC++ runtime on stderr, and the variables that are set\n"
    "\n"
    "Exit code: that of the command; 126 or 127 if it cannot be run; 3: no driver, no adapter, a "
    "runtime\n"
    "that is too old, or none for a program that links with it or for python (\"-- env python "
    "...\"\n"
    "runs it all the same).\n";

static bool is_verbose;
static const char *other_adapter;
static const char *stats; // NULL: not asked for

static void set(const char *name, const char *value)
{
    setenv(name, value, 1);
    if (is_verbose)
        fprintf(stderr, "zepi: %s=%s\n", name, value);
}

static void unset(const char *name)
{
    if (is_verbose && getenv(name))
        fprintf(stderr, "zepi: %s is unset\n", name);
    unsetenv(name);
}

// Prints the runtime that the command loads, or that it needs one that is missing.
static int check_runtime(char *const command[])
{
    struct runtime runtime;
    const enum runtime_state state = runtime_find(command, &runtime);
    if (state == RUNTIME_MISSING && runtime.library[0]) {
        fprintf(
            stderr,
            "zepi exec: %s needs %s, which is not found: LD_LIBRARY_PATH has to name the folder "
            "of the DPC++ runtime\n",
            runtime.program, runtime.library);
        return EXIT_NO_DEVICE;
    }
    if (state == RUNTIME_MISSING) {
        fprintf(stderr,
                "zepi exec: %s has no DPC++ runtime (libsycl.so): pip install dpctl brings one; a "
                "program that finds one elsewhere starts with: zepi exec -- env python ...\n",
                runtime.program);
        return EXIT_NO_DEVICE;
    }
    if (state == RUNTIME_FOUND && runtime_is_too_old(&runtime)) {
        fprintf(stderr,
                "zepi exec: %s loads DPC++ %s (%s), which crashes beside an adapter that it does "
                "not know; zepi serves 2025.3 and later: pip install 'intel-sycl-rt>=2025.3'\n",
                runtime.program, runtime.release, runtime.library);
        return EXIT_NO_DEVICE;
    }
    if (!is_verbose)
        return EXIT_OK;
    if (state == RUNTIME_UNKNOWN)
        fprintf(stderr, "zepi: runtime: unknown: %s does not link with libsycl.so\n",
                runtime.program[0] ? runtime.program : command[0]);
    else
        fprintf(stderr, "zepi: runtime: DPC++ %s, %s\n",
                runtime.release[0] ? runtime.release : "of an unknown release", runtime.library);
    return EXIT_OK;
}

static int force_adapter(const char *path)
{
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "zepi: %s: %s\n", path, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    set("UR_ADAPTERS_FORCE_LOAD", path);
    return EXIT_OK;
}

// Puts the folder beside the adapter, in which it has the names of Intel's, before others. An
// adapter without such a folder, that of another project, is the only one.
static int add_adapters(void)
{
    char adapter[PATH_MAX], file[2 * PATH_MAX];
    const char *before = getenv("UR_ADAPTERS_SEARCH_PATH");
    if (!path_find_library("ZEPI_UR_ADAPTER", "libur_adapter_zepi.so", adapter)) {
        fprintf(stderr,
                "zepi: %s: %s; ZEPI_UR_ADAPTER says where libur_adapter_zepi.so is (it is built "
                "where Unified Runtime's headers are)\n",
                adapter, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    const char *slash = strrchr(adapter, '/');
    snprintf(file, sizeof(file), "%.*szepi/adapters/libur_adapter_level_zero.so.0",
             slash ? (int)(slash + 1 - adapter) : 0, adapter);
    if (access(file, R_OK) != 0)
        return force_adapter(adapter);
    *strrchr(file, '/') = '\0';
    char *folders = NULL;
    if (asprintf(&folders, "%s%s%s", file, before && before[0] ? "," : "", before ? before : "") <
        0) {
        fprintf(stderr, "zepi: %s\n", strerror(ENOMEM));
        return EXIT_NO_DEVICE;
    }
    unset("UR_ADAPTERS_FORCE_LOAD");
    set("UR_ADAPTERS_SEARCH_PATH", folders);
    free(folders);
    return EXIT_OK;
}

static int prepare(enum host_driver driver, char *const command[])
{
    const char *before = getenv("ZE_ENABLE_ALT_DRIVERS");
    int code = host_prepare(driver);
    // Children of a program on Intel's driver keep the program's adapters.
    const bool is_child = driver == HOST_DRIVER_INTEL && getenv("DRM_SHIM_LAUNCHER");
    if (code == EXIT_OK && !is_child)
        code = check_runtime(command);
    if (code != EXIT_OK)
        return code;
    if (is_verbose)
        fprintf(stderr, "zepi: driver: %s\n", host_driver_description());
    if (other_adapter)
        code = force_adapter(other_adapter);
    else if (!is_child || (!getenv("UR_ADAPTERS_FORCE_LOAD") && !getenv("UR_ADAPTERS_SEARCH_PATH")))
        code = add_adapters();
    if (code != EXIT_OK || driver == HOST_DRIVER_INTEL)
        return code;
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && drivers != before)
        set("ZE_ENABLE_ALT_DRIVERS", drivers);
    if (!drivers || !strstr(drivers, "libze_cpu"))
        return EXIT_OK;
    if (is_verbose)
        fprintf(stderr, "zepi: ZE_CPU_TYPE=%s\n", getenv("ZE_CPU_TYPE"));
    // Else loaders leave adapters for Level Zero out where ONEAPI_DEVICE_SELECTOR asks for a CPU.
    if (!getenv("UR_LOADER_PRELOAD_FILTER"))
        set("UR_LOADER_PRELOAD_FILTER", "0");
    return EXIT_OK;
}

int command_exec(int argc, char **argv)
{
    static const struct option options[] = {
        {"cpu", optional_argument, NULL, 'c'},    {"gpu", no_argument, NULL, 'g'},
        {"intel-driver", no_argument, NULL, 'I'}, {"adapter", required_argument, NULL, 'a'},
        {"stats", optional_argument, NULL, 's'},  {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},         {0}};
    enum host_driver driver = HOST_DRIVER_AUTO;
    int option;
    // '+': words after the command are the command's.
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            if (optarg && strcmp(optarg, "gpu") != 0) {
                fprintf(stderr, "zepi exec: --cpu=%s: expected --cpu or --cpu=gpu\n", optarg);
                return command_refuse(usage);
            }
            if (optarg)
                setenv("ZE_CPU_TYPE", optarg, 1);
            // fallthrough
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
        case 's':
            stats = optarg ? optarg : "stderr";
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
    const int code = prepare(driver, &argv[optind]);
    if (code != EXIT_OK)
        return code;
    if (stats)
        set("ZEPI_STATS", stats);
    if (driver == HOST_DRIVER_INTEL)
        return intel_driver_exec(&argv[optind]);
    execvp(argv[optind], &argv[optind]);
    const int error = errno;
    fprintf(stderr, "zepi exec: %s: %s\n", argv[optind], strerror(error));
    return error == ENOENT ? 127 : 126;
}
