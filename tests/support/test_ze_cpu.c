// SPDX-License-Identifier: MIT
#include "test_ze_cpu.h"

#include "test_env.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find(void *library, const char *name, void *out_function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        fprintf(stderr, "test ze_cpu: %s\n", dlerror());
        exit(1);
    }
    memcpy(out_function, &symbol, sizeof(symbol));
}

void test_ze_end(int result, const char *call, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s: 0x%x\n", file, line, call, (unsigned)result);
    exit(1);
}

// Another driver counts nothing, and none of its calls is made to fail: a test of that is skipped.
static void skip(void)
{
    test_env_skip("counts calls of ze_cpu or makes them fail");
}

void test_ze_cpu_require(void)
{
    if (test_env_is_on_intel_driver())
        skip();
}

static int skip_set_fail(const char *failures)
{
    (void)failures;
    skip();
    return -1;
}

static uint64_t skip_get_count(const char *name)
{
    (void)name;
    skip();
    return 0;
}

static void skip_set_hook(void (*hook)(const char *function, int is_over))
{
    (void)hook;
    skip();
}

static uint64_t skip_get_live_bytes(void)
{
    skip();
    return 0;
}

static uint64_t no_live_objects(void)
{
    return 0;
}

// ---- With compiler processes ----

static struct test_ze_cpu own; // of this process, as the driver has them
static bool has_skipped;       // a test that has left objects

void test_ze_cpu_require_own_compiler(void)
{
    const char *compiler = getenv("ZEPI_COMPILER");
    if (!compiler || strcmp(compiler, "process") != 0)
        return;
    has_skipped = true;
    test_env_skip("counts compiles of its own process, and ZEPI_COMPILER=process has others");
}

static uint64_t get_count(const char *name)
{
    if (strcmp(name, "compile:spirv") == 0)
        test_ze_cpu_require_own_compiler();
    return own.get_count(name);
}

static uint64_t get_live_objects(void)
{
    return has_skipped ? 0 : own.get_live_objects();
}

struct test_ze_cpu test_ze_cpu_use(void)
{
    struct test_ze_cpu control = {skip_set_fail, skip_get_count,  skip,
                                  skip_set_hook, no_live_objects, skip_get_live_bytes};
    if (test_env_is_on_intel_driver()) {
        test_env_use_ze_cpu();
        return control;
    }
    // Set, if to nothing: otherwise the driver leaves the ledger out.
    setenv("ZE_CPU_FAIL", "", 0);
    test_env_use_ze_cpu();
    void *library = dlopen(TEST_ZE_CPU, RTLD_NOW);
    find(library, "zeCpuSetFail", &control.set_fail);
    find(library, "zeCpuGetCount", &own.get_count);
    find(library, "zeCpuResetCounts", &control.reset_counts);
    find(library, "zeCpuSetHook", &control.set_hook);
    find(library, "zeCpuGetLiveObjects", &own.get_live_objects);
    find(library, "zeCpuGetLiveBytes", &control.get_live_bytes);
    control.get_count = get_count;
    control.get_live_objects = get_live_objects;
    return control;
}
