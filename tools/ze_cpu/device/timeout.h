// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TIMEOUT_H
#define ZE_CPU_TIMEOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Shorter timeouts leave no time for spinning.
#define CPU_TIMEOUT_SPIN_NS 200000

// The moment `timeout_ns` from now on the device's clock, which host timestamps are from, too.
// UINT64_MAX: never; that looks at no clock.
uint64_t cpu_deadline(uint64_t timeout_ns);

// Waits until the condition is signalled, or returns early. False when the deadline has passed.
bool cpu_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns);

#endif
