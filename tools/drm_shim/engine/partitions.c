// SPDX-License-Identifier: MIT
#include "partitions.h"

#include "log.h"
#include "memory/watch.h"

#include <pthread.h>
#include <stdlib.h>

struct shim_partitioned {
    struct shim_partitioned *next; // of those that not all have arrived at
    uint64_t walker;
    uint32_t arrived; // a bit for each
    uint32_t count, references;
    enum shim_partition_state state;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards all of them, and the list
static struct shim_partitioned *first;

static struct shim_partitioned **find_locked(uint64_t walker)
{
    struct shim_partitioned **link = &first;
    while (*link && (*link)->walker != walker)
        link = &(*link)->next;
    return link;
}

static struct shim_partitioned *arrive_locked(uint64_t walker, uint32_t number, uint32_t count)
{
    struct shim_partitioned **link = find_locked(walker), *partitioned = *link;
    if (!partitioned) {
        partitioned = calloc(1, sizeof(*partitioned));
        if (!partitioned)
            return NULL;
        partitioned->walker = walker;
        partitioned->count = count;
        *link = partitioned;
    }
    if (number >= count || partitioned->arrived >> number & 1) {
        shim_error("COMPUTE_WALKER at 0x%llx: partition %u of %u comes twice",
                   (unsigned long long)walker, number, count);
        return NULL;
    }
    partitioned->arrived |= 1u << number;
    if (++partitioned->references == count) {
        partitioned->state = SHIM_PARTITION_RUNS;
        *link = partitioned->next;
    }
    return partitioned;
}

struct shim_partitioned *shim_partitions_arrive(uint64_t walker, uint32_t number, uint32_t count)
{
    pthread_mutex_lock(&mutex);
    struct shim_partitioned *partitioned = arrive_locked(walker, number, count);
    pthread_mutex_unlock(&mutex);
    return partitioned;
}

enum shim_partition_state shim_partitioned_state(struct shim_partitioned *partitioned)
{
    pthread_mutex_lock(&mutex);
    const enum shim_partition_state state = partitioned->state;
    if (state == SHIM_PARTITION_RUNS)
        partitioned->state = SHIM_PARTITION_WAITS; // for the one that is told now
    pthread_mutex_unlock(&mutex);
    return state;
}

void shim_partitioned_end(struct shim_partitioned *partitioned, bool is_done)
{
    pthread_mutex_lock(&mutex);
    partitioned->state = is_done ? SHIM_PARTITION_ENDED : SHIM_PARTITION_FAILED;
    pthread_mutex_unlock(&mutex);
    shim_watches_notify_all();
}

void shim_partitioned_leave(struct shim_partitioned *partitioned)
{
    if (!partitioned)
        return;
    pthread_mutex_lock(&mutex);
    const bool is_last = --partitioned->references == 0;
    if (is_last) { // some never came
        struct shim_partitioned **link = find_locked(partitioned->walker);
        if (*link == partitioned)
            *link = partitioned->next;
    }
    pthread_mutex_unlock(&mutex);
    if (is_last)
        free(partitioned);
}
