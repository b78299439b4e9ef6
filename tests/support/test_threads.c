// SPDX-License-Identifier: MIT
#include "test_threads.h"

#include "test_env.h"

enum { THREADS_MAXIMUM = 64 };

pthread_t test_thread_start(test_thread_fn *run, void *user)
{
    pthread_t thread;
    TEST_EXPECT(pthread_create(&thread, NULL, run, user) == 0, "no thread");
    return thread;
}

void test_threads_run(unsigned count, test_thread_fn *run, void *users, size_t size_bytes)
{
    pthread_t threads[THREADS_MAXIMUM];
    TEST_EXPECT(count <= THREADS_MAXIMUM, "more threads than there is room for");
    for (unsigned i = 0; i < count; i++)
        threads[i] = test_thread_start(run, (char *)users + i * size_bytes);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}
