// SPDX-License-Identifier: MIT
#include "compare.h"

#include "../commands.h"
#include "../exec.h"
#include "../paths.h"
#include "../probe.h"
#include "../scratch.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_ROUNDS 5
#define MAX_PLATFORMS 16
#define DEVICE_TYPE_ALL 2
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

// ---- The other adapter ----

enum { EXIT_DEVICE, EXIT_NO_LOADER, EXIT_DEVICELESS };

// The loader's functions are the same in all releases that zepi serves, and this program is built
// without Unified Runtime's headers, too.
static int count_devices(const char *path)
{
    uint32_t (*initialize)(uint32_t flags, void *config);
    uint32_t (*get_adapters)(uint32_t room, void **adapters, uint32_t *count);
    uint32_t (*get_platforms)(void *adapter, uint32_t room, void **platforms, uint32_t *count);
    uint32_t (*get_devices)(void *platform, uint32_t type, uint32_t room, void **devices,
                            uint32_t *count);
    void *loader = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const symbols[] = {loader ? dlsym(loader, "urLoaderInit") : NULL,
                             loader ? dlsym(loader, "urAdapterGet") : NULL,
                             loader ? dlsym(loader, "urPlatformGet") : NULL,
                             loader ? dlsym(loader, "urDeviceGet") : NULL};
    void *adapter, *platforms[MAX_PLATFORMS];
    uint32_t adapter_count = 0, platform_count = 0, device_count = 0;
    memcpy(&initialize, &symbols[0], sizeof(initialize));
    memcpy(&get_adapters, &symbols[1], sizeof(get_adapters));
    memcpy(&get_platforms, &symbols[2], sizeof(get_platforms));
    memcpy(&get_devices, &symbols[3], sizeof(get_devices));
    if (!initialize || !get_adapters || !get_platforms || !get_devices)
        return EXIT_NO_LOADER;
    // An adapter without a device may say that it is none.
    if (initialize(0, NULL) || get_adapters(1, &adapter, &adapter_count) || adapter_count == 0 ||
        get_platforms(adapter, MAX_PLATFORMS, platforms, &platform_count))
        platform_count = 0;
    for (uint32_t i = 0; i < platform_count && i < MAX_PLATFORMS && device_count == 0; i++) {
        if (get_devices(platforms[i], DEVICE_TYPE_ALL, 0, NULL, &device_count))
            device_count = 0;
    }
    return device_count > 0 ? EXIT_DEVICE : EXIT_DEVICELESS;
}

struct adapter {
    const char *loader;
    const char *path;
};

static int look_for_devices(void *user)
{
    const struct adapter *adapter = user;
    path_ask_for_adapter(adapter->path);
    setenv("UR_ADAPTERS_FORCE_LOAD", adapter->path, 1);
    return count_devices(adapter->loader);
}

// Loads an adapter with the loader of Unified Runtime in a process of its own, as the environment
// says. Returns NULL if it finds a device, else the reason.
static const char *adapter_probe(const char *loader, const char *adapter)
{
    struct adapter probed = {loader, adapter};
    const int code = probe_in_process(look_for_devices, &probed, PROBE_SECONDS);
    switch (code) {
    case EXIT_DEVICE:
        return NULL;
    case EXIT_NO_LOADER:
        return "the runtime has no loader of adapters";
    case PROBE_NOT_STARTED:
        return "a process to look for its devices does not start";
    case -SIGALRM:
        return "it does not find its devices in time";
    default:
        return code < 0 ? "it crashes as it looks for devices" : "it finds no device";
    }
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Finds the adapter, `named` or (NULL) that of the runtime, and whether it has a device; else the
// reason.
static void find_other(enum host_driver driver, const char *named, const struct runtime *runtime,
                       struct compare_way *way, char path[PATH_MAX])
{
    char loader[PATH_MAX + 32];
    const char *slash = strrchr(runtime->library, '/');
    const int folder = slash ? (int)(slash + 1 - runtime->library) : 0;
    if (named && !realpath(named, path))
        snprintf(path, PATH_MAX, "%s", named);
    else if (!named)
        snprintf(path, PATH_MAX, "%.*s%s", folder, runtime->library, INTELS_ADAPTER);
    way->adapter = path;
    way->name = name_of(named ? named : path);
    snprintf(loader, sizeof(loader), "%.*s%s", folder, runtime->library, LOADER);
    if (!named && folder == 0)
        snprintf(way->reason, sizeof(way->reason),
                 "the program's DPC++ runtime is not known; --adapter FILE names an adapter");
    else if (access(path, R_OK) != 0)
        snprintf(way->reason, sizeof(way->reason), "there is no %s", path);
    // Intel's driver without a GPU is for programs that this one starts, and has a device.
    else if (driver != HOST_DRIVER_INTEL && folder > 0) {
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
                             compare_start_names[start], way->name);
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

static int run(struct compare *compare, const char *adapter)
{
    char path[PATH_MAX];
    struct runtime runtime;
    int code = exec_prepare(compare->driver, compare->program, &runtime);
    if (code != EXIT_OK)
        return code;
    compare->ways[0].name = "zepi";
    find_other(compare->driver, adapter, &runtime, &compare->ways[1], path);
    code = run_rounds(compare);
    if (code == EXIT_OK)
        compare_report(compare);
    return code;
}

int command_compare(int argc, char **argv)
{
    static struct compare compare = {.rounds = DEFAULT_ROUNDS};
    const char *adapter = NULL;
    const struct command_option own[] = {
        {.name = "adapter", .text = &adapter},
        {.name = "rounds", .number = &compare.rounds, .most = COMPARE_MAX_ROUNDS},
        {0}};
    struct command_options options = {
        .usage = usage, .own = own, .words = COMMAND_PROGRAM, .is_for_program = true};
    const int code = command_parse(argc, argv, &options);
    compare.driver = options.driver;
    compare.program = &argv[optind];
    return code == EXIT_OK ? run(&compare, adapter) : code;
}
