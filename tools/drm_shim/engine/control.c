// SPDX-License-Identifier: MIT
#include "control.h"

#include "engine.h"
#include "faults.h"
#include "log.h"
#include "trace.h"
#include "walkers.h"

uint64_t drm_shim_errors(void)
{
    return shim_error_count();
}

bool drm_shim_set_faults(const char *text)
{
    return shim_faults_set(text);
}

void drm_shim_set_kernel_us(uint64_t microseconds)
{
    shim_walkers_set_time(microseconds);
}

void drm_shim_set_submit_us(uint64_t microseconds)
{
    shim_engines_set_submit_time(microseconds);
}

void drm_shim_set_return_us(uint64_t microseconds)
{
    shim_engines_set_return_time(microseconds);
}

void drm_shim_mark(const char *text)
{
    shim_trace("mark %s", text);
}
