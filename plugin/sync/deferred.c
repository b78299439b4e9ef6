// SPDX-License-Identifier: MIT
#include "sync/deferred.h"

#include "core/sys.h"

// Between two polls of timelines that go on.
#define POLL_STEP (ZEPI_DEFERRED_LIMIT / 8)

// ---- The work of a timeline ----

static void insert_locked(struct zepi_timeline *timeline, struct zepi_deferred *deferred)
{
    const uint64_t seqno = deferred->use.point.seqno;
    struct zepi_deferred **link = &timeline->first;
    if (timeline->last && timeline->last->use.point.seqno <= seqno)
        link = &timeline->last->next;
    while (*link && (*link)->use.point.seqno <= seqno)
        link = &(*link)->next;
    deferred->next = *link;
    *link = deferred;
    if (!deferred->next)
        timeline->last = deferred;
}

static void note_first_locked(struct zepi_timeline *timeline)
{
    atomic_store(&timeline->first_deferred,
                 timeline->first ? timeline->first->use.point.seqno : UINT64_MAX);
}

// Has the work wait for its use. False: that is over.
static bool place_locked(struct zepi_sync *sync, struct zepi_deferred *deferred)
{
    struct zepi_use *use = &deferred->use;
    while (use->point.timeline) {
        struct zepi_timeline *timeline = use->point.timeline;
        // Before `completed` is read: as in zepi_timeline_reach, the other way round.
        if (use->point.seqno <
            atomic_load_explicit(&timeline->first_deferred, memory_order_relaxed))
            atomic_store(&timeline->first_deferred, use->point.seqno);
        if (atomic_load(&timeline->completed) < use->point.seqno) {
            insert_locked(timeline, deferred);
            return true;
        }
        note_first_locked(timeline);
        use->point = zepi_sync_next(sync, timeline, use->since);
    }
    return false;
}

static void count_bytes_locked(struct zepi_sync *sync, uint64_t added, uint64_t removed)
{
    const uint64_t bytes = atomic_load_explicit(&sync->deferred_bytes, memory_order_relaxed);
    atomic_store_explicit(&sync->deferred_bytes, bytes + added - removed, memory_order_relaxed);
    if (removed > 0)
        sync->polled_bytes = bytes - removed;
}

// Takes out the work whose use is over, in order. Work that still waits for other timelines goes on
// to the next one.
static struct zepi_deferred *take_reached_locked(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    struct zepi_deferred *reached = NULL;
    struct zepi_deferred **end = &reached;
    uint64_t bytes = 0;
    while (timeline->first && zepi_point_is_reached(timeline->first->use.point)) {
        struct zepi_deferred *deferred = timeline->first;
        timeline->first = deferred->next;
        if (!timeline->first)
            timeline->last = NULL;
        deferred->use.point = zepi_sync_next(sync, timeline, deferred->use.since);
        if (place_locked(sync, deferred))
            continue;
        bytes += deferred->bytes;
        deferred->next = NULL;
        *end = deferred;
        end = &deferred->next;
    }
    note_first_locked(timeline);
    if (reached)
        count_bytes_locked(sync, 0, bytes);
    return reached;
}

void zepi_timeline_run_deferred(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    zepi_mutex_lock(&sync->mutex);
    struct zepi_deferred *reached = take_reached_locked(timeline);
    sync->running += reached != NULL;
    zepi_mutex_unlock(&sync->mutex);
    if (!reached)
        return;
    while (reached) {
        struct zepi_deferred *next = reached->next;
        reached->run(reached);
        reached = next;
    }
    zepi_mutex_lock(&sync->mutex);
    if (--sync->running == 0)
        zepi_condition_wake_all(&sync->changed);
    zepi_mutex_unlock(&sync->mutex);
}

// ---- Polls and waits ----

// Polls the owner without the mutex. It stays meanwhile.
static void poll_locked(struct zepi_sync *sync, struct zepi_timeline *timeline, uint64_t timeout_ns)
{
    timeline->pins++;
    zepi_mutex_unlock(&sync->mutex);
    timeline->poll(timeline->owner, timeout_ns);
    zepi_mutex_lock(&sync->mutex);
    if (--timeline->pins == 0)
        zepi_condition_wake_all(&sync->changed);
}

bool zepi_sync_poll(struct zepi_sync *sync, uint64_t timeout_ns)
{
    // Relaxed: a thread sees its own additions.
    if (atomic_load_explicit(&sync->deferred_bytes, memory_order_relaxed) == 0)
        return false;
    zepi_mutex_lock(&sync->mutex);
    zepi_sync_begin_epoch_locked(sync);
    struct zepi_timeline *timeline = zepi_sync_next(sync, NULL, 0).timeline;
    while (timeline) {
        // Work moves on to timelines that are still to come (struct zepi_use).
        if (timeline->owner && timeline->first) {
            const uint64_t begin_ns = timeout_ns > 0 ? zepi_clock_ns() : 0;
            poll_locked(sync, timeline, timeout_ns);
            // Memory waits for every list: after one that was not there in time, a wait for the
            // others is in vain.
            if (timeout_ns > 0 && zepi_clock_ns() - begin_ns >= timeout_ns &&
                !zepi_timeline_is_idle(timeline))
                timeout_ns = 0;
        }
        timeline = zepi_sync_next(sync, timeline, 0).timeline;
    }
    zepi_mutex_unlock(&sync->mutex);
    return true;
}

// A list that goes completes its timeline when it has gone.
static bool wait_for_point(struct zepi_sync *sync, struct zepi_point point)
{
    bool is_failed = false;
    zepi_mutex_lock(&sync->mutex);
    while (!zepi_point_is_reached(point) && !is_failed) {
        if (!point.timeline->owner) {
            zepi_condition_wait(&sync->changed, &sync->mutex);
            continue;
        }
        poll_locked(sync, point.timeline, UINT64_MAX);
        is_failed = point.timeline->owner && !zepi_point_is_reached(point);
    }
    zepi_mutex_unlock(&sync->mutex);
    return !is_failed;
}

bool zepi_use_wait(struct zepi_sync *sync, struct zepi_use *use)
{
    while (!zepi_use_is_over(sync, use)) {
        if (!wait_for_point(sync, use->point))
            return false;
    }
    return true;
}

// ---- Deferring ----

// Whether so much waits that the timelines are to be polled.
static bool is_poll_due_locked(struct zepi_sync *sync)
{
    const uint64_t bytes = atomic_load_explicit(&sync->deferred_bytes, memory_order_relaxed);
    if (bytes < ZEPI_DEFERRED_LIMIT || bytes < sync->polled_bytes + POLL_STEP)
        return false;
    sync->polled_bytes = bytes;
    return true;
}

void zepi_defer_until(struct zepi_sync *sync, struct zepi_use use, struct zepi_deferred *deferred)
{
    bool is_due = false;
    bool is_placed = false;
    if (!zepi_use_is_over(sync, &use)) {
        deferred->use = use;
        zepi_mutex_lock(&sync->mutex);
        zepi_sync_begin_epoch_locked(sync);
        is_placed = place_locked(sync, deferred);
        if (is_placed) {
            count_bytes_locked(sync, deferred->bytes, 0);
            is_due = is_poll_due_locked(sync);
        }
        zepi_mutex_unlock(&sync->mutex);
    }
    // Placed work is another thread's by now.
    if (!is_placed)
        deferred->run(deferred);
    if (is_due)
        zepi_sync_poll(sync, 0);
}

void zepi_defer(const struct zepi_context *context, struct zepi_deferred *deferred)
{
    struct zepi_sync *sync = zepi_sync_of(context);
    zepi_defer_until(sync, zepi_use_now(sync, 0), deferred);
}

void zepi_defer_no_longer(const struct zepi_context *context, struct zepi_deferred *deferred)
{
    struct zepi_sync *sync = zepi_sync_of(context);
    struct zepi_use use = zepi_use_now(sync, 0);
    zepi_use_wait(sync, &use);
    zepi_defer_until(sync, use, deferred);
}

// ---- The component ----

static zepi_result_t sync_init(struct zepi_context *context)
{
    zepi_sync_init(zepi_sync_of(context));
    return ZEPI_SUCCESS;
}

static void sync_finish(struct zepi_context *context)
{
    // Without a timeline, work is run at once.
    assert(atomic_load_explicit(&zepi_sync_of(context)->deferred_bytes, memory_order_relaxed) == 0);
    zepi_sync_finish(zepi_sync_of(context));
}

static bool sync_reclaim(struct zepi_context *context, uint64_t timeout_ns)
{
    struct zepi_sync *sync = zepi_sync_of(context);
    const bool is_any = zepi_sync_poll(sync, timeout_ns);
    // Memory that other threads are about to give back counts once that has happened.
    zepi_mutex_lock(&sync->mutex);
    while (sync->running > 0)
        zepi_condition_wait(&sync->changed, &sync->mutex);
    zepi_mutex_unlock(&sync->mutex);
    return is_any;
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_SYNC, .size_bytes = sizeof(struct zepi_sync),
                      .init = sync_init, .finish = sync_finish, .reclaim = sync_reclaim);
