// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TIMEOUT_H
#define ZE_CPU_TIMEOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// A condition variable on the monotonic clock.
void cpu_condition_init(pthread_cond_t *condition);

// The moment `timeout_ns` from now. UINT64_MAX gives a moment that never comes.
struct timespec cpu_deadline(uint64_t timeout_ns);

// False when the deadline has passed.
bool cpu_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                        const struct timespec *deadline);

#endif
