// SPDX-License-Identifier: MIT
#include "sync/deferred.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

// A command list without a driver: its commands are complete when a test says so.
struct fake_list {
    struct zepi_timeline *timeline;
    uint64_t complete; // up to here, as a poll finds out
    unsigned polls;
    uint64_t timeout_ns; // of the last poll
    bool is_lost;        // a wait fails
};

struct thing {
    struct zepi_deferred deferred;
    unsigned runs;
};

static struct zepi_sync sync;
static struct zepi_mutex mutex; // of all lists
static struct zepi_context context = {.components = {[ZEPI_COMPONENT_SYNC] = &sync}};

static void set_up(void)
{
    zepi_sync_init(&sync);
}

TestSuite(timeline, .init = set_up);

static void poll_fake(void *owner, uint64_t timeout_ns)
{
    struct fake_list *list = owner;
    list->polls++;
    list->timeout_ns = timeout_ns;
    if (timeout_ns == UINT64_MAX && !list->is_lost)
        list->complete = list->timeline->submitted;
    zepi_timeline_reach(list->timeline, list->complete);
}

static void add(struct fake_list *list)
{
    *list = (struct fake_list){0};
    cr_assert_eq(zepi_timeline_add(&sync, list, poll_fake, &mutex, true, &list->timeline),
                 ZEPI_SUCCESS);
    list->complete = list->timeline->submitted;
}

static void take_away(struct fake_list *list)
{
    zepi_timeline_leave(list->timeline);
    zepi_timeline_remove(list->timeline);
}

static void submit(struct fake_list *list)
{
    zepi_timeline_submit(list->timeline);
}

static void complete(struct fake_list *list)
{
    list->complete = list->timeline->submitted;
}

static void run(struct zepi_deferred *deferred)
{
    ((struct thing *)deferred)->runs++;
}

static void give_up(struct thing *thing, uint64_t bytes)
{
    *thing = (struct thing){.deferred = {.bytes = bytes, .run = run}};
    zepi_defer(&context, &thing->deferred);
}

// Memory of the epoch.
static void free_memory(struct thing *thing, uint64_t epoch)
{
    *thing = (struct thing){.deferred = {.bytes = 1, .run = run}};
    zepi_defer_until(&sync, zepi_use_now(&sync, epoch), &thing->deferred);
}

// ---- One timeline ----

Test(timeline, is_idle_when_all_its_commands_are_known_to_be_over)
{
    struct fake_list list;
    add(&list);
    cr_assert(zepi_timeline_is_idle(list.timeline));
    cr_assert_eq(zepi_timeline_submit(list.timeline), 1);
    cr_assert_eq(zepi_timeline_submit(list.timeline), 2);
    zepi_timeline_reach(list.timeline, 1);
    cr_assert_not(zepi_timeline_is_idle(list.timeline));
    cr_assert_not(zepi_sync_is_idle(&sync));
    zepi_timeline_reach(list.timeline, 2);
    zepi_timeline_reach(list.timeline, 1);
    cr_assert(zepi_timeline_is_idle(list.timeline), "what is known is not forgotten");
    cr_assert(zepi_sync_is_idle(&sync));
}

Test(timeline, goes_on_counting_for_the_next_list)
{
    struct fake_list first;
    struct fake_list second;
    add(&first);
    submit(&first);
    const struct zepi_point point = zepi_timeline_now(first.timeline);
    cr_assert_not(zepi_point_is_reached(point));
    take_away(&first);
    cr_assert(zepi_point_is_reached(point));
    add(&second);
    cr_assert_eq(second.timeline, point.timeline);
    submit(&second);
    cr_assert(zepi_point_is_reached(point), "the last list's commands are not its own");
    cr_assert_eq(zepi_timeline_now(second.timeline).seqno, 2);
}

Test(timeline, covers_what_comes_before_if_it_is_ordered)
{
    struct fake_list lists[2];
    add(&lists[0]);
    add(&lists[1]);
    const struct zepi_point first = {lists[0].timeline, 1};
    const struct zepi_point second = {lists[0].timeline, 2};
    cr_assert(zepi_point_covers(second, first));
    cr_assert(zepi_point_covers(second, second));
    cr_assert_not(zepi_point_covers(first, second));
    cr_assert_not(zepi_point_covers((struct zepi_point){lists[1].timeline, 2}, first));
    lists[0].timeline->is_ordered = false;
    cr_assert_not(zepi_point_covers(second, first));
    cr_assert(zepi_point_covers(second, second));
}

// ---- All of a context ----

Test(timeline, memory_that_is_younger_than_all_commands_is_unused)
{
    struct fake_list list;
    struct thing thing;
    add(&list);
    const uint64_t before = zepi_sync_epoch(&sync);
    submit(&list);
    cr_assert_not_null(zepi_sync_next(&sync, NULL, before).timeline);
    give_up(&thing, 1);
    const uint64_t after = zepi_sync_epoch(&sync);
    cr_assert_null(zepi_sync_next(&sync, NULL, after).timeline);
    submit(&list);
    cr_assert_not_null(zepi_sync_next(&sync, NULL, after).timeline, "the new command may use it");
}

#define MANY (3 * ZEPI_TIMELINES)

static unsigned count_busy(uint64_t since)
{
    unsigned count = 0;
    struct zepi_point point = zepi_sync_first(&sync, since);
    for (; point.timeline; point = zepi_sync_next(&sync, point.timeline, since))
        count++;
    return count;
}

// Beyond the first block.
static int count_listed(void)
{
    int count = 0;
    for (struct zepi_timeline_block *block = sync.first.next; block; block = block->next)
        count += __builtin_popcount(block->listed);
    return count;
}

Test(timeline, any_number_of_lists_is_walked_along_and_idle_ones_are_not_listed)
{
    static struct fake_list lists[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        add(&lists[i]);
        submit(&lists[i]);
    }
    cr_assert_eq(count_busy(0), MANY);
    cr_assert_eq(count_listed(), MANY - ZEPI_TIMELINES);
    for (unsigned i = 0; i < MANY - 1; i++)
        zepi_timeline_reach(lists[i].timeline, 1);
    cr_assert_not(zepi_sync_is_idle(&sync));
    cr_assert_eq(count_busy(0), 1);
    cr_assert_eq(count_listed(), 1);
    submit(&lists[MANY - 2]);
    cr_assert_eq(count_busy(0), 2, "it is found again");
    // A list that gets a command just now stays listed.
    zepi_timeline_reach(lists[MANY - 2].timeline, 2);
    zepi_mutex_lock(&mutex);
    cr_assert_eq(count_busy(0), 1);
    cr_assert_eq(count_listed(), 2);
    submit(&lists[MANY - 2]);
    zepi_mutex_unlock(&mutex);
    cr_assert_eq(count_busy(0), 2);
    for (unsigned i = 0; i < MANY; i++)
        take_away(&lists[i]);
    cr_assert_eq(count_busy(0), 0);
    cr_assert(zepi_sync_is_idle(&sync));
    zepi_sync_finish(&sync);
}

// ---- Deferred work ----

Test(timeline, work_runs_at_once_if_no_list_is_busy)
{
    struct fake_list list;
    struct thing things[2];
    give_up(&things[0], 1);
    cr_assert_eq(things[0].runs, 1, "there is no list");
    add(&list);
    give_up(&things[1], 1);
    cr_assert_eq(things[1].runs, 1, "the list is idle");
    cr_assert_eq(list.polls, 0);
}

Test(timeline, work_waits_for_each_busy_list_once)
{
    struct fake_list lists[3];
    struct thing thing;
    for (unsigned i = 0; i < 3; i++)
        add(&lists[i]);
    submit(&lists[0]);
    submit(&lists[2]);
    give_up(&thing, 1);
    zepi_timeline_reach(lists[2].timeline, 1);
    cr_assert_eq(thing.runs, 0, "one of two lists is still busy");
    zepi_timeline_reach(lists[0].timeline, 1);
    cr_assert_eq(thing.runs, 1);
}

Test(timeline, work_is_not_held_up_by_commands_that_came_later)
{
    struct fake_list list;
    struct thing thing;
    add(&list);
    submit(&list);
    give_up(&thing, 1);
    submit(&list);
    zepi_timeline_reach(list.timeline, 1);
    cr_assert_not(zepi_timeline_is_idle(list.timeline));
    cr_assert_eq(thing.runs, 1, "the later command cannot use it");
}

Test(timeline, work_runs_in_the_order_of_the_commands_that_it_waits_for)
{
    struct fake_list list;
    struct thing things[3] = {0};
    static const uint64_t seqnos[] = {2, 3, 1};
    add(&list);
    for (unsigned i = 0; i < 3; i++)
        submit(&list);
    for (unsigned i = 0; i < 3; i++) {
        things[i].deferred = (struct zepi_deferred){.bytes = 1, .run = run};
        zepi_defer_until(&sync, zepi_use_until((struct zepi_point){list.timeline, seqnos[i]}),
                         &things[i].deferred);
    }
    zepi_timeline_reach(list.timeline, 1);
    cr_assert(things[0].runs == 0 && things[1].runs == 0 && things[2].runs == 1);
    zepi_timeline_reach(list.timeline, 2);
    cr_assert(things[0].runs == 1 && things[1].runs == 0);
    zepi_timeline_reach(list.timeline, 3);
    cr_assert_eq(things[1].runs, 1);
}

Test(timeline, a_list_that_never_ends_holds_up_older_memory_alone)
{
    struct fake_list endless;
    struct fake_list lists[2];
    struct thing old;
    struct thing young;
    add(&endless);
    add(&lists[0]);
    add(&lists[1]);
    const uint64_t before = zepi_sync_epoch(&sync);
    submit(&endless);
    free_memory(&old, before);
    const uint64_t since = zepi_sync_epoch(&sync);
    submit(&lists[0]);
    submit(&lists[1]);
    free_memory(&young, since);
    zepi_timeline_reach(lists[0].timeline, 1);
    cr_assert_eq(young.runs, 0);
    zepi_timeline_reach(lists[1].timeline, 1);
    cr_assert_eq(young.runs, 1);
    cr_assert_eq(old.runs, 0);
}

Test(timeline, lists_are_polled_when_much_waits)
{
    struct fake_list list;
    struct thing things[4];
    add(&list);
    submit(&list);
    give_up(&things[0], ZEPI_DEFERRED_LIMIT - 1);
    cr_assert_eq(list.polls, 0);
    give_up(&things[1], 1);
    cr_assert_eq(list.polls, 1, "the limit is reached");
    cr_assert_eq(list.timeout_ns, 0, "the host may be the one that the list waits for");
    give_up(&things[2], 1);
    cr_assert_eq(list.polls, 1, "not at each one");
    complete(&list);
    give_up(&things[3], ZEPI_DEFERRED_LIMIT);
    cr_assert_eq(list.polls, 2);
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(things[i].runs, 1, "number %u", i);
}

Test(timeline, work_that_cannot_wait_runs_before_the_call_returns)
{
    struct fake_list list;
    struct thing thing = {.deferred = {.bytes = 1, .run = run}};
    struct thing late = {.deferred = {.bytes = 1, .run = run}};
    add(&list);
    submit(&list);
    zepi_defer_no_longer(&context, &thing.deferred);
    cr_assert_eq(thing.runs, 1);
    cr_assert_eq(list.timeout_ns, UINT64_MAX);
    submit(&list);
    list.is_lost = true;
    zepi_defer_no_longer(&context, &late.deferred);
    cr_assert_eq(late.runs, 0, "a wait that fails leaves it to later");
    take_away(&list);
    cr_assert_eq(late.runs, 1);
}

Test(timeline, a_list_that_goes_holds_nothing_up)
{
    struct fake_list list;
    struct thing thing;
    add(&list);
    submit(&list);
    give_up(&thing, 1);
    take_away(&list);
    cr_assert_eq(thing.runs, 1);
    zepi_sync_finish(&sync);
}

static atomic_bool is_polled, is_poll_over;

static void poll_slowly(void *owner, uint64_t timeout_ns)
{
    const struct timespec a_while = {.tv_nsec = 20000000};
    (void)owner;
    (void)timeout_ns;
    atomic_store(&is_polled, true);
    nanosleep(&a_while, NULL);
    atomic_store(&is_poll_over, true);
}

static void *poll_all(void *unused)
{
    zepi_sync_poll(&sync, 0);
    return unused;
}

Test(timeline, a_list_that_a_thread_polls_does_not_go_before, .timeout = 10)
{
    struct fake_list list;
    struct thing thing;
    pthread_t thread;
    cr_assert_eq(zepi_timeline_add(&sync, &list, poll_slowly, &mutex, true, &list.timeline),
                 ZEPI_SUCCESS);
    submit(&list);
    give_up(&thing, 1);
    cr_assert_eq(pthread_create(&thread, NULL, poll_all, NULL), 0);
    while (!atomic_load(&is_polled))
        sched_yield();
    zepi_timeline_leave(list.timeline);
    cr_assert(atomic_load(&is_poll_over));
    pthread_join(thread, NULL);
    zepi_timeline_remove(list.timeline);
    cr_assert_eq(thing.runs, 1);
}

extern const struct zepi_component *const __start_zepi_components[];

static const struct zepi_component *find_sync_part(void)
{
    const struct zepi_component *const *part = __start_zepi_components;
    while ((*part)->number != ZEPI_COMPONENT_SYNC)
        part++;
    return *part;
}

Test(timeline, gives_back_before_an_allocation_fails)
{
    struct fake_list list;
    struct fake_list other;
    struct thing thing;
    const struct zepi_component *part = find_sync_part();
    add(&list);
    add(&other);
    cr_assert_not(part->reclaim(&context, 0), "there is nothing to give back");
    submit(&list);
    submit(&other);
    free_memory(&thing, 0);
    cr_assert(part->reclaim(&context, 5));
    cr_assert_eq(list.timeout_ns, 5);
    cr_assert_eq(other.polls, 0, "what waits for the first list is not looked for in others");
    cr_assert_eq(thing.runs, 0);
    complete(&list);
    complete(&other);
    cr_assert(part->reclaim(&context, 0));
    cr_assert_eq(thing.runs, 1);
}

static struct thing inner;

static void run_outer(struct zepi_deferred *deferred)
{
    run(deferred);
    give_up(&inner, 1);
}

// As a kernel does with its module.
Test(timeline, work_may_defer_more)
{
    struct fake_list list;
    struct thing outer = {.deferred = {.bytes = 1, .run = run_outer}};
    add(&list);
    submit(&list);
    zepi_defer(&context, &outer.deferred);
    complete(&list);
    poll_fake(&list, 0);
    cr_assert_eq(outer.runs, 1);
    cr_assert_eq(inner.runs, 1);
}
