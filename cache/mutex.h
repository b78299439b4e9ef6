// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_MUTEX_H
#define ZEPI_CACHE_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>

// A mutex of one word for the path of a launch: a pair costs nine instructions where nobody else
// wants it, pthread's 60. It is no recursive one and has no owner; zeroed memory is a free one, and
// there is nothing to destroy. Whoever has to wait sleeps in the kernel.
struct zepi_mutex {
    atomic_uint state;
};

enum { ZEPI_MUTEX_FREE, ZEPI_MUTEX_HELD, ZEPI_MUTEX_CONTENDED }; // the last: somebody may sleep

void zepi_mutex_lock_slowly(struct zepi_mutex *mutex) __attribute__((cold, noinline));
void zepi_mutex_wake(struct zepi_mutex *mutex) __attribute__((cold, noinline));

static inline bool zepi_mutex_try_lock(struct zepi_mutex *mutex)
{
    unsigned state = ZEPI_MUTEX_FREE;
    // Acquire: what the last holder wrote. Its release is below.
    const bool is_locked = atomic_compare_exchange_strong_explicit(
        &mutex->state, &state, ZEPI_MUTEX_HELD, memory_order_acquire, memory_order_relaxed);
    return __builtin_expect(is_locked, 1);
}

static inline void zepi_mutex_lock(struct zepi_mutex *mutex)
{
    if (!zepi_mutex_try_lock(mutex))
        zepi_mutex_lock_slowly(mutex);
}

// Unlocks but for waking who sleeps, which the caller does next if this says so.
static inline bool zepi_mutex_unlock_and_tell(struct zepi_mutex *mutex)
{
    const unsigned state =
        atomic_exchange_explicit(&mutex->state, ZEPI_MUTEX_FREE, memory_order_release);
    return __builtin_expect(state == ZEPI_MUTEX_CONTENDED, 0);
}

static inline void zepi_mutex_unlock(struct zepi_mutex *mutex)
{
    if (zepi_mutex_unlock_and_tell(mutex))
        zepi_mutex_wake(mutex);
}

#endif
