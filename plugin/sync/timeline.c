// SPDX-License-Identifier: MIT
#include "sync/timeline.h"

#include "core/alloc.h"

#include <string.h>

// The timelines of a new block are free, the first one first.
static void add_block_locked(struct zepi_sync *sync, struct zepi_timeline_block *block)
{
    for (unsigned i = ZEPI_TIMELINES; i-- > 0;) {
        struct zepi_timeline *timeline = &block->timelines[i];
        timeline->sync = sync;
        timeline->block = block;
        atomic_init(&timeline->first_deferred, UINT64_MAX);
        timeline->next = sync->free;
        sync->free = timeline;
    }
    struct zepi_timeline_block *last = &sync->first;
    struct zepi_timeline_block *next;
    while ((next = atomic_load_explicit(&last->next, memory_order_relaxed)))
        last = next;
    // Release, here and below: walks acquire.
    if (block != last)
        atomic_store_explicit(&last->next, block, memory_order_release);
}

void zepi_sync_init(struct zepi_sync *sync)
{
    add_block_locked(sync, &sync->first);
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

// ---- Owners ----

zepi_result_t zepi_timeline_add(struct zepi_sync *sync, void *owner, zepi_timeline_poll *poll,
                                bool is_ordered, struct zepi_timeline **out_timeline)
{
    zepi_mutex_lock(&sync->mutex);
    while (!sync->free) {
        zepi_mutex_unlock(&sync->mutex);
        struct zepi_timeline_block *block = zepi_sys_allocate_lines(sizeof(*block));
        if (!block)
            return zepi_fail_no_memory();
        memset(block, 0, sizeof(*block));
        zepi_mutex_lock(&sync->mutex);
        add_block_locked(sync, block);
    }
    struct zepi_timeline *timeline = sync->free;
    struct zepi_timeline_block *block = timeline->block;
    const uint32_t number = (uint32_t)(timeline - block->timelines) + 1;
    sync->free = timeline->next;
    if (atomic_load_explicit(&block->used, memory_order_relaxed) < number)
        atomic_store_explicit(&block->used, number, memory_order_release);
    timeline->owner = owner;
    timeline->poll = poll;
    timeline->is_ordered = is_ordered;
    *out_timeline = timeline; // for threads that poll the owner
    zepi_mutex_unlock(&sync->mutex);
    return ZEPI_SUCCESS;
}

void zepi_timeline_leave(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    zepi_mutex_lock(&sync->mutex);
    while (timeline->pins > 0)
        zepi_condition_wait(&sync->changed, &sync->mutex);
    timeline->owner = NULL;
    zepi_mutex_unlock(&sync->mutex);
}

void zepi_timeline_remove(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    // A list that could not be waited for counts as complete.
    zepi_timeline_reach(timeline, zepi_timeline_now(timeline).seqno);
    zepi_mutex_lock(&sync->mutex);
    timeline->next = sync->free;
    sync->free = timeline;
    zepi_condition_wake_all(&sync->changed);
    zepi_mutex_unlock(&sync->mutex);
}

// ---- Walks ----

struct zepi_point zepi_sync_next(struct zepi_sync *sync, const struct zepi_timeline *after,
                                 uint64_t since)
{
    struct zepi_timeline_block *block = after ? after->block : &sync->first;
    uint32_t index = after ? (uint32_t)(after - block->timelines) + 1 : 0;
    if (since == ZEPI_NO_OTHERS)
        return (struct zepi_point){NULL, 0};
    while (block) {
        const uint32_t used = atomic_load_explicit(&block->used, memory_order_acquire);
        for (; index < used; index++) {
            const struct zepi_point point =
                zepi_timeline_busy_point(&block->timelines[index], since);
            if (point.timeline)
                return point;
        }
        block = atomic_load_explicit(&block->next, memory_order_acquire);
        index = 0;
    }
    return (struct zepi_point){NULL, 0};
}

void zepi_sync_begin_epoch_locked(struct zepi_sync *sync)
{
    const uint64_t epoch = atomic_load_explicit(&sync->epoch, memory_order_relaxed) + 1;
    struct zepi_point point = zepi_sync_next(sync, NULL, 0);
    for (; point.timeline; point = zepi_sync_next(sync, point.timeline, 0)) {
        struct zepi_timeline *timeline = point.timeline;
        if (atomic_load_explicit(&timeline->seen_submitted, memory_order_relaxed) == point.seqno)
            continue;
        atomic_store_explicit(&timeline->quiet_since, epoch, memory_order_relaxed);
        // Release, here and below: busy_point and zepi_sync_epoch acquire.
        atomic_store_explicit(&timeline->seen_submitted, point.seqno, memory_order_release);
    }
    atomic_store_explicit(&sync->epoch, epoch, memory_order_release);
}
