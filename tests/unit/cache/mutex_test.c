// SPDX-License-Identifier: MIT
#include "core/mutex.h"
#include "test_threads.h"

#include <criterion/criterion.h>

TestSuite(mutex, .timeout = 60);

enum { THREADS = 4, STEPS = 20000 };

static struct zepi_mutex mutex;
static struct zepi_condition condition;
static unsigned steps; // guarded by the mutex, as the next
static unsigned ready;

static void *step(void *unused)
{
    for (int i = 0; i < STEPS; i++) {
        zepi_mutex_lock(&mutex);
        steps++;
        zepi_mutex_unlock(&mutex);
    }
    return unused;
}

Test(mutex, is_held_by_one_thread_at_a_time)
{
    char users[THREADS];
    test_threads_run(THREADS, step, users, 1);
    cr_assert_eq(steps, THREADS * STEPS);
}

Test(mutex, that_is_held_is_not_locked_again)
{
    cr_assert(zepi_mutex_try_lock(&mutex));
    cr_assert_not(zepi_mutex_try_lock(&mutex));
    zepi_mutex_unlock(&mutex);
    cr_assert(zepi_mutex_try_lock(&mutex));
}

// Each thread goes when its number comes up.
static void *wait_for_number(void *user)
{
    const unsigned number = *(const unsigned *)user;
    zepi_mutex_lock(&mutex);
    while (ready != number)
        zepi_condition_wait(&condition, &mutex);
    ready++;
    zepi_condition_wake_all(&condition);
    zepi_mutex_unlock(&mutex);
    return NULL;
}

Test(mutex, threads_that_wait_for_a_condition_wake_at_each_change)
{
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        numbers[i] = THREADS - 1 - i;
    test_threads_run(THREADS, wait_for_number, numbers, sizeof(numbers[0]));
    cr_assert_eq(ready, THREADS);
}

Test(mutex, a_word_that_has_changed_is_not_waited_for)
{
    atomic_uint word = 1;
    zepi_word_wait(&word, 0);
}
