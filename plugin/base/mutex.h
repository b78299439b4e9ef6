// SPDX-License-Identifier: MIT
#ifndef ZEPI_BASE_MUTEX_H
#define ZEPI_BASE_MUTEX_H

#include <stdatomic.h>

// A mutex of one word for the path of a launch: a pair costs nine instructions where nobody else
// wants it, pthread's 60. It is no recursive one and has no owner; zeroed memory is a free one, and
// there is nothing to destroy. Whoever has to wait sleeps in the kernel.
struct zepi_mutex {
    atomic_uint state;
};

enum { ZEPI_MUTEX_FREE, ZEPI_MUTEX_HELD, ZEPI_MUTEX_CONTENDED }; // the last: somebody may sleep

void zepi_mutex_lock_slowly(struct zepi_mutex *mutex) __attribute__((cold, noinline));
void zepi_mutex_wake(struct zepi_mutex *mutex) __attribute__((cold, noinline));

static inline void zepi_mutex_lock(struct zepi_mutex *mutex)
{
    unsigned state = ZEPI_MUTEX_FREE;
    // Acquire: what the last holder wrote. Its release is below.
    if (__builtin_expect(
            !atomic_compare_exchange_strong_explicit(&mutex->state, &state, ZEPI_MUTEX_HELD,
                                                     memory_order_acquire, memory_order_relaxed),
            0))
        zepi_mutex_lock_slowly(mutex);
}

static inline void zepi_mutex_unlock(struct zepi_mutex *mutex)
{
    if (__builtin_expect(atomic_exchange_explicit(&mutex->state, ZEPI_MUTEX_FREE,
                                                  memory_order_release) == ZEPI_MUTEX_CONTENDED,
                         0))
        zepi_mutex_wake(mutex);
}

#endif
