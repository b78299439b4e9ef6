// SPDX-License-Identifier: MIT
#include "sync/deferred_free.h"

#include <criterion/criterion.h>

// A queue without a driver: its commands are complete when a test says so.
struct fake_queue {
    struct zepi_context *context;
    struct zepi_completion_point *point;
    uint64_t complete; // commands that are complete, which a look finds out
    unsigned looks;
    uint64_t patience_ns; // of the last look
};

struct thing {
    struct zepi_deferred deferred;
    unsigned destroyed;
};

static struct zepi_deferred_list list;
static struct zepi_mutex mutex; // of all queues
static struct zepi_context context = {.parts = {[ZEPI_PART_DEFERRED] = &list}};

// The work of a queue at a wait, or when the driver reports that it is empty.
static void look(void *queue, uint64_t patience_ns)
{
    struct fake_queue *fake = queue;
    fake->looks++;
    fake->patience_ns = patience_ns;
    if (patience_ns == UINT64_MAX)
        fake->complete = fake->point->submitted;
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(fake->context), fake->point);
    if (fake->complete == mark.submitted)
        zepi_deferred_end_wait(fake->context, fake->point, mark);
}

static void add_queue(struct fake_queue *queue)
{
    *queue = (struct fake_queue){.context = &context};
    cr_assert_eq(zepi_completion_point_add(&list.points, queue, look, &mutex, &queue->point),
                 ZEPI_SUCCESS);
}

static void submit(struct fake_queue *queue)
{
    zepi_completion_point_count(queue->point);
}

static void complete(struct fake_queue *queue)
{
    queue->complete = queue->point->submitted;
}

static void destroy(struct zepi_deferred *deferred)
{
    ((struct thing *)deferred)->destroyed++;
}

static void give_up(struct thing *thing, uint64_t weight)
{
    *thing = (struct thing){.deferred = {.weight = weight, .destroy = destroy}};
    zepi_defer_free(&context, &thing->deferred);
}

Test(deferred_free, destroys_at_once_what_no_queue_can_use)
{
    struct fake_queue queue;
    struct thing things[2];
    give_up(&things[0], 1);
    cr_assert_eq(things[0].destroyed, 1, "there is no queue");
    add_queue(&queue);
    give_up(&things[1], 1);
    cr_assert_eq(things[1].destroyed, 1, "the queue is idle");
    cr_assert_eq(queue.looks, 0);
}

Test(deferred_free, keeps_what_a_busy_queue_may_use_until_the_queue_was_waited_for)
{
    struct fake_queue busy;
    struct fake_queue other;
    struct thing thing;
    add_queue(&busy);
    add_queue(&other);
    submit(&busy);
    submit(&other);
    give_up(&thing, 1);
    look(&other, UINT64_MAX);
    cr_assert_eq(thing.destroyed, 0, "one of two queues is still busy");
    look(&busy, UINT64_MAX);
    cr_assert_eq(thing.destroyed, 1);
}

Test(deferred_free, is_not_held_up_by_commands_that_came_later)
{
    struct fake_queue queue;
    struct thing thing;
    add_queue(&queue);
    submit(&queue);
    give_up(&thing, 1);
    const struct zepi_completion_mark mark = zepi_completion_begin_wait(&list.points, queue.point);
    submit(&queue);
    zepi_deferred_end_wait(&context, queue.point, mark);
    cr_assert_not(zepi_completion_point_is_idle(queue.point));
    cr_assert_eq(thing.destroyed, 1, "the later command cannot use it");
}

Test(deferred_free, a_wait_that_began_before_does_not_count)
{
    struct fake_queue queue;
    struct thing thing;
    add_queue(&queue);
    submit(&queue);
    const struct zepi_completion_mark mark = zepi_completion_begin_wait(&list.points, queue.point);
    submit(&queue);
    give_up(&thing, 1);
    zepi_deferred_end_wait(&context, queue.point, mark);
    cr_assert_eq(thing.destroyed, 0, "the second command may use it");
    zepi_completion_point_reach(queue.point, 2);
    cr_assert(zepi_deferred_drain(&context, 0));
    cr_assert_eq(thing.destroyed, 1);
}

Test(deferred_free, looks_at_the_queues_when_the_list_is_heavy)
{
    struct fake_queue queue;
    struct thing things[4];
    add_queue(&queue);
    submit(&queue);
    give_up(&things[0], ZEPI_DEFERRED_LIMIT - 1);
    cr_assert_eq(queue.looks, 0);
    give_up(&things[1], 1);
    cr_assert_eq(queue.looks, 1, "the limit is reached");
    cr_assert_eq(queue.patience_ns, 0, "the host may be the one that the queue waits for");
    give_up(&things[2], 1);
    cr_assert_eq(queue.looks, 1, "not at each one");
    complete(&queue);
    give_up(&things[3], ZEPI_DEFERRED_LIMIT);
    cr_assert_eq(queue.looks, 2);
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(things[i].destroyed, 1, "number %u", i);
}

Test(deferred_free, waits_for_what_is_urgent)
{
    struct fake_queue queue;
    struct thing thing = {.deferred = {.is_urgent = true, .destroy = destroy}};
    add_queue(&queue);
    submit(&queue);
    zepi_defer_free(&context, &thing.deferred);
    cr_assert_eq(thing.destroyed, 1);
    cr_assert_eq(queue.patience_ns, UINT64_MAX);
}

Test(deferred_free, a_queue_that_goes_holds_nothing_up)
{
    struct fake_queue queue;
    struct thing thing;
    add_queue(&queue);
    submit(&queue);
    give_up(&thing, 1);
    zepi_completion_point_leave(&list.points, queue.point);
    zepi_deferred_remove_point(&context, queue.point);
    cr_assert_eq(thing.destroyed, 1);
    zepi_deferred_list_finish(&list);
}

Test(deferred_free, gives_back_before_an_allocation_fails)
{
    struct fake_queue queue;
    struct thing things[2];
    const struct zepi_context_part *part = &zepi_deferred_part;
    add_queue(&queue);
    cr_assert_not(part->reclaim(&context, 0), "there is nothing to give back");
    submit(&queue);
    give_up(&things[0], 1);
    cr_assert(part->reclaim(&context, 5));
    cr_assert_eq(queue.patience_ns, 5);
    cr_assert_eq(things[0].destroyed, 0);
    complete(&queue);
    cr_assert(part->reclaim(&context, 0));
    cr_assert_eq(things[0].destroyed, 1);
}

static struct thing inner;

static void destroy_outer(struct zepi_deferred *deferred)
{
    destroy(deferred);
    give_up(&inner, 1);
}

// As a kernel does with its module.
Test(deferred_free, may_free_later_while_it_destroys)
{
    struct fake_queue queue;
    struct thing outer = {.deferred = {.destroy = destroy_outer}};
    add_queue(&queue);
    submit(&queue);
    zepi_defer_free(&context, &outer.deferred);
    look(&queue, UINT64_MAX);
    cr_assert_eq(outer.destroyed, 1);
    cr_assert_eq(inner.destroyed, 1);
}
