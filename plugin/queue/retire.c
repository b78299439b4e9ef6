// SPDX-License-Identifier: MIT
#include "queue/retire.h"

#include "core/alloc.h"
#include "queue/queue.h"

#include <string.h>

// Between two looks at queues that go on.
#define LOOK_STEP (ZEPI_RETIRE_LIMIT / 8)

void zepi_retire_init(struct zepi_retire *retire)
{
    retire->look_weight = ZEPI_RETIRE_LIMIT;
}

static void destroy_each(struct zepi_retired *first)
{
    while (first) {
        struct zepi_retired *next = first->next;
        first->destroy(first);
        first = next;
    }
}

void zepi_retire_finish(struct zepi_retire *retire)
{
    // Destroying a kernel may retire its module: until nothing is left.
    while (retire->first) {
        struct zepi_retired *first = retire->first;
        retire->first = retire->last = NULL;
        destroy_each(first);
    }
    struct zepi_retire_slots *next =
        atomic_load_explicit(&retire->slots.next, memory_order_relaxed);
    while (next) {
        struct zepi_retire_slots *slots = next;
        next = atomic_load_explicit(&slots->next, memory_order_relaxed);
        zepi_sys_free(slots);
    }
}

// ---- Queues ----

// The queues of a context, one after the other.
// Without the mutex, queues that come or go meanwhile may be among them or not.
struct cursor {
    struct zepi_retire_slots *slots;
    uint32_t left;
};

static struct cursor first_queue(struct zepi_retire *retire)
{
    // Acquire, here and below: a queue that this thread knows of is seen.
    return (struct cursor){&retire->slots,
                           atomic_load_explicit(&retire->slots.taken, memory_order_acquire)};
}

static struct zepi_retire_queue *next_queue(struct cursor *at)
{
    while (at->left == 0) {
        at->slots = atomic_load_explicit(&at->slots->next, memory_order_acquire);
        if (!at->slots)
            return NULL;
        at->left = atomic_load_explicit(&at->slots->taken, memory_order_acquire);
    }
    const unsigned slot = (unsigned)__builtin_ctz(at->left);
    at->left &= at->left - 1;
    return &at->slots->queues[slot];
}

static struct zepi_retire_slots *create_slots(void)
{
    struct zepi_retire_slots *slots = zepi_sys_allocate_lines(sizeof(*slots));
    if (slots)
        memset(slots, 0, sizeof(*slots));
    return slots;
}

// A free slot, or NULL: *out_last are the last slots then.
static struct zepi_retire_queue *take_slot_locked(struct zepi_retire *retire,
                                                  struct zepi_retire_slots **out_last)
{
    struct zepi_retire_slots *slots = &retire->slots;
    for (; slots; slots = atomic_load_explicit(&slots->next, memory_order_relaxed)) {
        const uint32_t taken = atomic_load_explicit(&slots->taken, memory_order_relaxed);
        *out_last = slots;
        if (taken == UINT32_MAX)
            continue;
        const uint32_t slot = (uint32_t)__builtin_ctz(~taken);
        if (atomic_load_explicit(&slots->used, memory_order_relaxed) <= slot)
            atomic_store_explicit(&slots->used, slot + 1, memory_order_release);
        // Release, here and above: a thread that sees the queue sees that it has nothing to do.
        atomic_store_explicit(&slots->taken, taken | UINT32_C(1) << slot, memory_order_release);
        return &slots->queues[slot];
    }
    return NULL;
}

// The slot's last queue left `submitted` and `completed` equal: the new one goes on from there.
static void fill_slot_locked(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                             struct zepi_queue *queue)
{
    entry->queue = queue;
    entry->synchronized_epoch = atomic_load_explicit(&retire->epoch, memory_order_relaxed);
    atomic_store_explicit(&entry->quiet_since, UINT64_MAX, memory_order_relaxed);
}

zepi_result_t zepi_retire_add_queue(struct zepi_retire *retire, struct zepi_queue *queue,
                                    struct zepi_retire_queue **out_entry)
{
    struct zepi_retire_slots *more = NULL;
    struct zepi_retire_queue *entry;
    for (;;) {
        struct zepi_retire_slots *last;
        zepi_mutex_lock(&retire->mutex);
        entry = take_slot_locked(retire, &last);
        if (!entry && more) {
            // Release: a thread that finds them sees them empty.
            atomic_store_explicit(&last->next, more, memory_order_release);
            more = NULL;
            entry = take_slot_locked(retire, &last);
        }
        if (entry)
            fill_slot_locked(retire, entry, queue);
        zepi_mutex_unlock(&retire->mutex);
        if (entry)
            break;
        more = create_slots();
        if (!more)
            return zepi_fail_no_memory();
    }
    zepi_sys_free(more);
    *out_entry = entry;
    return ZEPI_SUCCESS;
}

static void give_slot_locked(struct zepi_retire *retire, const struct zepi_retire_queue *entry)
{
    struct zepi_retire_slots *slots = &retire->slots;
    while (entry < slots->queues || entry >= slots->queues + ZEPI_RETIRE_SLOTS)
        slots = atomic_load_explicit(&slots->next, memory_order_relaxed);
    atomic_fetch_and_explicit(&slots->taken, ~(UINT32_C(1) << (entry - slots->queues)),
                              memory_order_release);
}

// ---- The list ----

// Whether the queue may use what was retired up to `epoch`.
static bool holds_up_locked(struct zepi_retire_queue *entry, uint64_t epoch)
{
    return !zepi_retire_is_idle(entry) && entry->synchronized_epoch < epoch;
}

// The last epoch of which nothing can be in use.
static uint64_t finished_epoch_locked(struct zepi_retire *retire)
{
    uint64_t epoch = atomic_load_explicit(&retire->epoch, memory_order_relaxed);
    struct cursor at = first_queue(retire);
    struct zepi_retire_queue *entry;
    while ((entry = next_queue(&at))) {
        if (holds_up_locked(entry, epoch))
            epoch = entry->synchronized_epoch;
    }
    return epoch;
}

// Takes out what may go, to be destroyed. They were retired in the order of their epochs.
static struct zepi_retired *take_finished_locked(struct zepi_retire *retire)
{
    if (!retire->first)
        return NULL;
    const uint64_t epoch = finished_epoch_locked(retire);
    uint64_t weight = atomic_load_explicit(&retire->weight, memory_order_relaxed);
    struct zepi_retired *first = retire->first;
    struct zepi_retired *last = NULL;
    for (struct zepi_retired *at = first; at && at->epoch <= epoch; at = at->next) {
        last = at;
        weight -= at->weight;
    }
    if (!last)
        return NULL;
    retire->first = last->next;
    if (!retire->first)
        retire->last = NULL;
    last->next = NULL;
    atomic_store_explicit(&retire->weight, weight, memory_order_relaxed);
    retire->look_weight = weight + LOOK_STEP;
    if (retire->look_weight < ZEPI_RETIRE_LIMIT)
        retire->look_weight = ZEPI_RETIRE_LIMIT;
    retire->destroying++;
    return first;
}

static void destroy_all(struct zepi_retire *retire, struct zepi_retired *taken)
{
    if (!taken)
        return;
    destroy_each(taken);
    zepi_mutex_lock(&retire->mutex);
    if (--retire->destroying == 0)
        zepi_condition_wake_all(&retire->changed);
    zepi_mutex_unlock(&retire->mutex);
}

void zepi_retire_leave_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    zepi_mutex_lock(&retire->mutex);
    while (entry->pins > 0)
        zepi_condition_wait(&retire->changed, &retire->mutex);
    entry->queue = NULL;
    zepi_mutex_unlock(&retire->mutex);
}

void zepi_retire_remove_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    zepi_mutex_lock(&retire->mutex);
    // What could not be waited for is as good as complete.
    zepi_retire_note_complete(entry, atomic_load_explicit(&entry->submitted, memory_order_relaxed));
    give_slot_locked(retire, entry);
    struct zepi_retired *finished = take_finished_locked(retire);
    zepi_mutex_unlock(&retire->mutex);
    destroy_all(retire, finished);
}

// The queue, which stays until it is unpinned, if it holds up what was retired up to `epoch`.
static struct zepi_queue *pin(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                              uint64_t epoch)
{
    zepi_mutex_lock(&retire->mutex);
    struct zepi_queue *queue = entry->queue && holds_up_locked(entry, epoch) ? entry->queue : NULL;
    if (queue)
        entry->pins++;
    zepi_mutex_unlock(&retire->mutex);
    return queue;
}

static void unpin(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    zepi_mutex_lock(&retire->mutex);
    if (--entry->pins == 0)
        zepi_condition_wake_all(&retire->changed);
    zepi_mutex_unlock(&retire->mutex);
}

static void wait_for_all(struct zepi_retire *retire, uint64_t epoch)
{
    struct cursor at = first_queue(retire);
    struct zepi_retire_queue *entry;
    while ((entry = next_queue(&at))) {
        struct zepi_queue *queue = pin(retire, entry, epoch);
        if (!queue)
            continue;
        zepi_queue_wait(queue);
        unpin(retire, entry);
    }
}

static void look_at_all(struct zepi_retire *retire, uint64_t epoch, uint64_t patience_ns)
{
    struct cursor at = first_queue(retire);
    struct zepi_retire_queue *entry;
    while ((entry = next_queue(&at))) {
        struct zepi_queue *queue = pin(retire, entry, epoch);
        if (!queue)
            continue;
        zepi_queue_look(queue, patience_ns);
        unpin(retire, entry);
    }
}

// Notes what the queues were given before. What is handed out from now on is of this epoch.
static uint64_t begin_epoch_locked(struct zepi_retire *retire)
{
    const uint64_t epoch = atomic_load_explicit(&retire->epoch, memory_order_relaxed) + 1;
    struct cursor at = first_queue(retire);
    struct zepi_retire_queue *entry;
    while ((entry = next_queue(&at))) {
        const uint64_t submitted = atomic_load_explicit(&entry->submitted, memory_order_relaxed);
        const bool is_new =
            atomic_load_explicit(&entry->quiet_since, memory_order_relaxed) == UINT64_MAX;
        if (!is_new &&
            atomic_load_explicit(&entry->seen_submitted, memory_order_relaxed) == submitted)
            continue;
        atomic_store_explicit(&entry->quiet_since, epoch, memory_order_relaxed);
        // Release, here and below: zepi_retire_is_unused and zepi_retire_stamp acquire.
        atomic_store_explicit(&entry->seen_submitted, submitted, memory_order_release);
    }
    atomic_store_explicit(&retire->epoch, epoch, memory_order_release);
    return epoch;
}

static void append_locked(struct zepi_retire *retire, struct zepi_retired *retired)
{
    retired->next = NULL;
    if (retire->last)
        retire->last->next = retired;
    else
        retire->first = retired;
    retire->last = retired;
    const uint64_t weight = atomic_load_explicit(&retire->weight, memory_order_relaxed);
    atomic_store_explicit(&retire->weight, weight + retired->weight, memory_order_relaxed);
}

void zepi_retire_later(struct zepi_retire *retire, struct zepi_retired *retired)
{
    const bool is_urgent = retired->is_urgent;
    zepi_mutex_lock(&retire->mutex);
    const uint64_t epoch = begin_epoch_locked(retire);
    retired->epoch = epoch;
    append_locked(retire, retired);
    struct zepi_retired *finished = take_finished_locked(retire);
    const uint64_t weight = atomic_load_explicit(&retire->weight, memory_order_relaxed);
    const bool is_due = weight >= retire->look_weight;
    if (is_due)
        retire->look_weight = weight + LOOK_STEP;
    zepi_mutex_unlock(&retire->mutex);
    destroy_all(retire, finished);
    if (is_urgent)
        wait_for_all(retire, epoch);
    if (is_due)
        look_at_all(retire, epoch, 0);
}

bool zepi_retire_drain(struct zepi_retire *retire, uint64_t patience_ns)
{
    // Relaxed: what this thread retired, it sees.
    if (atomic_load_explicit(&retire->weight, memory_order_relaxed) == 0)
        return false;
    look_at_all(retire, atomic_load_explicit(&retire->epoch, memory_order_relaxed), patience_ns);
    zepi_mutex_lock(&retire->mutex);
    struct zepi_retired *finished = take_finished_locked(retire);
    zepi_mutex_unlock(&retire->mutex);
    destroy_all(retire, finished);
    return true;
}

void zepi_retire_settle(struct zepi_retire *retire)
{
    zepi_mutex_lock(&retire->mutex);
    while (retire->destroying > 0)
        zepi_condition_wait(&retire->changed, &retire->mutex);
    zepi_mutex_unlock(&retire->mutex);
}

void zepi_retire_note_complete(struct zepi_retire_queue *entry, uint64_t number)
{
    // Never lowered: waits of two threads may overlap.
    uint64_t completed = atomic_load_explicit(&entry->completed, memory_order_relaxed);
    while (completed < number &&
           !atomic_compare_exchange_weak_explicit(&entry->completed, &completed, number,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

struct zepi_retire_mark zepi_retire_begin_wait(struct zepi_retire *retire,
                                               struct zepi_retire_queue *entry)
{
    struct zepi_retire_mark mark;
    // Acquire: what used that which retired up to this epoch has been submitted.
    mark.epoch = atomic_load_explicit(&retire->epoch, memory_order_acquire);
    mark.submitted = atomic_load_explicit(&entry->submitted, memory_order_relaxed);
    return mark;
}

void zepi_retire_end_wait(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                          struct zepi_retire_mark mark)
{
    zepi_retire_note_complete(entry, mark.submitted);
    zepi_mutex_lock(&retire->mutex);
    if (entry->synchronized_epoch < mark.epoch)
        entry->synchronized_epoch = mark.epoch;
    struct zepi_retired *finished = take_finished_locked(retire);
    zepi_mutex_unlock(&retire->mutex);
    destroy_all(retire, finished);
}

bool zepi_retire_is_unused(struct zepi_retire *retire, uint64_t stamp)
{
    struct cursor at = first_queue(retire);
    struct zepi_retire_queue *entry;
    while ((entry = next_queue(&at))) {
        const uint64_t submitted = atomic_load_explicit(&entry->submitted, memory_order_relaxed);
        if (atomic_load_explicit(&entry->completed, memory_order_acquire) >= submitted)
            continue;
        // Acquire: with this number comes the epoch since which it has been seen, or a later one.
        if (atomic_load_explicit(&entry->seen_submitted, memory_order_acquire) != submitted ||
            stamp < atomic_load_explicit(&entry->quiet_since, memory_order_relaxed))
            return false;
    }
    return true;
}
