// SPDX-License-Identifier: MIT
#include "sync/completion_point.h"

#include "core/alloc.h"
#include "core/clock.h"

#include <string.h>

void zepi_completion_points_finish(struct zepi_completion_points *points)
{
    struct zepi_completion_block *next = points->first.next;
    while (next) {
        struct zepi_completion_block *block = next;
        next = block->next;
        zepi_sys_free(block);
    }
    points->first.next = NULL;
    points->free = NULL;
}

// ---- Walks ----

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

// The points of the first block that have queues, one after the other. Without the mutex, queues
// that come or go meanwhile may be among them or not.
struct cursor {
    struct zepi_completion_point *points;
    uint32_t left;
};

static struct cursor first_point(struct zepi_completion_points *points)
{
    // Acquire: a queue that this thread knows of is seen.
    return (struct cursor){points->first.points,
                           atomic_load_explicit(&points->taken, memory_order_acquire)};
}

static struct zepi_completion_point *next_point(struct cursor *at)
{
    if (at->left == 0)
        return NULL;
    const unsigned slot = (unsigned)__builtin_ctz(at->left);
    at->left &= at->left - 1;
    return &at->points[slot];
}

static void unlist_locked(struct zepi_completion_points *points,
                          struct zepi_completion_point *point)
{
    if (point->previous)
        point->previous->next = point->next;
    else
        points->listed = point->next;
    if (point->next)
        point->next->previous = point->previous;
    atomic_store_explicit(&point->is_listed, false, memory_order_relaxed);
    // Release: a free that sees no listed point sees that the commands are complete.
    atomic_fetch_sub_explicit(&points->listed_count, 1, memory_order_release);
}

// Takes an idle point out of the list, unless the queue gets a command just now.
static void unlist_idle_locked(struct zepi_completion_points *points,
                               struct zepi_completion_point *point)
{
    struct zepi_mutex *mutex = point->queue_mutex;
    if (point->pins > 0 || !mutex || !zepi_mutex_try_lock(mutex))
        return;
    if (zepi_completion_point_is_idle(point))
        unlist_locked(points, point);
    zepi_mutex_unlock(mutex);
}

// The next listed point that is busy, from `point` on. NULL: none.
static struct zepi_completion_point *next_busy_locked(struct zepi_completion_points *points,
                                                      struct zepi_completion_point *point)
{
    while (point && zepi_completion_point_is_idle(point)) {
        struct zepi_completion_point *next = point->next;
        point->synchronized_epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
        unlist_idle_locked(points, point);
        point = next;
    }
    return point;
}

void zepi_completion_point_list(struct zepi_completion_point *point)
{
    struct zepi_completion_points *points = point->points;
    zepi_mutex_lock(&points->mutex);
    // It was idle up to now.
    point->synchronized_epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
    point->previous = NULL;
    point->next = points->listed;
    if (point->next)
        point->next->previous = point;
    points->listed = point;
    atomic_store_explicit(&point->is_listed, true, memory_order_relaxed);
    // Release: zepi_completion_are_all_idle acquires.
    atomic_fetch_add_explicit(&points->listed_count, 1, memory_order_release);
    zepi_mutex_unlock(&points->mutex);
}

// ---- Points ----

static struct zepi_completion_block *create_block(struct zepi_completion_points *points)
{
    struct zepi_completion_block *block = zepi_sys_allocate_lines(sizeof(*block));
    if (!block)
        return NULL;
    memset(block, 0, sizeof(*block));
    for (unsigned i = 0; i < ZEPI_COMPLETION_POINTS; i++) {
        block->points[i].points = points;
        if (i > 0)
            block->points[i - 1].next = &block->points[i];
    }
    return block;
}

static void add_block_locked(struct zepi_completion_points *points,
                             struct zepi_completion_block *block)
{
    block->points[ZEPI_COMPLETION_POINTS - 1].next = points->free;
    points->free = block->points;
    block->next = points->first.next;
    points->first.next = block;
}

// A free point, or NULL.
static struct zepi_completion_point *take_point_locked(struct zepi_completion_points *points)
{
    const uint32_t taken = atomic_load_explicit(&points->taken, memory_order_relaxed);
    struct zepi_completion_point *point = points->free;
    if (taken == UINT32_MAX) {
        if (point)
            points->free = point->next;
        return point;
    }
    const uint32_t slot = (uint32_t)__builtin_ctz(~taken);
    point = &points->first.points[slot];
    atomic_store_explicit(&point->is_listed, true, memory_order_relaxed);
    if (atomic_load_explicit(&points->used, memory_order_relaxed) <= slot)
        atomic_store_explicit(&points->used, slot + 1, memory_order_release);
    // Release, here and above: a thread that sees the queue sees that it has nothing to do.
    atomic_store_explicit(&points->taken, taken | UINT32_C(1) << slot, memory_order_release);
    return point;
}

// The point's last queue left `submitted` and `completed` equal: the new one goes on from there.
static void fill_point_locked(struct zepi_completion_points *points,
                              struct zepi_completion_point *point, void *queue,
                              zepi_completion_look *look, struct zepi_mutex *queue_mutex)
{
    point->queue = queue;
    point->look = look;
    point->queue_mutex = queue_mutex;
    point->synchronized_epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed);
    atomic_store_explicit(&point->quiet_since, UINT64_MAX, memory_order_relaxed);
}

zepi_result_t zepi_completion_point_add(struct zepi_completion_points *points, void *queue,
                                        zepi_completion_look *look, struct zepi_mutex *queue_mutex,
                                        struct zepi_completion_point **out_point)
{
    struct zepi_completion_block *more = NULL;
    struct zepi_completion_point *point;
    for (;;) {
        zepi_mutex_lock(&points->mutex);
        point = take_point_locked(points);
        if (!point && more) {
            add_block_locked(points, more);
            more = NULL;
            point = take_point_locked(points);
        }
        if (point)
            fill_point_locked(points, point, queue, look, queue_mutex);
        zepi_mutex_unlock(&points->mutex);
        if (point)
            break;
        more = create_block(points);
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
    point->queue_mutex = NULL;
    zepi_mutex_unlock(&points->mutex);
}

void zepi_completion_point_remove(struct zepi_completion_points *points,
                                  struct zepi_completion_point *point)
{
    const uint32_t number = zepi_completion_point_number(points, point);
    zepi_mutex_lock(&points->mutex);
    // A queue that could not be waited for counts as complete.
    zepi_completion_point_reach(point,
                                atomic_load_explicit(&point->submitted, memory_order_relaxed));
    if (number != ZEPI_NO_QUEUE_NUMBER) {
        atomic_fetch_and_explicit(&points->taken, ~(UINT32_C(1) << number), memory_order_release);
    } else {
        if (atomic_load_explicit(&point->is_listed, memory_order_relaxed))
            unlist_locked(points, point);
        point->next = points->free;
        points->free = point;
    }
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

// The queue, which stays until it is unpinned, if it holds up objects freed up to `epoch`.
static void *pin_queue_locked(struct zepi_completion_points *points,
                              struct zepi_completion_point *point, uint64_t epoch)
{
    void *queue = point->queue && holds_up_locked(points, point, epoch) ? point->queue : NULL;
    if (queue)
        point->pins++;
    return queue;
}

// Looks at the queue, if it holds up objects, without the mutex. What was freed waits for every
// queue: after one that was not there in time, a wait for the others is in vain.
static void look_at_locked(struct zepi_completion_points *points,
                           struct zepi_completion_point *point, uint64_t epoch,
                           uint64_t *patience_ns)
{
    void *queue = pin_queue_locked(points, point, epoch);
    if (!queue)
        return;
    zepi_mutex_unlock(&points->mutex);
    const uint64_t begin_ns = *patience_ns > 0 ? zepi_clock_ns() : 0;
    point->look(queue, *patience_ns);
    const bool is_late = *patience_ns > 0 && zepi_clock_ns() - begin_ns >= *patience_ns;
    zepi_mutex_lock(&points->mutex);
    if (is_late && holds_up_locked(points, point, epoch))
        *patience_ns = 0;
    if (--point->pins == 0)
        zepi_condition_wake_all(&points->changed);
}

void zepi_completion_look_at_all(struct zepi_completion_points *points, uint64_t epoch,
                                 uint64_t patience_ns)
{
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    zepi_mutex_lock(&points->mutex);
    while ((point = next_point(&at)))
        look_at_locked(points, point, epoch, &patience_ns);
    point = next_busy_locked(points, points->listed);
    while (point) {
        look_at_locked(points, point, epoch, &patience_ns);
        point = next_busy_locked(points, point->next);
    }
    zepi_mutex_unlock(&points->mutex);
}

// Whether commands of the point may use memory with this stamp.
static bool may_use(struct zepi_completion_point *point, uint64_t stamp)
{
    const uint64_t submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
    if (atomic_load_explicit(&point->completed, memory_order_acquire) >= submitted)
        return false;
    // Acquire: with this number comes the epoch since which it has been seen, or a later one.
    return atomic_load_explicit(&point->seen_submitted, memory_order_acquire) != submitted ||
           stamp < atomic_load_explicit(&point->quiet_since, memory_order_relaxed);
}

bool zepi_completion_is_unused(struct zepi_completion_points *points, uint64_t stamp)
{
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at))) {
        if (may_use(point, stamp))
            return false;
    }
    if (atomic_load_explicit(&points->listed_count, memory_order_acquire) == 0)
        return true;
    zepi_mutex_lock(&points->mutex);
    point = next_busy_locked(points, points->listed);
    while (point && !may_use(point, stamp))
        point = next_busy_locked(points, point->next);
    zepi_mutex_unlock(&points->mutex);
    return !point;
}

// ---- Epochs ----

static void note_submitted_locked(struct zepi_completion_point *point, uint64_t epoch)
{
    const uint64_t submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
    const bool is_new =
        atomic_load_explicit(&point->quiet_since, memory_order_relaxed) == UINT64_MAX;
    if (!is_new && atomic_load_explicit(&point->seen_submitted, memory_order_relaxed) == submitted)
        return;
    atomic_store_explicit(&point->quiet_since, epoch, memory_order_relaxed);
    // Release, here and below: zepi_completion_is_unused and zepi_completion_stamp acquire.
    atomic_store_explicit(&point->seen_submitted, submitted, memory_order_release);
}

uint64_t zepi_completion_begin_epoch_locked(struct zepi_completion_points *points)
{
    const uint64_t epoch = atomic_load_explicit(&points->epoch, memory_order_relaxed) + 1;
    struct cursor at = first_point(points);
    struct zepi_completion_point *point;
    while ((point = next_point(&at)))
        note_submitted_locked(point, epoch);
    for (point = next_busy_locked(points, points->listed); point;
         point = next_busy_locked(points, point->next))
        note_submitted_locked(point, epoch);
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
    for (point = next_busy_locked(points, points->listed); point;
         point = next_busy_locked(points, point->next)) {
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
    for (point = next_busy_locked(points, points->listed); point;
         point = next_busy_locked(points, point->next)) {
        if (point->queue && holds_up_locked(points, point, epoch))
            return true;
    }
    return false;
}
