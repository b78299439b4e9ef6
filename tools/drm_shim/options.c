// SPDX-License-Identifier: MIT
#include "options.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

static struct shim_options options;
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0')
        return otherwise;
    char *end = NULL;
    const uint64_t value = strtoull(text, &end, 10);
    return *end == '\0' ? value : otherwise;
}

// 0 means nothing here.
static uint64_t gibibytes(const char *name, uint64_t otherwise)
{
    const uint64_t value = number(name, otherwise);
    return (value == 0 || value > 65536 ? otherwise : value) * GIB;
}

static void read_environment(void)
{
    // Valgrind has less address space to give, and runs one thread at a time: a driver that spins
    // for a queue would keep it from running.
    const char *preload = getenv("LD_PRELOAD");
    const bool has_valgrind = preload != NULL && strstr(preload, "vgpreload") != NULL;
    options.trace = getenv("DRM_SHIM_TRACE");
    options.faults = getenv("DRM_SHIM_FAULT");
    options.product = getenv("DRM_SHIM_PRODUCT");
    options.arena_bytes = gibibytes("DRM_SHIM_ARENA_GIB", has_valgrind ? 8 : 256);
    options.vram_bytes = gibibytes("DRM_SHIM_VRAM_GIB", 0);
    options.system_bytes = gibibytes("DRM_SHIM_SYSTEM_GIB", 16);
    options.kernel_us = number("DRM_SHIM_KERNEL_US", 0);
    options.executes = number("DRM_SHIM_EXEC", 1) != 0;
    options.runs_inline = number("DRM_SHIM_INLINE", has_valgrind) != 0;
    options.fails_at_exit = number("DRM_SHIM_STRICT", 0) != 0;
}

const struct shim_options *shim_options(void)
{
    pthread_once(&options_once, read_environment);
    return &options;
}
