// SPDX-License-Identifier: MIT
#include "test_ze_cpu.h"

#include "test_env.h"

#include <dlfcn.h>
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

struct test_ze_cpu test_ze_cpu_use(void)
{
    struct test_ze_cpu control;
    // Set, if to nothing: otherwise the driver leaves the ledger out.
    setenv("ZE_CPU_FAIL", "", 0);
    test_env_use_ze_cpu();
    void *library = dlopen(TEST_ZE_CPU, RTLD_NOW);
    find(library, "zeCpuSetFail", &control.set_fail);
    find(library, "zeCpuGetCount", &control.get_count);
    find(library, "zeCpuResetCounts", &control.reset_counts);
    find(library, "zeCpuGetLiveObjects", &control.get_live_objects);
    return control;
}
