// SPDX-License-Identifier: MIT
#include "core/mutex.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Most mutexes are held for less time than a call to the kernel takes.
#define SPINS 100

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() ((void)0)
#endif

void zepi_word_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void mutex_wake_waiters(atomic_uint *word, int most)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

void zepi_word_wake_all(atomic_uint *word)
{
    mutex_wake_waiters(word, INT_MAX);
}

void zepi_condition_wait(struct zepi_condition *condition, struct zepi_mutex *mutex)
{
    // Relaxed, here and below: the mutex orders, and the kernel compares.
    const unsigned changes = atomic_load_explicit(&condition->changes, memory_order_relaxed);
    zepi_mutex_unlock(mutex);
    zepi_word_wait(&condition->changes, changes);
    zepi_mutex_lock(mutex);
}

void zepi_condition_wake_all(struct zepi_condition *condition)
{
    atomic_fetch_add_explicit(&condition->changes, 1, memory_order_relaxed);
    zepi_word_wake_all(&condition->changes);
}

void zepi_mutex_lock_slowly(struct zepi_mutex *mutex)
{
    for (int i = 0; i < SPINS; i++) {
        unsigned state = atomic_load_explicit(&mutex->state, memory_order_relaxed);
        if (state == ZEPI_MUTEX_FREE &&
            atomic_compare_exchange_weak_explicit(&mutex->state, &state, ZEPI_MUTEX_HELD,
                                                  memory_order_acquire, memory_order_relaxed))
            return;
        RELAX();
    }
    // A thread that slept holds it as contended: others may sleep still.
    while (atomic_exchange_explicit(&mutex->state, ZEPI_MUTEX_CONTENDED, memory_order_acquire) !=
           ZEPI_MUTEX_FREE)
        zepi_word_wait(&mutex->state, ZEPI_MUTEX_CONTENDED);
}

void zepi_mutex_wake(struct zepi_mutex *mutex)
{
    mutex_wake_waiters(&mutex->state, 1);
}
