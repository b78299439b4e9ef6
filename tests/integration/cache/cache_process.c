// SPDX-License-Identifier: MIT
//
// A process that builds one module and prints where its code came from, for tests with a second
// process. Arguments: the driver (ze_cpu, or intel:PRODUCT), the name of the device code, and
// optionally build options. ZEPI_CACHE_DIR is the folder to use, TEST_LOST_FILE a file to unlink
// once the driver is there. One line on stdout:
//
//     result=0 builds=1 store_hits=0 build_us=51234 again_us=12 spirv=1 native=0 log=HASH
//
// builds and store_hits are the counters of native code, spirv and native the counts of ze_cpu,
// build_us the time of the first build, again_us of the second, log a hash of the text for the log
// callback, with its length.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t log_hash = UINT64_C(14695981039346656037);
static size_t log_size;

static void take_log(void *data, zepi_device_t device, const char *log, size_t size_bytes)
{
    (void)data;
    (void)device;
    for (size_t i = 0; i < size_bytes; i++)
        log_hash = (log_hash ^ (unsigned char)log[i]) * UINT64_C(1099511628211);
    log_size += size_bytes;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

// Builds and returns the time it took.
static uint64_t build(zepi_module_t input, const zepi_build_desc_t *desc, zepi_result_t *out_result)
{
    zepi_module_t executable = NULL;
    const uint64_t begin = now_us();
    *out_result = zepi.module_build(input, desc, &executable);
    const uint64_t took = now_us() - begin;
    if (executable)
        TEST_OK(zepi.release(executable));
    return took;
}

int main(int argc, char **argv)
{
    static char folder[4096];
    struct test_ze_cpu ze_cpu = {0};
    zepi_cache_counters_t code = {.size = sizeof(code)};
    zepi_result_t result;
    if (argc < 3 || !getenv("ZEPI_CACHE_DIR"))
        return 2;
    // Choosing the driver gives this process a folder of its own: here it is the other one.
    snprintf(folder, sizeof(folder), "%s", getenv("ZEPI_CACHE_DIR"));
    if (strncmp(argv[1], "intel:", 6) == 0)
        test_env_use_intel_capture(argv[1] + 6);
    else
        ze_cpu = test_ze_cpu_use();
    setenv("ZEPI_CACHE_DIR", folder, 1);
    unsetenv("ZEPI_COMPILER"); // compiles are counted here
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    if (getenv("TEST_LOST_FILE") && unlink(getenv("TEST_LOST_FILE")) != 0)
        return 4;
    zepi_module_t input = test_input(gear.context, argv[2]);
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .options = argc > 3 ? argv[3] : NULL, .log = take_log};
    const zepi_build_desc_t quiet = {.size = sizeof(quiet), .options = desc.options};
    const uint64_t build_us = build(input, &desc, &result);
    const zepi_result_t first = result;
    const uint64_t again_us = build(input, &quiet, &result);
    if (result != first)
        return 3;
    TEST_OK(zepi.cache_get_counters(NULL, ZEPI_CACHE_BINARIES, &code));
    printf("result=%d builds=%" PRIu64 " store_hits=%" PRIu64 " build_us=%" PRIu64
           " again_us=%" PRIu64 " spirv=%" PRIu64 " native=%" PRIu64 " log=%016" PRIx64 "-%zu\n",
           (int)first, code.builds, code.store_hits, build_us, again_us,
           ze_cpu.get_count ? ze_cpu.get_count("compile:spirv") : 0,
           ze_cpu.get_count ? ze_cpu.get_count("compile:native") : 0, log_hash, log_size);
    TEST_OK(zepi.release(input));
    test_gear_destroy(&gear);
    return 0;
}
