// SPDX-License-Identifier: MIT
// Timelines beside full vectors: lists come and go, get commands, complete and are polled, in any
// order and on several threads; memory is allocated, used and freed, objects are given up. Each
// piece of deferred work knows every command that may use its object: it runs after all of them,
// and, once the device has ended what ends, it has run unless a list that never ends may hold it
// up.
#include "sync/deferred.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 40
#define OBJECTS 64 // of a thread
#define THREADS 3
#define STEPS 4000

static void fail(const char *what)
{
    fprintf(stderr, "timeline_model: %s\n", what);
    abort();
}

// ---- Lists, and the device's own truth about them ----

struct list {
    struct zepi_mutex mutex; // guards the members below, and commands of the timeline
    bool is_there;
    bool is_going;
    bool is_endless; // the device does not end its commands until the test does
    struct zepi_timeline *timeline;
    atomic_uint_fast64_t done;  // what the device has done
    atomic_uint_fast64_t lives; // of lists at this place; odd: one is there
};

struct model {
    struct zepi_sync sync;
    struct list lists[LISTS];
    atomic_uint pending;
};

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((*state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % limit;
}

static void raise_done(struct list *list, uint64_t seqno)
{
    uint64_t done = atomic_load(&list->done);
    while (done < seqno && !atomic_compare_exchange_weak(&list->done, &done, seqno))
        ;
}

static void poll_list(void *owner, uint64_t timeout_ns)
{
    struct list *list = owner;
    if (timeout_ns == UINT64_MAX && !list->is_endless)
        raise_done(list, zepi_timeline_now(list->timeline).seqno);
    zepi_timeline_reach(list->timeline, atomic_load(&list->done));
}

static void add_list(struct model *model, struct list *list, bool is_endless)
{
    zepi_mutex_lock(&list->mutex);
    if (!list->is_there && !list->is_going) {
        list->is_endless = is_endless;
        if (zepi_timeline_add(&model->sync, list, poll_list, &list->mutex, true, &list->timeline) !=
            ZEPI_SUCCESS)
            fail("no memory");
        atomic_store(&list->done, zepi_timeline_now(list->timeline).seqno);
        atomic_fetch_add(&list->lives, 1);
        list->is_there = true;
    }
    zepi_mutex_unlock(&list->mutex);
}

static void remove_list(struct list *list)
{
    zepi_mutex_lock(&list->mutex);
    struct zepi_timeline *timeline = list->is_there ? list->timeline : NULL;
    list->is_going = list->is_going || timeline;
    list->is_there = false;
    zepi_mutex_unlock(&list->mutex);
    if (!timeline)
        return;
    zepi_timeline_leave(timeline);
    raise_done(list, zepi_timeline_now(timeline).seqno);
    atomic_fetch_add(&list->lives, 1);
    zepi_timeline_remove(timeline);
    zepi_mutex_lock(&list->mutex);
    list->is_going = false;
    zepi_mutex_unlock(&list->mutex);
}

// ---- Objects ----

struct command {
    struct list *list;
    uint64_t lives;
    uint64_t seqno;
};

struct object {
    struct zepi_deferred deferred;
    struct model *model;
    uint64_t epoch;
    bool is_used;        // by the thread that it belongs to
    atomic_bool is_over; // the deferred work has run
    uint32_t command_count;
    struct command commands[LISTS + 8]; // that may use it
};

static bool is_done(const struct command *command)
{
    // In this order: the next list at the place begins with a lower number than the last may have.
    return atomic_load(&command->list->done) >= command->seqno ||
           atomic_load(&command->list->lives) != command->lives;
}

static void object_run(struct zepi_deferred *deferred)
{
    struct object *object = (struct object *)deferred;
    for (uint32_t i = 0; i < object->command_count; i++) {
        if (!is_done(&object->commands[i]))
            fail("work ran before a command that may use its object was over");
    }
    atomic_fetch_sub(&object->model->pending, 1);
    atomic_store(&object->is_over, true);
}

static void note_command_locked(struct object *object, struct list *list, uint64_t seqno)
{
    for (uint32_t i = 0; i < object->command_count; i++) {
        if (object->commands[i].list == list && !is_done(&object->commands[i])) {
            object->commands[i].seqno = seqno;
            return;
        }
    }
    if (object->command_count < LISTS + 8)
        object->commands[object->command_count++] =
            (struct command){list, atomic_load(&list->lives), seqno};
}

static void use_object(struct object *object, struct list *list)
{
    zepi_mutex_lock(&list->mutex);
    if (list->is_there)
        note_command_locked(object, list, zepi_timeline_submit(list->timeline));
    zepi_mutex_unlock(&list->mutex);
}

// Everything that was submitted so far may use it.
static void object_note_all(struct object *object)
{
    object->command_count = 0;
    for (unsigned i = 0; i < LISTS; i++) {
        struct list *list = &object->model->lists[i];
        zepi_mutex_lock(&list->mutex);
        if (list->is_there)
            note_command_locked(object, list, zepi_timeline_now(list->timeline).seqno);
        zepi_mutex_unlock(&list->mutex);
    }
}

enum give { FREE_MEMORY, GIVE_UP_OBJECT, FREE_AT_POINT, GIVE_UP_NOW, GIVES };

static void object_give(struct object *object, enum give how)
{
    struct zepi_sync *sync = &object->model->sync;
    struct zepi_use use = zepi_use_now(sync, object->epoch);
    object->deferred.bytes = 1;
    object->deferred.run = object_run;
    if (how == GIVE_UP_OBJECT || how == GIVE_UP_NOW) {
        object_note_all(object);
        use = zepi_use_now(sync, 0);
    } else if (how == FREE_AT_POINT && object->command_count == 1 &&
               !is_done(&object->commands[0])) {
        struct list *list = object->commands[0].list;
        zepi_mutex_lock(&list->mutex);
        if (list->is_there)
            use = zepi_use_until((struct zepi_point){list->timeline, object->commands[0].seqno});
        zepi_mutex_unlock(&list->mutex);
    }
    // As zepi_defer_no_longer; a list without end would hold the test up.
    if (how == GIVE_UP_NOW && zepi_use_wait(sync, &use)) {
        for (uint32_t i = 0; i < object->command_count; i++) {
            if (!is_done(&object->commands[i]))
                fail("a wait ended early");
        }
    }
    zepi_defer_until(sync, use, &object->deferred);
}

// ---- Threads ----

struct worker {
    struct model *model;
    uint64_t random;
    struct object objects[OBJECTS];
};

static void step_lists(struct worker *worker, struct list *list, uint64_t choice)
{
    struct model *model = worker->model;
    switch (choice) {
    case 0:
        add_list(model, list, random_below(&worker->random, 16) == 0);
        break;
    case 1:
        zepi_mutex_lock(&list->mutex);
        const bool goes = !list->is_endless;
        zepi_mutex_unlock(&list->mutex);
        if (goes)
            remove_list(list);
        break;
    case 2:
        zepi_sync_poll(&model->sync, random_below(&worker->random, 2));
        break;
    default: // the device gets on, and most times a thread hears of it
        zepi_mutex_lock(&list->mutex);
        struct zepi_timeline *timeline =
            list->is_there && !list->is_endless ? list->timeline : NULL;
        const uint64_t now = timeline ? zepi_timeline_now(timeline).seqno : 0;
        const uint64_t done = now > 2 && choice % 2 ? now - 2 : now;
        if (timeline)
            raise_done(list, done);
        zepi_mutex_unlock(&list->mutex);
        if (timeline && choice != 4)
            zepi_timeline_reach(timeline, done);
    }
}

static void step_object(struct worker *worker, struct object *object, struct list *list,
                        uint64_t choice)
{
    if (!object->is_used) {
        if (!atomic_load(&object->is_over))
            return;
        object->is_used = true;
        object->model = worker->model;
        object->command_count = 0;
        object->epoch = zepi_sync_epoch(&worker->model->sync);
        return;
    }
    if (choice < 3) {
        use_object(object, list);
        return;
    }
    object->is_used = false;
    atomic_store(&object->is_over, false);
    atomic_fetch_add(&worker->model->pending, 1);
    object_give(object, (enum give)random_below(&worker->random, GIVES));
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned step = 0; step < STEPS; step++) {
        struct list *list = &worker->model->lists[random_below(&worker->random, LISTS)];
        struct object *object = &worker->objects[random_below(&worker->random, OBJECTS)];
        const uint64_t choice = random_below(&worker->random, 24);
        if (choice < 8)
            step_lists(worker, list, choice);
        else
            step_object(worker, object, list, choice % 6);
    }
    return NULL;
}

// ---- The end of a round ----

// Whether a list without end may use it, as far as epochs tell.
static bool is_held_up(const struct object *object)
{
    const struct zepi_use *use = &object->deferred.use;
    for (unsigned i = 0; i < LISTS; i++) {
        const struct list *list = &object->model->lists[i];
        if (list->is_there && list->is_endless && !zepi_timeline_is_idle(list->timeline) &&
            (use->point.timeline == list->timeline ||
             (use->since != ZEPI_NO_OTHERS &&
              (atomic_load(&list->timeline->seen_submitted) !=
                   zepi_timeline_now(list->timeline).seqno ||
               atomic_load(&list->timeline->quiet_since) > use->since))))
            return true;
    }
    return false;
}

static void check_drained(struct model *model, struct worker *workers, unsigned count)
{
    for (unsigned i = 0; i < LISTS; i++) {
        struct list *list = &model->lists[i];
        if (list->is_there && !list->is_endless)
            raise_done(list, zepi_timeline_now(list->timeline).seqno);
    }
    zepi_sync_poll(&model->sync, 0);
    for (unsigned i = 0; i < count * OBJECTS; i++) {
        struct object *object = &workers[i / OBJECTS].objects[i % OBJECTS];
        if (!object->is_used && !atomic_load(&object->is_over) && !is_held_up(object))
            fail("work that nothing holds up did not run");
    }
}

static void check_end(struct model *model)
{
    for (unsigned i = 0; i < LISTS; i++)
        remove_list(&model->lists[i]);
    if (atomic_load(&model->pending) > 0)
        fail("work is left without a list");
    if (!zepi_sync_is_idle(&model->sync) || atomic_load(&model->sync.deferred_bytes) > 0)
        fail("the context is not idle without a list");
    zepi_sync_finish(&model->sync);
}

static void run_round(unsigned thread_count, uint64_t seed)
{
    static struct model model;
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    memset(&model, 0, sizeof(model));
    memset(workers, 0, sizeof(workers));
    zepi_sync_init(&model.sync);
    for (unsigned i = 0; i < thread_count; i++) {
        workers[i].model = &model;
        workers[i].random = seed * 1000 + i + 1;
        for (unsigned at = 0; at < OBJECTS; at++)
            atomic_store(&workers[i].objects[at].is_over, true);
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    check_drained(&model, workers, thread_count);
    check_end(&model);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        run_round(1, seed);
    for (uint64_t seed = 1; seed <= 30; seed++)
        run_round(THREADS, seed);
    return 0;
}
