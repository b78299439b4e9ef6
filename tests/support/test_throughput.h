// SPDX-License-Identifier: MIT
//
// How much more two threads do than one, beside how much more they could do on this machine, which
// two threads that spin tell, since those share nothing. All is measured in rounds that take turns,
// so that whatever else the machine does hits everything alike; the best round of each counts.
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
// Returns what two threads that spin do of what one does.
double test_throughput_measure(unsigned load_count, struct test_load *loads, unsigned round_count,
                               unsigned spin_count);

// The exit code of a test that wants two threads to do `limit` times what one does, where two that
// spin do twice, and less in proportion where those do less. `ratio` is what they do, `spin_ratio`
// what test_throughput_measure returned. Skips, with the reason, where there are no two processors
// to be had.
int test_throughput_judge(double ratio, double limit, double spin_ratio);

#endif
