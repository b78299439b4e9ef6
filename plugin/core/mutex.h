// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_MUTEX_H
#define ZEPI_CORE_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>

// The one kind of mutex: a word. A pair of calls costs nine instructions if no other thread wants
// it, 60 with pthread's. It is not recursive and has no owner; zeroed memory is a free one, and
// there is nothing to destroy. A thread that has to wait sleeps in the kernel.
struct zepi_mutex {
    atomic_uint state;
};

enum { ZEPI_MUTEX_FREE, ZEPI_MUTEX_HELD, ZEPI_MUTEX_CONTENDED }; // the last: threads may sleep

void zepi_mutex_lock_slowly(struct zepi_mutex *mutex) __attribute__((cold, noinline));
void zepi_mutex_wake(struct zepi_mutex *mutex) __attribute__((cold, noinline));

static inline bool zepi_mutex_try_lock(struct zepi_mutex *mutex)
{
    unsigned state = ZEPI_MUTEX_FREE;
    // Acquire: the last holder's writes. Its release is below.
    const bool is_locked = atomic_compare_exchange_strong_explicit(
        &mutex->state, &state, ZEPI_MUTEX_HELD, memory_order_acquire, memory_order_relaxed);
    return __builtin_expect(is_locked, 1);
}

static inline void zepi_mutex_lock(struct zepi_mutex *mutex)
{
    if (!zepi_mutex_try_lock(mutex))
        zepi_mutex_lock_slowly(mutex);
}

static inline void zepi_mutex_unlock(struct zepi_mutex *mutex)
{
    const unsigned state =
        atomic_exchange_explicit(&mutex->state, ZEPI_MUTEX_FREE, memory_order_release);
    if (__builtin_expect(state == ZEPI_MUTEX_CONTENDED, 0))
        zepi_mutex_wake(mutex);
}

// A change that threads wait for with a mutex held. Zeroed memory is one, and there is nothing to
// destroy.
struct zepi_condition {
    atomic_uint changes;
};

// Gives the mutex up, sleeps until the next change, and locks it again. It may return without one:
// the caller checks its condition again.
void zepi_condition_wait(struct zepi_condition *condition, struct zepi_mutex *mutex);
// With the mutex held.
void zepi_condition_wake_all(struct zepi_condition *condition);

// Sleeps if the word has this value; returns at the latest when it was changed and then woken. It
// may return earlier: the caller looks at the word again.
void zepi_word_wait(atomic_uint *word, unsigned value);
void zepi_word_wake_all(atomic_uint *word);

#endif
