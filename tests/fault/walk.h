// SPDX-License-Identifier: MIT
//
// Walks a story along its failures: the 1st, 2nd, 3rd ... call fails until the story gets by
// without meeting the failure. After each round nothing may be left.
#ifndef ZEPI_TESTS_FAULT_WALK_H
#define ZEPI_TESTS_FAULT_WALK_H

#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <stdbool.h>

// What walk_begin loads: zepi_core, whose allocations can be made to fail.
extern zepi_plugin_init_fn *const walk_plugin_init;

// Runs the whole story and releases whatever it made, failed or not. Returns the first failure.
typedef zepi_result_t story_fn(void);

// Loads zepi_core with ze_cpu as its driver.
void walk_begin(void);

// What is in the driver now belongs to the test, and is there after each round.
void walk_keep(void);

// The same with every round in a process of its own, for what happens once a process. Before
// anything else touches Level Zero in this one. Ends the walk after the first `rounds` calls.
void walk_calls_in_children(const char *name, story_fn *story, const char *code, unsigned rounds);

// The n-th Level Zero call answers `code`. Returns the number of rounds, or ends the process.
unsigned walk_calls(const char *name, story_fn *story, const char *code);

// The n-th allocation of the plugin fails.
unsigned walk_allocations(const char *name, story_fn *story);

// Evaluates a call of the table inside a story: on failure checks that it left an error text, and
// leaves for the label `out` with `result` set.
#define STEP(call)                                                                                 \
    do {                                                                                           \
        result = walk_step((call), #call);                                                         \
        if (result != ZEPI_SUCCESS)                                                                \
            goto out;                                                                              \
    } while (false)
zepi_result_t walk_step(zepi_result_t result, const char *call);

// Releases unless NULL; must succeed.
void walk_release(void *object);

#endif
