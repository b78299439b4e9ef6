// SPDX-License-Identifier: MIT
#include "sync/completion_point.h"

#include "core/alloc.h"
#include "core/clock.h"

#include <string.h>

void zepi_completion_points_finish(struct zepi_completion_points *points)
{
    struct zepi_completion_block *next =
        atomic_load_explicit(&points->first.next, memory_order_relaxed);
    while (next) {
        struct zepi_completion_block *block = next;
        next = atomic_load_explicit(&block->next, memory_order_relaxed);
        zepi_sys_free(block);
    }
}

// ---- Points ----

// The points that have queues, one after the other. Without the mutex, queues that come or go
// meanwhile may be among them or not.
struct cursor {
    struct zepi_completion_block *block;
    uint32_t left;
};

static struct cursor first_point(struct zepi_completion_points *points)
{
    // Acquire, here and below: a queue that this thread knows of is seen.
    return (struct cursor){&points->first,
                           atomic_load_explicit(&points->first.taken, memory_order_acquire)};
}

static struct zepi_completion_point *next_point(struct cursor *at)
{
    while (at->left == 0) {
        at->block = atomic_load_explicit(&at->block->next, memory_order_acquire);
        if (!at->block)
            return NULL;
        at->left = atomic_load_explicit(&at->block->taken, memory_order_acquire);
    }
    const unsigned slot = (unsigned)__builtin_ctz(at->left);
    at->left &= at->left - 1;
    return &at->block->points[slot];
}

static struct zepi_completion_block *create_block(void)
{
    struct zepi_completion_block *block = zepi_sys_allocate_lines(sizeof(*block));
    if (block)
        memset(block, 0, sizeof(*block));
    return block;
}

// A free point, or NULL: *out_last is the last block then.
static struct zepi_completion_point *take_point_locked(struct zepi_completion_points *points,
                                                       struct zepi_completion_block **out_last)
{
    struct zepi_completion_block *block = &points->first;
    for (; block; block = atomic_load_explicit(&block->next, memory_order_relaxed)) {
        const uint32_t taken = atomic_load_explicit(&block->taken, memory_order_relaxed);
        *out_last = block;
        if (taken == UINT32_MAX)
            continue;
        const uint32_t slot = (uint32_t)__builtin_ctz(~taken);
        if (atomic_load_explicit(&block->used, memory_order_relaxed) <= slot)
            atomic_store_explicit(&block->used, slot + 1, memory_order_release);
        // Release, here and above: a thread that sees the queue sees that it has nothing to do.
        atomic_store_explicit(&block->taken, taken | UINT32_C(1) << slot, memory_order_release);
        return &block->points[slot];
    }
    return NULL;
}

// The point's last queue left `submitted` and `completed` equal: the new one goes on from there.
static void fill_point_locked(struct zepi_completion_points *points,
                              struct zepi_completion_point *point, void *queue,
                              zepi_completion_look *look)
{
    point->queue = queue;
    point->look = look;
    point->synchronized_epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
    atomic_store_explicit(&point->quiet_since, UINT64_MAX, memory_order_relaxed);
}

zepi_result_t zepi_completion_point_add(struct zepi_completion_points *points, void *queue,
                                        zepi_completion_look *look,
                                        struct zepi_completion_point **out_point)
{
    struct zepi_completion_block *more = NULL;
    struct zepi_completion_point *point;
    for (;;) {
        struct zepi_completion_block *last;
        zepi_mutex_lock(&points->mutex);
        point = take_point_locked(points, &last);
        if (!point && more) {
            // Release: a thread that finds the block sees it empty.
            atomic_store_explicit(&last->next, more, memory_order_release);
            more = NULL;
            point = take_point_locked(points, &last);
        }
        if (point)
            fill_point_locked(points, point, queue, look);
        zepi_mutex_unlock(&points->mutex);
        if (point)
            break;
        more = create_block();
        if (!more)
            return zepi_fail_no_memory();
    }
    zepi_sys_free(more);
    *out_point = point;
    return ZEPI_SUCCESS;
}

void zepi_completion_point_leave(struct zepi_completion_points *points,
                                 struct zepi_completion_point *point)
{
    zepi_mutex_lock(&points->mutex);
    while (point->pins > 0)
        zepi_condition_wait(&points->changed, &points->mutex);
    point->queue = NULL;
    zepi_mutex_unlock(&points->mutex);
}

void zepi_completion_point_remove(struct zepi_completion_points *points,
                                  struct zepi_completion_point *point)
{
    struct zepi_completion_block *block = &points->first;
    zepi_mutex_lock(&points->mutex);
    // A queue that could not be waited for counts as complete.
    zepi_completion_point_reach(point,
                                atomic_load_explicit(&point->submitted, memory_order_relaxed));
    while (point < block->points || point >= block->points + ZEPI_COMPLETION_POINTS)
        block = atomic_load_explicit(&block->next, memory_order_relaxed);
    atomic_fetch_and_explicit(&block->taken, ~(UINT32_C(1) << (point - block->points)),
                              memory_order_release);
    zepi_mutex_unlock(&points->mutex);
}

uint32_t zepi_completion_point_number(const struct zepi_completion_points *points,
                                      const struct zepi_completion_point *point)
{
    const uintptr_t offset_bytes = (uintptr_t)point - (uintptr_t)points->first.points;
    return offset_bytes < sizeof(points->first.points) ? (uint32_t)(offset_bytes / sizeof(*point))
                                                       : ZEPI_NO_QUEUE_NUMBER;
}

// ---- How far they are ----

void zepi_completion_point_reach(struct zepi_completion_point *point, uint64_t number)
{
    // Never lowered: waits of two threads may overlap.
    uint64_t completed = atomic_load_explicit(&point->completed, memory_order_relaxed);
    while (completed < number &&
           !atomic_compare_exchange_weak_explicit(&point->completed, &completed, number,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

struct zepi_completion_mark zepi_completion_begin_wait(struct zepi_completion_points *points,
                                                       struct zepi_completion_point *point)
{
    struct zepi_completion_mark mark;
    // Acquire: the commands that use objects freed up to this epoch have been submitted.
    mark.epoch = atomic_load_explicit(&points->epoch, memory_order_acquire);
    mark.submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
    return mark;
}

void zepi_completion_end_wait(struct zepi_completion_points *points,
                              struct zepi_completion_point *point, struct zepi_completion_mark mark)
{
    zepi_completion_point_reach(point, mark.submitted);
    zepi_mutex_lock(&points->mutex);
    if (point->synchronized_epoch < mark.epoch)
        point->synchronized_epoch = mark.epoch;
    zepi_mutex_unlock(&points->mutex);
}

// Whether the queue may use objects freed up to `epoch`. Once it does not, it never does again:
// what an idle queue gets later uses nothing that was freed before.
static bool holds_up_locked(struct zepi_completion_points *points,
                            struct zepi_completion_point *point, uint64_t epoch)
{
    if (zepi_completion_point_is_idle(point)) {
        point->synchronized_epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
        return false;
    }
    return point->synchronized_epoch < epoch;
}

// The queue, which stays until it is unpinned, if it holds up objects freed up to `epoch`.
static void *pin_queue(struct zepi_completion_points *points, struct zepi_completion_point *point,
                       uint64_t epoch)
{
    zepi_mutex_lock(&points->mutex);
    void *queue = point->queue && holds_up_locked(points, point, epoch) ? point->queue : NULL;
    if (queue)
        point->pins++;
    zepi_mutex_unlock(&points->mutex);
    return queue;
}

// Returns whether the queue still holds up objects freed up to `epoch`.
static bool unpin_queue(struct zepi_completion_points *points, struct zepi_completion_point *point,
                        uint64_t epoch)
{
    zepi_mutex_lock(&points->mutex);
    const bool holds_up = holds_up_locked(points, point, epoch);
    if (--point->pins == 0)
        zepi_condition_wake_all(&points->changed);
    zepi_mutex_unlock(&points->mutex);
    return holds_up;
}

void zepi_completion_look_at_all(struct zepi_completion_points *points, uint64_t epoch,
                                 uint64_t patience_ns)
{
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        void *queue = pin_queue(points, point, epoch);
        if (!queue)
            continue;
        const uint64_t begin_ns = patience_ns > 0 ? zepi_clock_ns() : 0;
        point->look(queue, patience_ns);
        // What was freed waits for every queue: after one that was not there in time, a wait for
        // the others is in vain.
        if (unpin_queue(points, point, epoch) && patience_ns > 0 &&
            zepi_clock_ns() - begin_ns >= patience_ns)
            patience_ns = 0;
    }
}

bool zepi_completion_is_unused(struct zepi_completion_points *points, uint64_t stamp)
{
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        const uint64_t submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
        if (atomic_load_explicit(&point->completed, memory_order_acquire) >= submitted)
            continue;
        // Acquire: with this number comes the epoch since which it has been seen, or a later one.
        if (atomic_load_explicit(&point->seen_submitted, memory_order_acquire) != submitted ||
            stamp < atomic_load_explicit(&point->quiet_since, memory_order_relaxed))
            return false;
    }
    return true;
}

// ---- Epochs ----

uint64_t zepi_completion_begin_epoch_locked(struct zepi_completion_points *points)
{
    const uint64_t epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed) + 1;
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        const uint64_t submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
        const bool is_new =
            atomic_load_explicit(&point->quiet_since, memory_order_relaxed) == UINT64_MAX;
        if (!is_new &&
            atomic_load_explicit(&point->seen_submitted, memory_order_relaxed) == submitted)
            continue;
        atomic_store_explicit(&point->quiet_since, epoch, memory_order_relaxed);
        // Release, here and below: zepi_completion_is_unused and zepi_completion_stamp acquire.
        atomic_store_explicit(&point->seen_submitted, submitted, memory_order_release);
    }
    atomic_store_explicit(&points->epoch, epoch, memory_order_release);
    return epoch;
}

uint64_t zepi_completion_finished_epoch_locked(struct zepi_completion_points *points)
{
    uint64_t epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        if (holds_up_locked(points, point, epoch))
            epoch = point->synchronized_epoch;
    }
    return epoch;
}

bool zepi_completion_is_held_up_locked(struct zepi_completion_points *points, uint64_t epoch)
{
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        if (point->queue && holds_up_locked(points, point, epoch))
            return true;
    }
    return false;
}
