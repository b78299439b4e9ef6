// SPDX-License-Identifier: MIT
#include "timeout.h"

#include <errno.h>

#define NEVER_S (UINT64_C(1) << 40)

void cpu_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec cpu_deadline(uint64_t timeout_ns)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    if (timeout_ns == UINT64_MAX) {
        deadline.tv_sec = (time_t)NEVER_S;
        return deadline;
    }
    uint64_t ns = (uint64_t)deadline.tv_nsec + timeout_ns % 1000000000u;
    deadline.tv_sec += (time_t)(timeout_ns / 1000000000u + ns / 1000000000u);
    deadline.tv_nsec = (long)(ns % 1000000000u);
    return deadline;
}

bool cpu_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                        const struct timespec *deadline)
{
    if ((uint64_t)deadline->tv_sec >= NEVER_S) {
        pthread_cond_wait(condition, mutex);
        return true;
    }
    return pthread_cond_timedwait(condition, mutex, deadline) != ETIMEDOUT;
}
