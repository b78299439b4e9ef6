// SPDX-License-Identifier: MIT
#include "timeout.h"

#include "device.h"

#include <time.h>

uint64_t cpu_deadline(uint64_t timeout_ns)
{
    if (timeout_ns == UINT64_MAX)
        return UINT64_MAX;
    const uint64_t now = cpu_device_clock();
    return timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
}

// Condition variables know no raw clock, and their clock may run faster: the remaining time is
// computed anew for each wait.
bool cpu_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX) {
        pthread_cond_wait(condition, mutex);
        return true;
    }
    const uint64_t now = cpu_device_clock();
    if (now >= deadline_ns)
        return false;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t ns = (uint64_t)until.tv_nsec + (deadline_ns - now) % 1000000000u;
    until.tv_sec += (time_t)((deadline_ns - now) / 1000000000u + ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
    return true;
}
