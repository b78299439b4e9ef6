// SPDX-License-Identifier: MIT
//
// Threads of plain test programs, which race. A thread that cannot be made ends the process with a
// message.
#ifndef ZEPI_TESTS_SUPPORT_TEST_THREADS_H
#define ZEPI_TESTS_SUPPORT_TEST_THREADS_H

#include <pthread.h>
#include <stddef.h>

typedef void *test_thread_fn(void *user);

// The caller joins it.
pthread_t test_thread_start(test_thread_fn *run, void *user);

// Runs a thread for each of `count` users that lie `size_bytes` apart, all at the same time, and
// waits until the last one has returned.
void test_threads_run(unsigned count, test_thread_fn *run, void *users, size_t size_bytes);

#endif
