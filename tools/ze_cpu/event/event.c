// SPDX-License-Identifier: MIT
#include "event.h"

#include "device/device.h"
#include "device/timeout.h"
#include "entry.h"
#include "options.h"

#include <pthread.h>
#include <stddef.h>

#define SPINS 200
#define SHARDS 64
#define QUERY_TIMEOUT_NS 5000000000u // of Intel's driver, for events whose query waits

// Where waiters sleep: shared by many events and never destroyed, because a signaller still touches
// it when a waiter that saw the event early may already have destroyed the event.
struct shard {
    _Alignas(64) _Atomic uint32_t waiters; // that sleep, or have a watch
    pthread_mutex_t mutex;                 // guards the sleep on `changed`, and the watches
    pthread_cond_t changed;
    struct cpu_event_watch *watches; // borrowed
};

static struct shard shards[SHARDS] = {
    [0 ... SHARDS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};
_Atomic uint32_t cpu_event_waiters;

static struct shard *shard_of(const struct cpu_event *event)
{
    return &shards[((uintptr_t)event >> 6) % SHARDS];
}

uint64_t cpu_event_goal(struct cpu_event *event)
{
    return event->is_counter_based ? atomic_load_explicit(&event->target, memory_order_relaxed) : 1;
}

void cpu_event_submit(struct cpu_event *event)
{
    if (event->is_counter_based)
        atomic_fetch_add_explicit(&event->target, 1, memory_order_relaxed);
}

static void count_waiters(struct shard *shard, uint32_t change)
{
    atomic_fetch_add(&shard->waiters, change);
    atomic_fetch_add(&cpu_event_waiters, change);
}

// Takes the watches out whose goal is reached.
static struct cpu_event_watch *take_reached_locked(struct shard *shard)
{
    struct cpu_event_watch *reached = NULL;
    struct cpu_event_watch **link = &shard->watches;
    while (*link != NULL) {
        struct cpu_event_watch *watch = *link;
        if (!cpu_event_has_reached(watch->event, watch->goal)) {
            link = &watch->next;
            continue;
        }
        *link = watch->next;
        watch->next = reached;
        reached = watch;
        count_waiters(shard, -1u);
    }
    return reached;
}

static __attribute__((noinline)) void wake_all(struct shard *shard)
{
    pthread_mutex_lock(&shard->mutex);
    struct cpu_event_watch *watch = take_reached_locked(shard);
    pthread_cond_broadcast(&shard->changed);
    pthread_mutex_unlock(&shard->mutex);
    while (watch != NULL) {
        struct cpu_event_watch *next = watch->next;
        watch->wake(watch);
        watch = next;
    }
}

bool cpu_event_watch(struct cpu_event_watch *watch)
{
    struct shard *shard = shard_of(watch->event);
    pthread_mutex_lock(&shard->mutex);
    // Sequentially consistent: either this sees the new value, or the signaller the waiter.
    count_waiters(shard, 1);
    const bool waits = atomic_load(&watch->event->done) < watch->goal;
    if (waits) {
        watch->next = shard->watches;
        shard->watches = watch;
    } else {
        count_waiters(shard, -1u);
    }
    pthread_mutex_unlock(&shard->mutex);
    return waits;
}

void cpu_event_complete(struct cpu_event *event, uint64_t start, uint64_t end)
{
    struct shard *shard = shard_of(event);
    atomic_store_explicit(&event->start, start, memory_order_relaxed);
    atomic_store_explicit(&event->end, end, memory_order_relaxed);
    // Release: publishes the command's work. Sequentially consistent with the waiter's count, so
    // that either the waiter sees the new value or we see the waiter.
    if (event->is_counter_based)
        atomic_fetch_add(&event->done, 1);
    else
        atomic_store(&event->done, 1);
    if (atomic_load(&shard->waiters) > 0)
        wake_all(shard);
}

void cpu_event_wake(struct cpu_event *event)
{
    wake_all(shard_of(event));
}

void cpu_event_reset(struct cpu_event *event)
{
    if (!event->is_counter_based)
        atomic_store_explicit(&event->done, 0, memory_order_relaxed);
}

// The list's address, and its serial number in the bits that no address has.
static uint64_t list_key(const struct cpu_signaller *list)
{
    return (uint64_t)(uintptr_t)list |
           (uint64_t)atomic_load_explicit(&list->serial, memory_order_relaxed) << 48;
}

void cpu_event_note_list(struct cpu_event *event, const struct cpu_signaller *list,
                         enum cpu_signal signal)
{
    atomic_store_explicit(&event->list, list_key(list), memory_order_relaxed);
    atomic_store_explicit(&event->query_waits,
                          event->has_timestamps && signal == CPU_SIGNAL_OF_LAUNCH,
                          memory_order_relaxed);
}

// Not inlined: an event of no list costs a query the less.
__attribute__((noinline)) ze_result_t cpu_event_let_go_of_list(struct cpu_event *event,
                                                               const char *function)
{
    const uint64_t key = atomic_exchange_explicit(&event->list, 0, memory_order_relaxed);
    const struct cpu_signaller *list =
        (const struct cpu_signaller *)(uintptr_t)(key & ((UINT64_C(1) << 48) - 1));
    if (key == 0 || !cpu_options()->is_strict ||
        (list_key(list) == key &&
         atomic_load_explicit(&list->object.magic, memory_order_relaxed) == CPU_MAGIC(CPU_LIST)))
        return ZE_RESULT_SUCCESS;
    cpu_report(function, "list %p, which signalled event %p, has been destroyed",
               (const void *)list, (void *)event);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

bool cpu_event_wait(struct cpu_event *event, uint64_t goal, uint64_t timeout_ns)
{
    if (timeout_ns == 0)
        return cpu_event_has_reached(event, goal);
    const uint64_t deadline_ns = cpu_deadline(timeout_ns);
    for (int i = 0; i < SPINS; i++)
        if (cpu_event_has_reached(event, goal))
            return true;
    bool is_in_time = true;
    struct shard *shard = shard_of(event);
    pthread_mutex_lock(&shard->mutex);
    count_waiters(shard, 1);
    while (atomic_load(&event->done) < goal && is_in_time)
        is_in_time = cpu_condition_wait(&shard->changed, &shard->mutex, deadline_ns);
    count_waiters(shard, -1u);
    pthread_mutex_unlock(&shard->mutex);
    return cpu_event_has_reached(event, goal);
}

static struct cpu_event *create(struct cpu_event_pool *pool)
{
    struct cpu_event *event = cpu_object_create(CPU_EVENT, sizeof(*event));
    if (event != NULL)
        event->pool = pool;
    return event;
}

ze_result_t ZE_APICALL cpu_zeEventCreate(ze_event_pool_handle_t hEventPool,
                                         const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    struct cpu_event_pool *pool = (struct cpu_event_pool *)hEventPool;
    if (((desc->signal | desc->wait) & ~0x7u) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->index >= pool->count) {
        cpu_report(__func__, "index %u is not below the pool's count %u", desc->index, pool->count);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct cpu_event *event = create(pool);
    if (event == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    event->is_counter_based = pool->is_counter_based;
    event->has_timestamps = pool->has_timestamps;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                     ze_device_handle_t hDevice,
                                                     const ze_event_counter_based_desc_t *desc,
                                                     ze_event_handle_t *phEvent)
{
    if (desc->flags & CPU_EVENT_COUNTER_BASED_FLAG_IPC)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    struct cpu_event *event = create(NULL);
    if (event == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    event->is_counter_based = true;
    event->has_timestamps = (desc->flags & (CPU_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP |
                                            CPU_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP)) != 0;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zexCounterBasedEventCreate2(ze_context_handle_t hContext,
                                                       ze_device_handle_t hDevice,
                                                       const ze_event_counter_based_desc_t *desc,
                                                       ze_event_handle_t *phEvent)
{
    return cpu_zeEventCounterBasedCreate(hContext, hDevice, desc, phEvent);
}

ze_result_t ZE_APICALL cpu_zeEventDestroy(ze_event_handle_t hEvent)
{
    cpu_object_destroy(hEvent);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventHostSignal(ze_event_handle_t hEvent)
{
    struct cpu_event *event = (struct cpu_event *)hEvent;
    if (event->is_counter_based) {
        cpu_report(__func__, "counter-based events cannot be signalled by the host");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    uint64_t now = cpu_device_clock();
    cpu_event_complete(event, now, now);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventHostReset(ze_event_handle_t hEvent)
{
    struct cpu_event *event = (struct cpu_event *)hEvent;
    if (event->is_counter_based) {
        cpu_report(__func__, "counter-based events cannot be reset");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    cpu_event_reset(event);
    return cpu_event_let_go(event, __func__);
}

ze_result_t ZE_APICALL cpu_zeEventQueryStatus(ze_event_handle_t hEvent)
{
    struct cpu_event *event = (struct cpu_event *)hEvent;
    const uint64_t goal = cpu_event_goal(event);
    if (!cpu_event_has_reached(event, goal) &&
        !(atomic_load_explicit(&event->query_waits, memory_order_relaxed) &&
          cpu_event_wait(event, goal, QUERY_TIMEOUT_NS)))
        return ZE_RESULT_NOT_READY;
    return cpu_event_let_go(event, __func__);
}

ze_result_t ZE_APICALL cpu_zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    struct cpu_event *event = (struct cpu_event *)hEvent;
    uint64_t goal = cpu_event_goal(event);
    return cpu_event_has_reached(event, goal) || cpu_event_wait(event, goal, timeout)
               ? cpu_event_let_go(event, __func__)
               : ZE_RESULT_NOT_READY;
}

void cpu_event_timestamps(struct cpu_event *event, ze_kernel_timestamp_result_t *out_result)
{
    ze_kernel_timestamp_data_t data = {
        .kernelStart = cpu_device_ticks(atomic_load_explicit(&event->start, memory_order_relaxed)),
        .kernelEnd = cpu_device_ticks(atomic_load_explicit(&event->end, memory_order_relaxed)),
    };
    out_result->global = data;
    out_result->context = data;
}

ze_result_t ZE_APICALL cpu_zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                       ze_kernel_timestamp_result_t *dstptr)
{
    struct cpu_event *event = (struct cpu_event *)hEvent;
    if (!event->has_timestamps) {
        cpu_report(__func__, "the event was not made for timestamps");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!cpu_event_has_reached(event, cpu_event_goal(event)))
        return ZE_RESULT_NOT_READY;
    cpu_event_timestamps(event, dstptr);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                                     ze_device_handle_t hDevice, uint32_t *pCount,
                                                     ze_kernel_timestamp_result_t *pTimestamps)
{
    if (*pCount == 0 || pTimestamps == NULL) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    *pCount = 1;
    return cpu_zeEventQueryKernelTimestamp(hEvent, pTimestamps);
}

// The device's clock is the host's.
static ze_synchronized_timestamp_result_ext_t synchronized_times(struct cpu_event *event)
{
    const ze_synchronized_timestamp_data_ext_t times = {
        .kernelStart = atomic_load_explicit(&event->start, memory_order_relaxed),
        .kernelEnd = atomic_load_explicit(&event->end, memory_order_relaxed),
    };
    return (ze_synchronized_timestamp_result_ext_t){.global = times, .context = times};
}

ze_result_t ZE_APICALL cpu_zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults)
{
    const bool is_query = *pCount == 0;
    *pCount = 1;
    if (is_query || pResults == NULL)
        return ZE_RESULT_SUCCESS;
    ze_kernel_timestamp_result_t times;
    const ze_result_t result = cpu_zeEventQueryKernelTimestamp(hEvent, &times);
    if (result == ZE_RESULT_SUCCESS && pResults->pKernelTimestampsBuffer != NULL)
        *pResults->pKernelTimestampsBuffer = times;
    if (result == ZE_RESULT_SUCCESS && pResults->pSynchronizedTimestampsBuffer != NULL)
        *pResults->pSynchronizedTimestampsBuffer = synchronized_times((struct cpu_event *)hEvent);
    return result;
}

ze_result_t ZE_APICALL cpu_zeEventGetEventPool(ze_event_handle_t hEvent,
                                               ze_event_pool_handle_t *phEventPool)
{
    *phEventPool = (ze_event_pool_handle_t)((struct cpu_event *)hEvent)->pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventGetSignalScope(ze_event_handle_t hEvent,
                                                 ze_event_scope_flags_t *pSignalScope)
{
    *pSignalScope = ((struct cpu_event *)hEvent)->signal_scope;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventGetWaitScope(ze_event_handle_t hEvent,
                                               ze_event_scope_flags_t *pWaitScope)
{
    *pWaitScope = ((struct cpu_event *)hEvent)->wait_scope;
    return ZE_RESULT_SUCCESS;
}
