// SPDX-License-Identifier: MIT
#include "sync/completion_point.h"

#include <criterion/criterion.h>

static struct zepi_completion_points points;
static struct zepi_mutex mutex; // of all queues

static void count_look(void *queue, uint64_t patience_ns)
{
    (void)patience_ns;
    ++*(unsigned *)queue;
}

static struct zepi_completion_point *add(unsigned *looks)
{
    struct zepi_completion_point *point;
    cr_assert_eq(zepi_completion_point_add(&points, looks, count_look, &mutex, &point),
                 ZEPI_SUCCESS);
    return point;
}

static void take_away(struct zepi_completion_point *point)
{
    zepi_completion_point_leave(&points, point);
    zepi_completion_point_remove(&points, point);
}

static uint64_t begin_epoch(void)
{
    zepi_mutex_lock(&points.mutex);
    const uint64_t epoch = zepi_completion_begin_epoch_locked(&points);
    zepi_mutex_unlock(&points.mutex);
    return epoch;
}

Test(completion_point, is_idle_when_all_its_commands_are_known_to_be_complete)
{
    unsigned looks = 0;
    struct zepi_completion_point *point = add(&looks);
    cr_assert(zepi_completion_point_is_idle(point));
    cr_assert_eq(zepi_completion_point_count(point), 1);
    cr_assert_eq(zepi_completion_point_count(point), 2);
    zepi_completion_point_reach(point, 1);
    cr_assert_not(zepi_completion_point_is_idle(point));
    cr_assert_not(zepi_completion_are_all_idle(&points));
    zepi_completion_point_reach(point, 2);
    zepi_completion_point_reach(point, 1);
    cr_assert(zepi_completion_point_is_idle(point), "what is known is not forgotten");
    cr_assert(zepi_completion_are_all_idle(&points));
}

Test(completion_point, gives_the_number_of_a_queue_that_went_to_the_next)
{
    unsigned looks = 0;
    struct zepi_completion_point *first = add(&looks);
    struct zepi_completion_point *second = add(&looks);
    cr_assert_eq(zepi_completion_point_number(&points, first), 0);
    cr_assert_eq(zepi_completion_point_number(&points, second), 1);
    zepi_completion_point_count(first);
    take_away(first);
    first = add(&looks);
    cr_assert_eq(zepi_completion_point_number(&points, first), 0);
    cr_assert(zepi_completion_point_is_idle(first), "the last queue's commands are not its own");
}

Test(completion_point, has_room_for_any_number_of_queues)
{
    struct zepi_completion_point *all[3 * ZEPI_COMPLETION_POINTS];
    unsigned looks = 0;
    for (unsigned i = 0; i < 3 * ZEPI_COMPLETION_POINTS; i++) {
        all[i] = add(&looks);
        cr_assert_eq(zepi_completion_point_number(&points, all[i]),
                     i < ZEPI_QUEUE_NUMBERS ? i : ZEPI_NO_QUEUE_NUMBER);
        zepi_completion_point_count(all[i]);
    }
    cr_assert_not(zepi_completion_is_unused(&points, 0));
    zepi_completion_look_at_all(&points, UINT64_MAX, 0);
    cr_assert_eq(looks, 3 * ZEPI_COMPLETION_POINTS, "each busy queue is looked at once");
    for (unsigned i = 0; i < 3 * ZEPI_COMPLETION_POINTS; i++)
        take_away(all[i]);
    cr_assert(zepi_completion_is_unused(&points, 0));
    zepi_completion_points_finish(&points);
}

Test(completion_point, only_a_queue_that_may_use_what_was_freed_is_looked_at)
{
    unsigned idle_looks = 0;
    unsigned busy_looks = 0;
    add(&idle_looks);
    struct zepi_completion_point *busy = add(&busy_looks);
    zepi_completion_point_count(busy);
    const uint64_t epoch = begin_epoch();
    zepi_completion_look_at_all(&points, epoch, 0);
    cr_assert_eq(idle_looks, 0);
    cr_assert_eq(busy_looks, 1);
    const struct zepi_completion_mark mark = zepi_completion_begin_wait(&points, busy);
    zepi_completion_point_count(busy);
    zepi_completion_end_wait(&points, busy, mark);
    zepi_completion_look_at_all(&points, epoch, 0);
    cr_assert_eq(busy_looks, 1, "what is submitted now uses nothing of that epoch");
}

// A kernel that runs for long holds up what is older than it, and nothing else.
Test(completion_point, memory_that_is_younger_than_all_commands_is_unused)
{
    unsigned looks = 0;
    struct zepi_completion_point *point = add(&looks);
    const uint64_t before = zepi_completion_stamp(&points);
    zepi_completion_point_count(point);
    cr_assert_not(zepi_completion_is_unused(&points, before));
    begin_epoch();
    const uint64_t after = zepi_completion_stamp(&points);
    cr_assert_not(zepi_completion_is_unused(&points, before));
    cr_assert(zepi_completion_is_unused(&points, after));
    zepi_completion_point_count(point);
    cr_assert_not(zepi_completion_is_unused(&points, after), "the new command may use it");
}

// The points that a walk finds, beyond those of the first block.
static unsigned listed(void)
{
    return atomic_load(&points.listed_count);
}

Test(completion_point, beyond_the_first_block_only_busy_queues_are_listed)
{
    enum { COUNT = 3 * ZEPI_COMPLETION_POINTS };
    struct zepi_completion_point *all[COUNT];
    unsigned looks = 0;
    for (unsigned i = 0; i < COUNT; i++)
        all[i] = add(&looks);
    cr_assert_eq(listed(), 0);
    for (unsigned i = ZEPI_COMPLETION_POINTS; i < COUNT; i++)
        zepi_completion_point_count(all[i]);
    cr_assert_eq(listed(), COUNT - ZEPI_COMPLETION_POINTS);
    cr_assert_not(zepi_completion_is_unused(&points, 0));
    for (unsigned i = ZEPI_COMPLETION_POINTS; i < COUNT - 1; i++)
        zepi_completion_point_reach(all[i], 1);
    const uint64_t epoch = begin_epoch();
    cr_assert_eq(listed(), 1, "%u are", listed());
    cr_assert_not(zepi_completion_is_unused(&points, epoch - 1), "of the one that is busy");
    cr_assert(zepi_completion_is_unused(&points, epoch));
    zepi_completion_point_count(all[COUNT - 2]);
    cr_assert_not(zepi_completion_is_unused(&points, epoch), "it is found again");
    zepi_completion_point_reach(all[COUNT - 2], 2);
    zepi_completion_point_reach(all[COUNT - 1], 1);
    cr_assert(zepi_completion_is_unused(&points, 0));
    cr_assert_eq(listed(), 0);
    for (unsigned i = 0; i < COUNT; i++)
        take_away(all[i]);
    zepi_completion_points_finish(&points);
}

Test(completion_point, a_queue_that_gets_a_command_just_now_stays_listed)
{
    struct zepi_completion_point *all[ZEPI_COMPLETION_POINTS + 1];
    unsigned looks = 0;
    for (unsigned i = 0; i <= ZEPI_COMPLETION_POINTS; i++)
        all[i] = add(&looks);
    struct zepi_completion_point *last = all[ZEPI_COMPLETION_POINTS];
    zepi_completion_point_count(last);
    zepi_completion_point_reach(last, 1);
    zepi_mutex_lock(&mutex);
    begin_epoch();
    cr_assert_eq(listed(), 1);
    zepi_completion_point_count(last);
    zepi_mutex_unlock(&mutex);
    cr_assert_not(zepi_completion_is_unused(&points, 0));
    zepi_completion_point_leave(&points, last);
    begin_epoch();
    zepi_completion_point_remove(&points, last);
    cr_assert_eq(listed(), 0, "it goes with its queue");
    last = add(&looks);
    cr_assert(zepi_completion_point_is_idle(last));
    zepi_completion_point_count(last);
    cr_assert_eq(listed(), 1);
}
