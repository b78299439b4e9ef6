// SPDX-License-Identifier: MIT
//
// A queue of any kind, and a kernel whose sums tell in which order its launches ran.
#ifndef ZEPI_TESTS_INTEGRATION_QUEUE_FIXTURE_H
#define ZEPI_TESTS_INTEGRATION_QUEUE_FIXTURE_H

#include "gear_fixture.h"

#include <stdbool.h>
#include <stddef.h>

#define ITEMS 256

// How a queue is made: its flags, and whether the plugin may use what Level Zero got after 1.4
// (without, barriers keep an in-order queue's order, and waits go by events).
struct queue_kind {
    zepi_queue_flags_t flags;
    bool newer;
};

enum { QUEUE_KINDS = 6, IN_ORDER_QUEUE_KINDS = 3 };
extern struct queue_kind queue_kinds[QUEUE_KINDS]; // those in order come first

// A test of each kind, with criterion/parameterized.h. One process has all that are `newer`, and
// one the others: the plugin looks once what it may use.
#define FOR_ALL_KINDS(suite, name)                                                                 \
    static void name(const struct queue_kind *kind);                                               \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static bool newer[] = {true, false};                                                       \
        return cr_make_param_array(bool, newer, 2);                                                \
    }                                                                                              \
    ParameterizedTest(bool *newer, suite, name)                                                    \
    {                                                                                              \
        for (int i = 0; i < QUEUE_KINDS; i++) {                                                    \
            if (queue_kinds[i].newer == *newer)                                                    \
                name(&queue_kinds[i]);                                                             \
        }                                                                                          \
    }                                                                                              \
    static void name(const struct queue_kind *kind)

void queue_set_up(zepi_queue_flags_t flags, bool newer);
// Checks that nothing is left in the driver.
void queue_tear_down(void);

// `count` zeroed floats of shared memory.
float *queue_allocate(size_t count);
void queue_free(void *memory);
// ITEMS floats, all of them `value`; the queue is empty.
float *queue_allocate_filled(float value);

// sum[i] = a[i] + b[i] for ITEMS items.
void queue_add(zepi_queue_t queue, float *a, float *b, float *sum, zepi_wait_list_t wait,
               zepi_event_t *out_event);

#define WAIT_FOR(event) ((zepi_wait_list_t){&(event), 1})

#endif
