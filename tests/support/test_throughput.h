// SPDX-License-Identifier: MIT
//
// The throughput of two threads against one, next to that of two threads that spin: these share
// nothing and give the machine's limit. Rounds take turns, so that other work of the machine
// affects all alike; the best round of each counts.
#ifndef ZEPI_TESTS_SUPPORT_TEST_THROUGHPUT_H
#define ZEPI_TESTS_SUPPORT_TEST_THROUGHPUT_H

#include <stdbool.h>

// Work to be measured: once a round, each of `thread_count` threads, one or two, calls
// work(users[i]).
struct test_load {
    unsigned thread_count;
    void (*work)(void *user);
    void *users[2];    // borrowed
    double best_per_s; // calls a second of all threads together, in the best round so far
};

// Whether this build and this machine can tell anything. Says why if they cannot.
bool test_throughput_is_measurable(void);

// Measures the loads in their order, after `spin_count` steps of spinning, `round_count` times.
// Returns the throughput of two threads that spin, relative to one.
double test_throughput_measure(unsigned load_count, struct test_load *loads, unsigned round_count,
                               unsigned spin_count);

// The exit code of a test that expects `limit` times the throughput of one thread from two, if two
// that spin have twice, and less in proportion if those have less. `ratio` is the measured
// throughput, `spin_ratio` the result of test_throughput_measure. Skips, with the reason, without
// two processors.
int test_throughput_judge(double ratio, double limit, double spin_ratio);

#endif
