// SPDX-License-Identifier: MIT
#include "gpu_clock.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t shim_gpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    const uint64_t seconds = (uint64_t)now.tv_sec, ns = (uint64_t)now.tv_nsec;
    return seconds * SHIM_CLOCK_HZ + ns * SHIM_CLOCK_HZ / NS_PER_S;
}

uint64_t shim_ticks_of_us(uint64_t microseconds)
{
    return microseconds * SHIM_CLOCK_HZ / 1000000;
}

int64_t shim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

int64_t shim_deadline_ns(int64_t timeout_ns)
{
    int64_t deadline_ns;
    return timeout_ns < 0 || __builtin_add_overflow(shim_now_ns(), timeout_ns, &deadline_ns)
               ? INT64_MAX
               : deadline_ns;
}
