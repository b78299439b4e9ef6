// SPDX-License-Identifier: MIT
// The return of events to their list, and their reuse. Without a driver: calls that need one
// (making events, resets, queries) are in the tier integration.
#include "queue/event_cache.h"

#include "queue/queue.h"

#include <criterion/criterion.h>
#include <pthread.h>

static struct zepi_event_cache cache;
static struct zepi_queue *queue; // has one more reference than its events

static void set_up(enum zepi_event_kind kind)
{
    cache = (struct zepi_event_cache){.kind = kind};
    queue = zepi_object_create(&zepi_queue_type);
    cr_assert_not_null(queue);
}

// An event of a command, with one reference.
static struct zepi_event *make_event(void)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    cr_assert_not_null(event);
    event->cache = &cache;
    event->queue = zepi_retain(queue);
    return event;
}

static struct zepi_event *take_event(void)
{
    struct zepi_event *event = zepi_event_cache_take(&cache);
    if (event)
        zepi_event_hand_out(event, queue);
    return event;
}

static unsigned references_of_queue(void)
{
    return atomic_load(&queue->object.references);
}

static int count(_Atomic(struct zepi_event *) *head)
{
    int number = 0;
    for (struct zepi_event *event = atomic_load(head); event; event = event->next)
        number++;
    return number;
}

Test(event_cache, an_event_of_the_counter_is_used_again_at_once)
{
    set_up(ZEPI_EVENT_COUNTER);
    struct zepi_event *event = make_event();
    atomic_store(&event->is_awaited, true);
    event->has_failed = true;
    zepi_release(event);
    cr_assert_eq(references_of_queue(), 1, "a free event does not keep its queue");
    cr_assert(!zepi_object_is(event, &zepi_event_type), "a free event is no handle");
    cr_assert_eq(take_event(), event);
    cr_assert(zepi_object_is(event, &zepi_event_type));
    cr_assert_eq(references_of_queue(), 2);
    cr_assert(!event->has_failed && !atomic_load(&event->is_awaited) &&
              !zepi_event_is_known_complete(event));
    cr_assert_null(take_event(), "it is in use");
}

Test(event_cache, all_events_of_the_counter_that_came_back_are_taken_at_once)
{
    enum { EVENTS = 5 };
    struct zepi_event *events[EVENTS];
    set_up(ZEPI_EVENT_COUNTER);
    for (int i = 0; i < EVENTS; i++)
        events[i] = make_event();
    for (int i = 0; i < EVENTS; i++)
        zepi_release(events[i]);
    for (int i = EVENTS; i-- > 0;) {
        cr_assert_eq(take_event(), events[i]);
        cr_assert_eq(count(&cache.usable), 0);
    }
}

Test(event_cache, an_event_with_times_that_a_command_waits_for_is_held_back)
{
    set_up(ZEPI_EVENT_TIMED | ZEPI_EVENT_COUNTER);
    struct zepi_event *free_one = make_event();
    struct zepi_event *awaited = make_event();
    atomic_store(&awaited->is_awaited, true);
    zepi_release(awaited);
    zepi_release(free_one);
    cr_assert_eq(atomic_load(&cache.in_use), awaited);
    cr_assert_null(take_event(), "the refill looks at it first");
    atomic_store(&cache.in_use, NULL);
    cr_assert_eq(take_event(), free_one);
    cr_assert_null(take_event());
}

Test(event_cache, an_event_that_is_reset_comes_back_once_it_is_complete_and_not_awaited)
{
    set_up(ZEPI_EVENT_PLAIN);
    struct zepi_event *complete = make_event();
    struct zepi_event *running = make_event();
    struct zepi_event *awaited = make_event();
    atomic_store(&complete->is_complete, true);
    atomic_store(&awaited->is_complete, true);
    atomic_store(&awaited->is_awaited, true);
    zepi_release(complete);
    zepi_release(running);
    zepi_release(awaited);
    cr_assert_eq(atomic_load(&cache.usable), complete);
    cr_assert_null(complete->next);
    cr_assert_eq(count(&cache.in_use), 2);
    // It is signalled: the refill resets it before a command gets it.
    cr_assert_null(take_event());
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *release_all(void *events)
{
    for (int i = 0; i < ROUNDS; i++)
        zepi_release(((struct zepi_event **)events)[i]);
    return NULL;
}

Test(event_cache, none_is_lost_or_taken_twice_where_threads_release_and_one_takes)
{
    static struct zepi_event *events[THREADS][ROUNDS];
    pthread_t threads[THREADS];
    int taken = 0;
    set_up(ZEPI_EVENT_COUNTER);
    for (int i = 0; i < THREADS; i++) {
        for (int j = 0; j < ROUNDS; j++)
            events[i][j] = make_event();
    }
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, release_all, events[i]), 0);
    while (taken < THREADS * ROUNDS) {
        struct zepi_event *event = take_event();
        if (!event)
            continue;
        cr_assert_eq(event->number, 0, "taken twice");
        event->number = 1;
        taken++;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_null(take_event());
    cr_assert_eq(references_of_queue(), 1 + THREADS * ROUNDS);
}
