// SPDX-License-Identifier: MIT
#include "sync/deferred_free.h"

// Between two looks at queues that go on.
#define LOOK_STEP (ZEPI_DEFERRED_LIMIT / 8)

// Takes out the objects that may go, to be destroyed. The list is in the order of the epochs.
static struct zepi_deferred *take_finished_locked(struct zepi_deferred_list *list)
{
    if (!list->first)
        return NULL;
    const uint64_t epoch = zepi_completion_finished_epoch_locked(&list->points);
    uint64_t weight = atomic_load_explicit(&list->weight, memory_order_relaxed);
    struct zepi_deferred *first = list->first;
    struct zepi_deferred *last = NULL;
    for (struct zepi_deferred *at = first; at && at->epoch <= epoch; at = at->next) {
        last = at;
        weight -= at->weight;
    }
    if (!last)
        return NULL;
    list->first = last->next;
    if (!list->first)
        list->last = NULL;
    last->next = NULL;
    atomic_store_explicit(&list->weight, weight, memory_order_relaxed);
    list->looked_weight = weight;
    list->destroying++;
    return first;
}

static void note_destroyed(struct zepi_deferred_list *list, bool *is_destroyed)
{
    zepi_mutex_lock(&list->points.mutex);
    *is_destroyed = true;
    zepi_condition_wake_all(&list->points.changed);
    zepi_mutex_unlock(&list->points.mutex);
}

static void destroy_all(struct zepi_deferred_list *list, struct zepi_deferred *taken)
{
    if (!taken)
        return;
    while (taken) {
        struct zepi_deferred *next = taken->next;
        bool *is_destroyed = taken->is_destroyed;
        taken->destroy(taken);
        if (is_destroyed)
            note_destroyed(list, is_destroyed);
        taken = next;
    }
    zepi_mutex_lock(&list->points.mutex);
    if (--list->destroying == 0)
        zepi_condition_wake_all(&list->points.changed);
    zepi_mutex_unlock(&list->points.mutex);
}

static void destroy_finished(struct zepi_deferred_list *list)
{
    zepi_mutex_lock(&list->points.mutex);
    struct zepi_deferred *finished = take_finished_locked(list);
    zepi_mutex_unlock(&list->points.mutex);
    destroy_all(list, finished);
}

void zepi_deferred_list_finish(struct zepi_deferred_list *list)
{
    // Without a queue, objects are destroyed at once.
    assert(!list->first);
    zepi_completion_points_finish(&list->points);
}

static void append_locked(struct zepi_deferred_list *list, struct zepi_deferred *deferred)
{
    deferred->next = NULL;
    if (list->last)
        list->last->next = deferred;
    else
        list->first = deferred;
    list->last = deferred;
    const uint64_t weight = atomic_load_explicit(&list->weight, memory_order_relaxed);
    atomic_store_explicit(&list->weight, weight + deferred->weight, memory_order_relaxed);
}

// Whether so much is in the list that the queues are to be looked at.
static bool is_look_due_locked(struct zepi_deferred_list *list)
{
    const uint64_t weight = atomic_load_explicit(&list->weight, memory_order_relaxed);
    if (weight < ZEPI_DEFERRED_LIMIT || weight < list->looked_weight + LOOK_STEP)
        return false;
    list->looked_weight = weight;
    return true;
}

// Returns when the object, of the epoch, is destroyed: by this thread, by another one that has
// taken it out of the list, or by the one that releases the queue which holds it up. A queue whose
// wait fails (the device is lost, or there is no memory for it) keeps the object in the list.
static void await_destruction(struct zepi_deferred_list *list, struct zepi_deferred *deferred,
                              uint64_t epoch, const bool *is_destroyed)
{
    bool is_held_up = false;
    zepi_completion_look_at_all(&list->points, epoch, UINT64_MAX);
    zepi_mutex_lock(&list->points.mutex);
    while (!*is_destroyed && !is_held_up) {
        // A queue becomes idle without the mutex, and without a thread that looks at the list: one
        // that is idle here lets its objects be taken.
        is_held_up = zepi_completion_is_held_up_locked(&list->points, epoch);
        struct zepi_deferred *finished = take_finished_locked(list);
        if (finished) {
            is_held_up = false;
            zepi_mutex_unlock(&list->points.mutex);
            destroy_all(list, finished);
            zepi_mutex_lock(&list->points.mutex);
        } else if (is_held_up) {
            deferred->is_destroyed = NULL;
        } else {
            zepi_condition_wait(&list->points.changed, &list->points.mutex);
        }
    }
    zepi_mutex_unlock(&list->points.mutex);
}

void zepi_defer_free(struct zepi_context *context, struct zepi_deferred *deferred)
{
    struct zepi_deferred_list *list = zepi_deferred_list_of(context);
    bool is_destroyed = false;
    const bool is_urgent = deferred->is_urgent;
    deferred->is_destroyed = is_urgent ? &is_destroyed : NULL;
    zepi_mutex_lock(&list->points.mutex);
    const uint64_t epoch = zepi_completion_begin_epoch_locked(&list->points);
    deferred->epoch = epoch;
    append_locked(list, deferred);
    struct zepi_deferred *finished = take_finished_locked(list);
    const bool is_look_due = is_look_due_locked(list);
    zepi_mutex_unlock(&list->points.mutex);
    destroy_all(list, finished);
    if (is_urgent)
        await_destruction(list, deferred, epoch, &is_destroyed);
    if (is_look_due)
        zepi_completion_look_at_all(&list->points, epoch, 0);
}

bool zepi_deferred_drain(struct zepi_context *context, uint64_t patience_ns)
{
    struct zepi_deferred_list *list = zepi_deferred_list_of(context);
    // Relaxed: a thread sees its own additions.
    if (atomic_load_explicit(&list->weight, memory_order_relaxed) == 0)
        return false;
    zepi_completion_look_at_all(&list->points,
                                atomic_load_explicit(&list->points.epoch, memory_order_relaxed),
                                patience_ns);
    destroy_finished(list);
    return true;
}

void zepi_deferred_end_wait(struct zepi_context *context, struct zepi_completion_point *point,
                            struct zepi_completion_mark mark)
{
    struct zepi_deferred_list *list = zepi_deferred_list_of(context);
    zepi_completion_end_wait(&list->points, point, mark);
    destroy_finished(list);
}

void zepi_deferred_remove_point(struct zepi_context *context, struct zepi_completion_point *point)
{
    struct zepi_deferred_list *list = zepi_deferred_list_of(context);
    zepi_completion_point_remove(&list->points, point);
    destroy_finished(list);
}

// ---- The context's part ----

static void deferred_finish(struct zepi_context *context)
{
    zepi_deferred_list_finish(zepi_deferred_list_of(context));
}

static bool deferred_reclaim(struct zepi_context *context, uint64_t patience_ns)
{
    struct zepi_deferred_list *list = zepi_deferred_list_of(context);
    const bool is_any = zepi_deferred_drain(context, patience_ns);
    // Objects that other threads took out of the list count once they are destroyed.
    zepi_mutex_lock(&list->points.mutex);
    while (list->destroying > 0)
        zepi_condition_wait(&list->points.changed, &list->points.mutex);
    zepi_mutex_unlock(&list->points.mutex);
    return is_any;
}

const struct zepi_context_part zepi_deferred_part = {
    .size_bytes = sizeof(struct zepi_deferred_list),
    .finish = deferred_finish,
    .reclaim = deferred_reclaim,
};
