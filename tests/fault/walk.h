// SPDX-License-Identifier: MIT
//
// Walks a story along its failures: the 1st, 2nd, 3rd ... call fails until the story gets by
// without meeting the failure. In each round the story either succeeds, or fails with the code and
// the words of the call that was made to fail; nothing is left in the driver; and then the same
// story works.
#ifndef ZEPI_TESTS_FAULT_WALK_H
#define ZEPI_TESTS_FAULT_WALK_H

#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <stdbool.h>

// The library that walk_begin loads: zepi_core, whose allocations can be made to fail.
extern zepi_plugin_init_fn *const walk_plugin_init;

// Runs the whole story and releases all objects that it made, failed or not. Returns the first
// failure.
typedef zepi_result_t story_fn(void);

// Loads zepi_core with ze_cpu as its driver.
void walk_begin(void);

// How many files were unlinked.
unsigned walk_unlinks(void);

// Objects that are in the driver now belong to the test, and are there after each round.
void walk_keep(void);

// The walks from here on are rehearsals: after failures a context keeps more than without (events,
// until it is destroyed), but no more in the walks that follow. Or no longer: walk_keep.
void walk_rehearse(bool is_one);

// Each of these returns the number of rounds that met the failure, or ends the process.

// The n-th Level Zero call answers `code`, the name of a ze_result_t.
unsigned walk_calls(const char *name, story_fn *story, const char *code);
// The n-th call of one function.
unsigned walk_calls_of(const char *name, story_fn *story, const char *function, const char *code);
// The n-th allocation of the plugin fails.
unsigned walk_allocations(const char *name, story_fn *story);
// The n-th file operation of the cache answers `error`, an errno. The story must not notice.
unsigned walk_files(const char *name, story_fn *story, int error);

// The story's calls and its allocations, after rehearsals: events stay with their list, so that it
// takes a while until each list has enough, and for lack of memory the lists of other stories'
// queues go.
void walk_rehearsed(const char *name, story_fn *story, const char *code);

// A failure with these words in its text lasts: no second try is expected to work.
void walk_let_last(const char *words);

// From here on every round has a process of its own, for steps that happen once a process. To be
// called before this process calls Level Zero. Or no longer.
void walk_in_children(bool are_children);

// For rounds that build: forgets all native code, in memory and on the disk, and returns the value
// of a constant, 1 and 2 in turns, so that the driver has the code in ZE_CPU_CODE_FOLDER from the
// third round on.
int32_t walk_build_anew(void);

// Evaluates a call of the table inside a story: on failure checks that it left an error text, and
// leaves for the label `out` with `result` set.
#define STEP(call)                                                                                 \
    do {                                                                                           \
        result = walk_step((call), #call);                                                         \
        if (result != ZEPI_SUCCESS)                                                                \
            goto out;                                                                              \
    } while (false)
zepi_result_t walk_step(zepi_result_t result, const char *call);

// Ends the process unless it is so: numbers inside a story.
#define WALK_EXPECT(condition) walk_expect((condition), #condition)
void walk_expect(bool is_so, const char *condition);

// Releases unless NULL; must succeed.
void walk_release(void *object);

// Waits until everything in the queue is over: the failure may hit this wait, too. NULL is fine.
void walk_settle(zepi_queue_t queue);

#endif
