// SPDX-License-Identifier: MIT
//
// Instructions of one more of something, for test programs that run themselves: without arguments
// such a program makes the runs and judges, with "KIND N" it does the thing N times. The difference
// of two runs that differ in N alone is free of work that a process does once.
#ifndef ZEPI_TESTS_SUPPORT_TEST_COST_H
#define ZEPI_TESTS_SUPPORT_TEST_COST_H

#include <stdbool.h>

// Whether counts of this build say anything, and whether there is valgrind to count with. Each says
// why the test is skipped if not.
bool test_cost_is_measurable(void);
bool test_cost_has_valgrind(void);

// The path of this program. Borrowed until the process ends.
const char *test_cost_program(void);

// Instructions of one more of KIND, from runs under callgrind. Instructions count inside functions
// whose names match `functions`, a pattern of callgrind's, or all if that is NULL. 0 if callgrind
// did not say.
double test_cost_instructions(const char *kind, const char *functions);

// Whether a run of the kind "silent" makes no system call where test_cost_begin_silence() forbids
// them; `what` says in a line of output what it does. True, with the reason, where nothing can be
// forbidden.
bool test_cost_is_silent(const char *what);

// For the run of the kind "silent". From the first on, the kernel ends the process at any system
// call but exit; a process that cannot forbid them ends as skipped. The second ends the process
// well, and nothing but the kernel takes part in that.
void test_cost_begin_silence(void);
_Noreturn void test_cost_end_silence(void);

#endif
