// SPDX-License-Identifier: MIT
#include "core/object.h"

#include "core/thread.h"

#include <criterion/criterion.h>
#include <pthread.h>

struct zepi_thing {
    struct zepi_object object;
    int number;
};

struct zepi_other {
    struct zepi_object object;
};

static int destroyed;

static void thing_destroy(void *object)
{
    destroyed += ((struct zepi_thing *)object)->number;
}

static void other_destroy(void *object)
{
    (void)object;
}

extern const struct zepi_type zepi_thing_type;
extern const struct zepi_type zepi_other_type;
ZEPI_DEFINE_TYPE(thing, thing_destroy);
ZEPI_DEFINE_TYPE(other, other_destroy);

Test(object, is_zeroed_and_destroyed_with_its_last_reference)
{
    struct zepi_thing *thing = zepi_object_create(&zepi_thing_type);
    cr_assert_eq(thing->number, 0);
    thing->number = 5;
    zepi_retain(thing);
    zepi_release(thing);
    cr_assert_eq(destroyed, 0);
    cr_assert(zepi_object_is(thing, &zepi_thing_type));
    zepi_release(thing);
    cr_assert_eq(destroyed, 5);
    // Its memory is still there, and says so.
    cr_assert(!zepi_object_is(thing, &zepi_thing_type));
    cr_assert_eq(zepi_release_any(thing), ZEPI_ERROR_INVALID_OBJECT);
}

Test(object, memory_is_used_again_oldest_first)
{
    struct zepi_thing *first = zepi_object_create(&zepi_thing_type);
    zepi_release(first);
    // A whole slab is used before the first one's memory is reused.
    for (int i = 0; i < 31; i++) {
        struct zepi_thing *next = zepi_object_create(&zepi_thing_type);
        cr_assert_neq(next, first);
        zepi_release(next);
    }
    struct zepi_thing *again = zepi_object_create(&zepi_thing_type);
    cr_assert_eq(again, first);
    cr_assert_eq(again->number, 0);
    zepi_release(again);
}

// Of so many new threads two have the shard 0.
enum { THREADS = 2 * ZEPI_THREAD_SHARDS, AT_ONCE = 3, TIMES = 50000 };
static pthread_barrier_t both;

static void *create_and_release(void *out_wrong)
{
    int wrong = 0;
    if (zepi_thread_shard() != 0)
        return NULL;
    pthread_barrier_wait(&both);
    for (int i = 0; i < TIMES; i++) {
        struct zepi_thing *things[AT_ONCE];
        for (int at = 0; at < AT_ONCE; at++) {
            things[at] = zepi_object_create(&zepi_thing_type);
            // Not 0: the other thread has it, too.
            wrong += __atomic_exchange_n(&things[at]->number, 1, __ATOMIC_RELAXED) != 0;
        }
        for (int at = 0; at < AT_ONCE; at++) {
            wrong += __atomic_exchange_n(&things[at]->number, 0, __ATOMIC_RELAXED) != 1;
            zepi_release(things[at]);
        }
    }
    *(int *)out_wrong = wrong;
    return NULL;
}

Test(object, has_one_thread_at_a_time, .timeout = 30)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    cr_assert_eq(pthread_barrier_init(&both, NULL, 2), 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, create_and_release, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_assert_eq(wrong[i], 0);
    }
}

static void count_visit(void *user, void *object)
{
    ++*(int *)user;
    zepi_release(object);
}

Test(object, is_visited_from_its_publication_to_its_end)
{
    int visits = 0;
    struct zepi_thing *thing = zepi_object_create(&zepi_thing_type);
    zepi_object_visit_all(&zepi_thing_type, count_visit, &visits);
    cr_assert_eq(visits, 0);
    zepi_object_publish(thing);
    zepi_object_visit_all(&zepi_thing_type, count_visit, &visits);
    cr_assert_eq(visits, 1);
    zepi_release(thing);
    zepi_object_visit_all(&zepi_thing_type, count_visit, &visits);
    cr_assert_eq(visits, 1);
}

enum { SLAB = 32 };

static void *release_all(void *user)
{
    struct zepi_thing **things = user;
    for (int i = 0; i < SLAB; i++)
        zepi_release(things[i]);
    return NULL;
}

Test(object, memory_that_another_thread_released_is_used_before_new_memory)
{
    struct zepi_thing *things[SLAB];
    pthread_t thread;
    for (int i = 0; i < SLAB; i++)
        things[i] = zepi_object_create(&zepi_thing_type);
    cr_assert_eq(pthread_create(&thread, NULL, release_all, things), 0);
    pthread_join(thread, NULL);
    for (int i = 0; i < SLAB; i++) {
        struct zepi_thing *again = zepi_object_create(&zepi_thing_type);
        int at = 0;
        while (at < SLAB && things[at] != again)
            at++;
        cr_assert_lt(at, SLAB);
    }
}

Test(object, of_another_type_or_none_is_told)
{
    struct zepi_thing *thing = zepi_object_create(&zepi_thing_type);
    _Alignas(16) char foreign[64] = {0};
    cr_assert_eq(zepi_check_object(thing, &zepi_thing_type), ZEPI_SUCCESS);
    cr_assert_eq(zepi_check_object(thing, &zepi_other_type), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi_check_object(NULL, &zepi_thing_type), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi_check_object(foreign, &zepi_thing_type), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi_retain_any(foreign), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi_retain_any(foreign + 1), ZEPI_ERROR_INVALID_OBJECT);
    zepi_release(thing);
}

Test(object, on_its_way_out_cannot_be_retained)
{
    struct zepi_thing *thing = zepi_object_create(&zepi_thing_type);
    cr_assert(zepi_try_retain(thing));
    zepi_release(thing);
    zepi_release(thing);
    cr_assert(!zepi_try_retain(thing));
}
