// SPDX-License-Identifier: MIT
#include "sync/timeline.h"

#include "core/alloc.h"

#include <string.h>

// ---- Blocks ----

static void block_init(struct zepi_sync *sync, struct zepi_timeline_block *block)
{
    for (uint32_t i = 0; i < ZEPI_TIMELINES; i++) {
        block->timelines[i].sync = sync;
        block->timelines[i].block = block;
        block->timelines[i].index = i;
        atomic_init(&block->timelines[i].first_deferred, UINT64_MAX);
    }
}

void zepi_sync_init(struct zepi_sync *sync)
{
    block_init(sync, &sync->first);
}

static struct zepi_timeline_block *block_next(const struct zepi_timeline_block *block)
{
    // Acquire: its contents.
    return atomic_load_explicit(&block->next, memory_order_acquire);
}

void zepi_sync_finish(struct zepi_sync *sync)
{
    struct zepi_timeline_block *next = block_next(&sync->first);
    while (next) {
        struct zepi_timeline_block *block = next;
        next = block_next(block);
        zepi_sys_free(block);
    }
    atomic_init(&sync->first.next, NULL);
    atomic_init(&sync->listed, NULL);
    sync->vacant = NULL;
}

// A block behind all others. Returns false without memory.
static bool add_block(struct zepi_sync *sync)
{
    struct zepi_timeline_block *block = zepi_sys_allocate_lines(sizeof(*block));
    struct zepi_timeline_block *last = &sync->first;
    if (!block)
        return false;
    memset(block, 0, sizeof(*block));
    block_init(sync, block);
    zepi_mutex_lock(&sync->mutex);
    while (block_next(last))
        last = block_next(last);
    block->number = last->number + 1;
    atomic_store_explicit(&last->next, block, memory_order_release);
    zepi_mutex_unlock(&sync->mutex);
    return true;
}

// ---- Timelines that walks look at ----

static uint32_t listed_bit(const struct zepi_timeline *timeline)
{
    return UINT32_C(1) << timeline->index;
}

static bool is_in_first_block(const struct zepi_timeline *timeline)
{
    return timeline->block == &timeline->sync->first;
}

// Where a pointer to the first listed block from a number on lies, or is to be.
static _Atomic(struct zepi_timeline_block *) *find_listed_locked(struct zepi_sync *sync,
                                                                 uint32_t number)
{
    _Atomic(struct zepi_timeline_block *) *link = &sync->listed;
    struct zepi_timeline_block *block;
    while ((block = atomic_load_explicit(link, memory_order_relaxed)) && block->number < number)
        link = &block->next_listed;
    return link;
}

static void list_block_locked(struct zepi_sync *sync, struct zepi_timeline_block *block)
{
    _Atomic(struct zepi_timeline_block *) *link = find_listed_locked(sync, block->number);
    atomic_store_explicit(&block->next_listed, atomic_load_explicit(link, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(link, block, memory_order_release);
}

// A walk that is at the block goes on behind it.
static void unlist_block_locked(struct zepi_sync *sync, struct zepi_timeline_block *block)
{
    atomic_store_explicit(find_listed_locked(sync, block->number),
                          atomic_load_explicit(&block->next_listed, memory_order_relaxed),
                          memory_order_release);
}

// Under the owner's mutex.
void zepi_timeline_list(struct zepi_timeline *timeline)
{
    struct zepi_sync *sync = timeline->sync;
    zepi_mutex_lock(&sync->mutex);
    // Release, here and below: walks acquire.
    const uint32_t before = atomic_fetch_or_explicit(&timeline->block->listed, listed_bit(timeline),
                                                     memory_order_release);
    if (before == 0 && !is_in_first_block(timeline))
        list_block_locked(sync, timeline->block);
    atomic_store_explicit(&timeline->is_listed, true, memory_order_relaxed);
    zepi_mutex_unlock(&sync->mutex);
}

// Under the owner's mutex, or without an owner.
static void unlist_locked(struct zepi_timeline *timeline)
{
    if (!atomic_load_explicit(&timeline->is_listed, memory_order_relaxed))
        return;
    const uint32_t before = atomic_fetch_and_explicit(&timeline->block->listed,
                                                      ~listed_bit(timeline), memory_order_release);
    if (before == listed_bit(timeline) && !is_in_first_block(timeline))
        unlist_block_locked(timeline->sync, timeline->block);
    atomic_store_explicit(&timeline->is_listed, false, memory_order_relaxed);
}

// The first listed block beyond the first one and behind a number.
static struct zepi_timeline_block *listed_behind(const struct zepi_sync *sync, uint32_t number)
{
    // From the first one each time: `next_listed` of one that is listed no more may be old.
    struct zepi_timeline_block *block = atomic_load_explicit(&sync->listed, memory_order_acquire);
    while (block && block->number <= number)
        block = atomic_load_explicit(&block->next_listed, memory_order_acquire);
    return block;
}

// Takes out a timeline that was seen idle, unless it gets a command just now.
static void unlist_idle(struct zepi_timeline *timeline)
{
    zepi_mutex_lock(&timeline->sync->mutex);
    struct zepi_mutex *submit_mutex = timeline->submit_mutex;
    if (submit_mutex && zepi_mutex_try_lock(submit_mutex)) {
        if (zepi_timeline_is_idle(timeline))
            unlist_locked(timeline);
        zepi_mutex_unlock(submit_mutex);
    }
    zepi_mutex_unlock(&timeline->sync->mutex);
}

static void unlist_all_idle(struct zepi_timeline_block *block)
{
    uint32_t listed = atomic_load_explicit(&block->listed, memory_order_acquire);
    for (; listed; listed &= listed - 1) {
        struct zepi_timeline *timeline = &block->timelines[__builtin_ctz(listed)];
        if (zepi_timeline_is_idle(timeline))
            unlist_idle(timeline);
    }
}

struct zepi_point zepi_sync_next(struct zepi_sync *sync, const struct zepi_timeline *after,
                                 uint64_t since)
{
    struct zepi_point point = {NULL, 0};
    struct zepi_timeline_block *block = after ? after->block : &sync->first;
    uint32_t behind = after ? ~(listed_bit(after) | (listed_bit(after) - 1)) : UINT32_MAX;
    for (; block && since != ZEPI_NO_OTHERS;
         block = listed_behind(sync, block->number), behind = UINT32_MAX) {
        // Acquire: a timeline that this thread knows of is seen.
        uint32_t listed = atomic_load_explicit(&block->listed, memory_order_acquire) & behind;
        for (; listed && !point.timeline; listed &= listed - 1)
            point = zepi_timeline_busy_point(&block->timelines[__builtin_ctz(listed)], since);
        if (point.timeline)
            break;
    }
    return point;
}

struct zepi_point zepi_sync_first(struct zepi_sync *sync, uint64_t since)
{
    struct zepi_timeline_block *block = listed_behind(sync, 0);
    for (; block; block = listed_behind(sync, block->number))
        unlist_all_idle(block);
    return zepi_sync_next(sync, NULL, since);
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
        // Release, here and below: zepi_timeline_busy_point and zepi_sync_epoch acquire.
        atomic_store_explicit(&timeline->seen_submitted, point.seqno, memory_order_release);
    }
    atomic_store_explicit(&sync->epoch, epoch, memory_order_release);
}

// ---- Owners ----

// Gives the owner a timeline of a block that has one, the first if it can be. Returns NULL if all
// have owners.
static struct zepi_timeline *take_timeline_locked(struct zepi_sync *sync)
{
    struct zepi_timeline_block *block = &sync->first;
    if (block->taken == UINT32_MAX && sync->vacant)
        block = sync->vacant;
    if (block->taken == UINT32_MAX)
        block = &sync->first;
    while (block && block->taken == UINT32_MAX)
        block = block_next(block);
    if (!block)
        return NULL;
    if (block != &sync->first)
        sync->vacant = block;
    struct zepi_timeline *timeline = &block->timelines[__builtin_ctz(~block->taken)];
    block->taken |= listed_bit(timeline);
    return timeline;
}

zepi_result_t zepi_timeline_add(struct zepi_sync *sync, void *owner, zepi_timeline_poll *poll,
                                struct zepi_mutex *submit_mutex, bool is_ordered,
                                struct zepi_timeline **out_timeline)
{
    struct zepi_timeline *timeline;
    bool has_memory = true;
    zepi_mutex_lock(&sync->mutex);
    // Another thread may take the timelines of a new block.
    while (!(timeline = take_timeline_locked(sync)) && has_memory) {
        zepi_mutex_unlock(&sync->mutex);
        has_memory = add_block(sync);
        zepi_mutex_lock(&sync->mutex);
    }
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
    // A list that could not be waited for counts as complete.
    zepi_timeline_reach(timeline, zepi_timeline_now(timeline).seqno);
    zepi_mutex_lock(&sync->mutex);
    unlist_locked(timeline);
    timeline->block->taken &= ~listed_bit(timeline);
    if (!is_in_first_block(timeline))
        sync->vacant = timeline->block;
    zepi_condition_wake_all(&sync->changed);
    zepi_mutex_unlock(&sync->mutex);
}
