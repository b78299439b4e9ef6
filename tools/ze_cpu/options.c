// SPDX-License-Identifier: MIT
#include "options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cpu_options options;
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

static bool is_on(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static bool is_off(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "0") == 0;
}

static uint32_t number(const char *name, uint32_t minimum, uint32_t maximum, uint32_t otherwise)
{
    const char *value = getenv(name);
    if (value == NULL || value[0] == '\0')
        return otherwise;
    char *end = NULL;
    unsigned long parsed = strtoul(value, &end, 10);
    return *end == '\0' && parsed >= minimum && parsed <= maximum ? (uint32_t)parsed : otherwise;
}

static void read_environment(void)
{
    const char *type = getenv("ZE_CPU_TYPE");
    options.opencl = secure_getenv("ZE_CPU_OPENCL");
    options.code_folder = secure_getenv("ZE_CPU_CODE_FOLDER");
    if (options.code_folder != NULL && options.code_folder[0] == '\0')
        options.code_folder = NULL;
    options.failures = getenv("ZE_CPU_FAIL");
    options.without = getenv("ZE_CPU_WITHOUT");
    options.devices = number("ZE_CPU_DEVICES", 1, 16, 1);
    options.sub_devices = number("ZE_CPU_SUB_DEVICES", 2, 16, 0);
    options.timestamp_bits = number("ZE_CPU_TIMESTAMP_BITS", 16, 64, 64);
    options.build_ms = number("ZE_CPU_BUILD_MS", 1, 1u << 20, 0);
    options.memory_mib = number("ZE_CPU_MEMORY", 1, 1u << 30, 0);
    options.allocation_mib = number("ZE_CPU_MAX_ALLOCATION", 1, 1u << 30, 0);
    options.limited_devices = number("ZE_CPU_LIMITED_DEVICES", 0, 16, 16);
    options.reports_gpu = type == NULL || strcmp(type, "cpu") != 0;
    options.is_integrated = !is_off("ZE_CPU_INTEGRATED");
    options.has_peers = !is_off("ZE_CPU_PEERS");
    options.appends_lists = !is_off("ZE_CPU_APPEND_LISTS");
    options.shares_memory = is_on("ZE_CPU_IPC");
    options.has_pci = is_on("ZE_CPU_PCI");
    options.copies_early = is_on("ZE_CPU_EARLY_COPIES");
    options.reorder_seed = number("ZE_CPU_REORDER", 1, UINT32_MAX, 0);
    // 1 is the seed of the tests: the output of one that fails names any other.
    if (options.reorder_seed > 1)
        fprintf(stderr, "ze_cpu: ZE_CPU_REORDER=%u\n", options.reorder_seed);
    options.is_strict = is_on("ZE_CPU_STRICT");
    options.executes = !is_off("ZE_CPU_EXECUTE");
    options.counts = is_on("ZE_CPU_COUNT");
    options.traces = is_on("ZE_CPU_TRACE");
    options.lists_leaks = is_on("ZE_CPU_LEAKS");
}

const struct cpu_options *cpu_options(void)
{
    pthread_once(&options_once, read_environment);
    return &options;
}

bool cpu_options_lack(const char *name)
{
    const size_t length = strlen(name);
    const char *rest = cpu_options()->without;
    while (rest != NULL) {
        if (strncmp(rest, name, length) == 0 && (rest[length] == ',' || rest[length] == '\0'))
            return true;
        rest = strchr(rest, ',');
        rest = rest != NULL ? rest + 1 : NULL;
    }
    return false;
}

bool cpu_options_have_switch(void)
{
    const struct cpu_options *all = cpu_options();
    return all->counts || all->traces || all->lists_leaks || all->failures != NULL;
}
