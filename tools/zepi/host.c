// SPDX-License-Identifier: MIT
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBE_SECONDS 20

zepi_plugin_t zepi;
static const char *description = "";

// A library beside this program: NAME in ../lib, or what the variable says.
static bool find_library(const char *variable, const char *name, char path[PATH_MAX])
{
    char program[PATH_MAX];
    const char *set = getenv(variable);
    if (set && set[0]) {
        snprintf(path, PATH_MAX, "%s", set);
        return access(path, R_OK) == 0;
    }
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return false;
    *slash = '\0';
    const int written = snprintf(path, PATH_MAX, "%s/../lib/%s", program, name);
    return written < PATH_MAX && access(path, R_OK) == 0;
}

static int load_plugin(void)
{
    char path[PATH_MAX];
    zepi_plugin_init_fn *init;
    if (!find_library("ZEPI_PLUGIN", "libzepi.so", path)) {
        fprintf(stderr,
                "zepi: there is no libzepi.so at ../lib of this program; set ZEPI_PLUGIN\n");
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
    if (init(&zepi) != ZEPI_SUCCESS || zepi.size < sizeof(zepi)) {
        fprintf(stderr, "zepi: %s is of another version than this program\n", path);
        return EXIT_NO_DEVICE;
    }
    return EXIT_OK;
}

static bool has_gpu(void)
{
    zepi_platform_t platforms[8];
    uint32_t platform_count;
    if (zepi.platform_get(8, platforms, &platform_count) != ZEPI_SUCCESS)
        return false;
    for (uint32_t i = 0; i < platform_count && i < 8; i++) {
        zepi_device_t device;
        uint32_t count;
        zepi_device_info_t info = {.size = sizeof(info)};
        zepi_platform_info_t platform = {.size = sizeof(platform)};
        if (zepi.platform_get_info(platforms[i], &platform) == ZEPI_SUCCESS &&
            !platform.is_ze_cpu &&
            zepi.device_get(platforms[i], 1, &device, &count) == ZEPI_SUCCESS && count > 0 &&
            zepi.device_get_info(device, &info) == ZEPI_SUCCESS &&
            info.type == ZEPI_DEVICE_TYPE_GPU)
            return true;
    }
    return false;
}

// Looks for a GPU in a process of its own: the loader reads the environment once a process, and a
// driver that fails to come up must not take this program with it.
static bool probe_gpu(void)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDERR_FILENO);
        alarm(PROBE_SECONDS);
        _exit(load_plugin() == EXIT_OK && has_gpu() ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int host_load(enum host_driver driver)
{
    char path[PATH_MAX];
    const char *chosen = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (driver == HOST_DRIVER_AUTO && chosen && chosen[0]) {
        description = "as ZE_ENABLE_ALT_DRIVERS says";
    } else if (driver == HOST_DRIVER_GPU || (driver == HOST_DRIVER_AUTO && probe_gpu())) {
        description = "the installed Level Zero drivers";
    } else {
        if (!find_library("ZEPI_ZE_CPU", "libze_cpu.so.1", path)) {
            fprintf(stderr,
                    "zepi: there is no GPU, and no libze_cpu.so.1 at ../lib of this program; set "
                    "ZEPI_ZE_CPU\n");
            return EXIT_NO_DEVICE;
        }
        setenv("ZE_ENABLE_ALT_DRIVERS", path, 1);
        description = driver == HOST_DRIVER_CPU
                          ? "ze_cpu, which executes on the CPU"
                          : "ze_cpu, which executes on the CPU (no GPU was found)";
    }
    return load_plugin();
}

const char *host_driver_description(void)
{
    return description;
}

static bool take_first_device(struct host_device *host)
{
    zepi_platform_t platforms[8];
    uint32_t platform_count = 0;
    uint32_t device_count = 0;
    if (zepi.platform_get(8, platforms, &platform_count) != ZEPI_SUCCESS)
        return false;
    if (platform_count > 8)
        platform_count = 8;
    for (uint32_t i = 0; i < platform_count; i++) {
        if (!host->device &&
            zepi.device_get(platforms[i], 1, &host->device, &device_count) == ZEPI_SUCCESS &&
            device_count > 0)
            host->platform = platforms[i];
        else
            host_release(platforms[i]);
    }
    return host->device != NULL;
}

int host_open(struct host_device *host, zepi_queue_flags_t queue_flags)
{
    *host = (struct host_device){.info = {.size = sizeof(host->info)}};
    if (!take_first_device(host)) {
        host_fail("there is no device");
        return EXIT_NO_DEVICE;
    }
    if (zepi.device_get_info(host->device, &host->info) != ZEPI_SUCCESS ||
        zepi.context_create(1, &host->device, &host->context) != ZEPI_SUCCESS ||
        zepi.queue_create(host->context, host->device, queue_flags | ZEPI_QUEUE_IN_ORDER,
                          &host->queue) != ZEPI_SUCCESS) {
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
}

int host_fail(const char *what)
{
    const char *error = zepi.last_error ? zepi.last_error(NULL) : "";
    fprintf(stderr, "zepi: %s%s%s\n", what, error[0] ? ": " : "", error);
    return EXIT_FAILED;
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
