// SPDX-License-Identifier: MIT
#include "host.h"
#include "intel_driver.h"
#include "paths.h"
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_LISTED 16

zepi_plugin_t zepi;
static const char *description = "";
static enum host_driver chosen_driver;

int host_load_plugin(void)
{
    char path[PATH_MAX];
    zepi_plugin_init_fn *init;
    if (!path_find_library("ZEPI_PLUGIN", "libzepi.so.0", path)) {
        fprintf(stderr, "zepi: %s: %s; ZEPI_PLUGIN says where libzepi.so.0 is\n", path,
                strerror(errno));
        return EXIT_NO_DEVICE;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "zepiPluginInit") : NULL;
    if (!symbol) {
        fprintf(stderr, "zepi: %s\n", dlerror());
        return EXIT_NO_DEVICE;
    }
    memcpy(&init, &symbol, sizeof(symbol));
    zepi = (zepi_plugin_t){.size = sizeof(zepi), .interface_version = ZEPI_INTERFACE_VERSION};
    if (init(&zepi) != ZEPI_SUCCESS || !ZEPI_HAS_FUNCTION(&zepi, queue_call_host)) {
        zepi_plugin_last_error_fn *last_error;
        symbol = dlsym(library, "zepiPluginLastError");
        memcpy(&last_error, &symbol, sizeof(symbol));
        fprintf(stderr, "zepi: %s is of another version than this program, %s%s%s\n", path,
                ZEPI_PROJECT_VERSION, symbol ? ": " : "", symbol ? last_error() : "");
        return EXIT_NO_DEVICE;
    }
    return EXIT_OK;
}

// The rank of a device in the choice.
enum rank { RANK_NONE, RANK_OTHER, RANK_ZE_CPU, RANK_GPU };

static enum rank rank_of(zepi_platform_t platform, zepi_device_t device)
{
    zepi_platform_info_t driver = {.size = sizeof(driver)};
    zepi_device_info_t info = {.size = sizeof(info)};
    if (zepi.platform_get_info(platform, &driver) != ZEPI_SUCCESS ||
        zepi.device_get_info(device, &info) != ZEPI_SUCCESS)
        return RANK_NONE;
    // ze_cpu's device may say that it is a GPU (ZE_CPU_TYPE).
    return driver.is_ze_cpu                    ? RANK_ZE_CPU
           : info.type == ZEPI_DEVICE_TYPE_GPU ? RANK_GPU
                                               : RANK_OTHER;
}

// Takes the device if its rank is higher than that of the one taken before.
static void take(struct host_device *host, enum rank *rank, zepi_platform_t platform,
                 zepi_device_t device)
{
    const enum rank its_rank = rank_of(platform, device);
    if (its_rank <= *rank)
        return;
    host_release(host->device);
    host_release(host->platform);
    zepi.retain(device);
    zepi.retain(platform);
    host->device = device;
    host->platform = platform;
    *rank = its_rank;
}

static enum rank take_best_device(struct host_device *host)
{
    enum rank rank = RANK_NONE;
    zepi_platform_t platforms[MAX_LISTED];
    uint32_t platform_count = 0;
    if (zepi.platform_get(MAX_LISTED, platforms, &platform_count) != ZEPI_SUCCESS)
        return RANK_NONE;
    for (uint32_t i = 0; i < platform_count && i < MAX_LISTED; i++) {
        zepi_device_t devices[MAX_LISTED];
        uint32_t count = 0;
        if (zepi.device_get(platforms[i], MAX_LISTED, devices, &count) != ZEPI_SUCCESS)
            count = 0;
        for (uint32_t at = 0; at < count && at < MAX_LISTED; at++) {
            take(host, &rank, platforms[i], devices[at]);
            host_release(devices[at]);
        }
        host_release(platforms[i]);
    }
    return rank;
}

static int look_for_gpu(void *unused)
{
    struct host_device host = {0};
    (void)unused;
    setenv("ZEPI_LOG", "off", 1);
    return host_load_plugin() == EXIT_OK && take_best_device(&host) == RANK_GPU ? 0 : 1;
}

bool host_has_gpu(void)
{
    return probe_in_process(look_for_gpu, NULL, PROBE_SECONDS) == 0;
}

const char *host_cpu_runtime(void)
{
    const char *(*get_runtime)(const char **) = NULL;
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "zeCpuGetRuntime") : NULL;
    memcpy(&get_runtime, &symbol, sizeof(symbol));
    return get_runtime ? get_runtime(NULL) : NULL;
}

static bool has_loader(void)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (loader)
        dlclose(loader);
    else
        fprintf(stderr,
                "zepi: there is no Level Zero loader: install libze1 (Debian, Ubuntu), "
                "level-zero-loader or the like (%s)\n",
                dlerror());
    return loader;
}

int host_prepare(enum host_driver driver)
{
    char path[PATH_MAX];
    const char *named = getenv("ZE_ENABLE_ALT_DRIVERS");
    chosen_driver = driver;
    if (!has_loader())
        return EXIT_NO_DEVICE;
    if (driver == HOST_DRIVER_INTEL) {
        static char text[PATH_MAX + 128];
        const char *executes = getenv("DRM_SHIM_EXEC");
        const bool is_off = executes && strcmp(executes, "0") == 0;
        intel_driver_file(path);
        snprintf(text, sizeof(text), "Intel's %s, without a GPU: kernels are %s", path,
                 is_off ? "compiled and passed over" : "executed on the CPU");
        description = text;
    } else if (driver != HOST_DRIVER_CPU && named && named[0]) {
        description = "as ZE_ENABLE_ALT_DRIVERS says";
    } else if (driver == HOST_DRIVER_GPU || (driver == HOST_DRIVER_AUTO && host_has_gpu())) {
        description = "the installed Level Zero drivers";
    } else {
        if (!path_find_library("ZEPI_ZE_CPU", "libze_cpu.so.1", path)) {
            fprintf(stderr, "zepi: %s%s: %s; ZEPI_ZE_CPU says where libze_cpu.so.1 is\n",
                    driver == HOST_DRIVER_CPU ? "" : "no GPU was found; ", path, strerror(errno));
            return EXIT_NO_DEVICE;
        }
        setenv("ZE_ENABLE_ALT_DRIVERS", path, 1);
        description = driver == HOST_DRIVER_CPU
                          ? "ze_cpu, which executes on the CPU"
                          : "ze_cpu, which executes on the CPU (no GPU was found)";
    }
    named = getenv("ZE_ENABLE_ALT_DRIVERS");
    // A program with machine code for Intel GPUs must not take ze_cpu's device for one.
    if (driver != HOST_DRIVER_INTEL && named && strstr(named, "libze_cpu"))
        setenv("ZE_CPU_TYPE", "cpu", 0);
    return EXIT_OK;
}

int host_load(enum host_driver driver)
{
    const int code = host_prepare(driver);
    return code == EXIT_OK ? host_load_plugin() : code;
}

const char *host_driver_description(void)
{
    return description;
}

int host_open(struct host_device *host, enum host_driver driver)
{
    *host = (struct host_device){.info = {.size = sizeof(host->info)}};
    const int code = host_load(driver);
    if (code != EXIT_OK)
        return code;
    const enum rank rank = take_best_device(host);
    if (rank == RANK_NONE)
        return host_fail_without_device();
    if (chosen_driver == HOST_DRIVER_GPU && rank != RANK_GPU) {
        fprintf(stderr, "zepi: --gpu: there is no GPU of a driver other than ze_cpu\n");
        host_close(host);
        return EXIT_NO_DEVICE;
    }
    if (zepi.device_get_info(host->device, &host->info) != ZEPI_SUCCESS ||
        zepi.context_create(1, &host->device, &host->context) != ZEPI_SUCCESS ||
        zepi.queue_create(host->context, host->device, ZEPI_QUEUE_IN_ORDER, &host->queue) !=
            ZEPI_SUCCESS) {
        host_fail("the device does not come up");
        host_close(host);
        return EXIT_NO_DEVICE;
    }
    return EXIT_OK;
}

void host_close(struct host_device *host)
{
    host_release(host->queue);
    host_release(host->context);
    host_release(host->device);
    host_release(host->platform);
    *host = (struct host_device){0};
}

void host_print_build_log(void)
{
    const char *log = zepi.last_build_log();
    if (log[0])
        fprintf(stderr, "%s%s", log, log[strlen(log) - 1] == '\n' ? "" : "\n");
}

int host_build(zepi_module_t input, const zepi_build_desc_t *desc, const char *what,
               zepi_module_t *out_executable, double *out_ms)
{
    const uint64_t start_ns = host_now_ns();
    const zepi_result_t result = zepi.module_build(input, desc, out_executable);
    *out_ms = (double)(host_now_ns() - start_ns) / 1e6;
    if (result == ZEPI_SUCCESS)
        return EXIT_OK;
    host_print_build_log();
    return host_fail(what);
}

int host_forget_builds(const struct host_device *host)
{
    return zepi.cache_clear(host->context) == ZEPI_SUCCESS && zepi.cache_clear(NULL) == ZEPI_SUCCESS
               ? EXIT_OK
               : host_fail("cache_clear");
}

int host_fail(const char *what)
{
    const char *error = zepi.last_error ? zepi.last_error(NULL) : "";
    fprintf(stderr, "zepi: %s%s%s\n", what, error[0] ? ": " : "", error);
    return EXIT_FAILED;
}

int host_fail_without_device(void)
{
    const char *log = getenv("ZEPI_LOG");
    uint32_t platform_count = 0;
    zepi.platform_get(0, NULL, &platform_count);
    // Without a platform, zepi has printed the reason.
    if (platform_count == 0 && (!log || strcmp(log, "off") != 0))
        fputs("zepi: there is no device\n", stderr);
    else
        host_fail("there is no device");
    return EXIT_NO_DEVICE;
}

void host_release(void *object)
{
    if (object)
        zepi.release(object);
}

uint64_t host_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
