// SPDX-License-Identifier: MIT
#include "sync/timeline.h"

#include "core/alloc.h"

#include <string.h>

static void block_init(struct zepi_sync *sync, struct zepi_timeline_block *block)
{
    for (unsigned i = 0; i < ZEPI_TIMELINES; i++) {
        block->timelines[i].sync = sync;
        atomic_init(&block->timelines[i].first_deferred, UINT64_MAX);
    }
}

void zepi_sync_init(struct zepi_sync *sync)
{
    block_init(sync, &sync->first);
}

void zepi_sync_finish(struct zepi_sync *sync)
{
    struct zepi_timeline_block *next = sync->first.next;
    while (next) {
        struct zepi_timeline_block *block = next;
        next = block->next;
        zepi_sys_free(block);
    }
    sync->first.next = NULL;
    sync->free = NULL;
}

// ---- Timelines beyond the first block ----

// The number in the first block; beyond it ZEPI_TIMELINES.
static uint32_t first_block_index(const struct zepi_timeline *timeline)
{
    const struct zepi_timeline *first = timeline->sync->first.timelines;
    const uintptr_t offset_bytes = (uintptr_t)timeline - (uintptr_t)first;
    return offset_bytes < sizeof(timeline->sync->first.timelines)
               ? (uint32_t)(offset_bytes / sizeof(*timeline))
               : ZEPI_TIMELINES;
}

static void unlist_locked(struct zepi_sync *sync, struct zepi_timeline *timeline)
{
    if (timeline->previous)
        timeline->previous->next = timeline->next;
    else
        sync->listed = timeline->next;
    if (timeline->next)
        timeline->next->previous = timeline->previous;
    atomic_store_explicit(&timeline->is_listed, false, memory_order_relaxed);
    // Release: a free that sees no listed timeline sees that the commands are complete.
    atomic_fetch_sub_explicit(&sync->listed_count, 1, memory_order_release);
}

// Takes an idle timeline out of the list, unless it gets a command just now.
static void unlist_idle_locked(struct zepi_sync *sync, struct zepi_timeline *timeline)
{
    struct zepi_mutex *mutex = timeline->submit_mutex;
    if (timeline->pins > 0 || !mutex || !zepi_mutex_try_lock(mutex))
        return;
    if (zepi_timeline_is_idle(timeline))
        unlist_locked(sync, timeline);
    zepi_mutex_unlock(mutex);
}

static void list_locked(struct zepi_sync *sync, struct zepi_timeline *timeline)
{
    timeline->previous = NULL;
    timeline->next = sync->listed;
    if (timeline->next)
        timeline->next->previous = timeline;
    sync->listed = timeline;
    // Release, here and below: zepi_sync_is_idle acquires.
    atomic_fetch_add_explicit(&sync->listed_count, 1, memory_order_release);
}

void zepi_timeline_list(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    const uint32_t index = first_block_index(timeline);
    zepi_mutex_lock(&sync->mutex);
    if (index == ZEPI_TIMELINES)
        list_locked(sync, timeline);
    else if (atomic_load_explicit(&sync->used, memory_order_relaxed) <= index)
        atomic_store_explicit(&sync->used, index + 1, memory_order_release);
    atomic_store_explicit(&timeline->is_listed, true, memory_order_relaxed);
    zepi_mutex_unlock(&sync->mutex);
}

// ---- Owners ----

// One without an owner, or NULL.
static struct zepi_timeline *take_timeline_locked(struct zepi_sync *sync)
{
    struct zepi_timeline *timeline = sync->free;
    if (sync->taken != UINT32_MAX) {
        timeline = &sync->first.timelines[__builtin_ctz(~sync->taken)];
        sync->taken |= sync->taken + 1;
    } else if (timeline) {
        sync->free = timeline->next;
    }
    return timeline;
}

// The first timeline of a new block, or NULL without memory. The others are free. Gives up the
// mutex for the allocation.
static struct zepi_timeline *add_block_locked(struct zepi_sync *sync)
{
    zepi_mutex_unlock(&sync->mutex);
    struct zepi_timeline_block *block = zepi_sys_allocate_lines(sizeof(*block));
    if (block) {
        memset(block, 0, sizeof(*block));
        block_init(sync, block);
    }
    zepi_mutex_lock(&sync->mutex);
    if (!block)
        return NULL;
    for (unsigned i = 1; i < ZEPI_TIMELINES; i++) {
        block->timelines[i].next = sync->free;
        sync->free = &block->timelines[i];
    }
    block->next = sync->first.next;
    sync->first.next = block;
    return &block->timelines[0];
}

zepi_result_t zepi_timeline_add(struct zepi_sync *sync, void *owner, zepi_timeline_poll *poll,
                                struct zepi_mutex *submit_mutex, bool is_ordered,
                                struct zepi_timeline **out_timeline)
{
    zepi_mutex_lock(&sync->mutex);
    struct zepi_timeline *timeline = take_timeline_locked(sync);
    if (!timeline)
        timeline = add_block_locked(sync);
    if (timeline) {
        timeline->owner = owner;
        timeline->poll = poll;
        timeline->submit_mutex = submit_mutex;
        timeline->is_ordered = is_ordered;
        *out_timeline = timeline; // for threads that poll the owner
    }
    zepi_mutex_unlock(&sync->mutex);
    return timeline ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

void zepi_timeline_leave(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    zepi_mutex_lock(&sync->mutex);
    while (timeline->pins > 0)
        zepi_condition_wait(&sync->changed, &sync->mutex);
    timeline->owner = NULL;
    timeline->submit_mutex = NULL;
    zepi_mutex_unlock(&sync->mutex);
}

void zepi_timeline_remove(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    const uint32_t index = first_block_index(timeline);
    // A list that could not be waited for counts as complete.
    zepi_timeline_reach(timeline, zepi_timeline_now(timeline).seqno);
    zepi_mutex_lock(&sync->mutex);
    if (index < ZEPI_TIMELINES) {
        sync->taken &= ~(UINT32_C(1) << index);
    } else {
        if (atomic_load_explicit(&timeline->is_listed, memory_order_relaxed))
            unlist_locked(sync, timeline);
        timeline->next = sync->free;
        sync->free = timeline;
    }
    zepi_condition_wake_all(&sync->changed);
    zepi_mutex_unlock(&sync->mutex);
}

// ---- Walks ----

// Behind `after` in the order of addresses; NULL, or of the first block: of all.
static struct zepi_point next_listed_locked(struct zepi_sync *sync,
                                            const struct zepi_timeline *after, uint64_t since)
{
    struct zepi_point found = {NULL, 0};
    if (after && first_block_index(after) < ZEPI_TIMELINES)
        after = NULL;
    struct zepi_timeline *next;
    for (struct zepi_timeline *timeline = since == ZEPI_NO_OTHERS ? NULL : sync->listed; timeline;
         timeline = next) {
        next = timeline->next;
        if (zepi_timeline_is_idle(timeline)) {
            unlist_idle_locked(sync, timeline);
            continue;
        }
        if ((uintptr_t)timeline <= (uintptr_t)after ||
            (found.timeline && (uintptr_t)timeline >= (uintptr_t)found.timeline))
            continue;
        const struct zepi_point point = zepi_timeline_busy_point(timeline, since);
        if (point.timeline)
            found = point;
    }
    return found;
}

// In the first block, behind `after`.
static struct zepi_point next_of_block(struct zepi_sync *sync, const struct zepi_timeline *after,
                                       uint64_t since)
{
    struct zepi_point point = {NULL, 0};
    // Acquire: a timeline that this thread knows of is seen.
    const uint32_t used =
        since == ZEPI_NO_OTHERS ? 0 : atomic_load_explicit(&sync->used, memory_order_acquire);
    for (uint32_t i = after ? first_block_index(after) + 1 : 0; i < used && !point.timeline; i++)
        point = zepi_timeline_busy_point(&sync->first.timelines[i], since);
    return point;
}

struct zepi_point zepi_sync_next_locked(struct zepi_sync *sync, const struct zepi_timeline *after,
                                        uint64_t since)
{
    const struct zepi_point point = next_of_block(sync, after, since);
    return point.timeline ? point : next_listed_locked(sync, after, since);
}

struct zepi_point zepi_sync_next(struct zepi_sync *sync, const struct zepi_timeline *after,
                                 uint64_t since)
{
    struct zepi_point point = next_of_block(sync, after, since);
    if (point.timeline || !zepi_sync_has_listed(sync))
        return point;
    zepi_mutex_lock(&sync->mutex);
    point = next_listed_locked(sync, after, since);
    zepi_mutex_unlock(&sync->mutex);
    return point;
}

void zepi_sync_begin_epoch_locked(struct zepi_sync *sync)
{
    const uint64_t epoch = atomic_load_explicit(&sync->epoch, memory_order_relaxed) + 1;
    struct zepi_point point = zepi_sync_next_locked(sync, NULL, 0);
    for (; point.timeline; point = zepi_sync_next_locked(sync, point.timeline, 0)) {
        struct zepi_timeline *timeline = point.timeline;
        if (atomic_load_explicit(&timeline->seen_submitted, memory_order_relaxed) == point.seqno)
            continue;
        atomic_store_explicit(&timeline->quiet_since, epoch, memory_order_relaxed);
        // Release, here and below: zepi_timeline_busy_point and zepi_sync_epoch acquire.
        atomic_store_explicit(&timeline->seen_submitted, point.seqno, memory_order_release);
    }
    atomic_store_explicit(&sync->epoch, epoch, memory_order_release);
}
