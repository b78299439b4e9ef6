// SPDX-License-Identifier: MIT
#include "watch.h"

#include "gpu_clock.h"

#include <sched.h>
#include <stdatomic.h>

#define SPIN_NS 20000
#define YIELD_NS 200000
#define NAP_MAXIMUM_NS 1000000

// Guards the list and its watches; nothing is called under it.
static pthread_mutex_t watches_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct shim_watch *watches;
static _Atomic uint32_t watch_count;

void shim_watch_init(struct shim_watch *watch)
{
    *watch = (struct shim_watch){0};
    pthread_cond_init(&watch->changed, NULL);
}

static void unlist_locked(struct shim_watch *watch)
{
    struct shim_watch **link = &watches;
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    watch->is_listed = false;
    atomic_fetch_sub(&watch_count, 1);
}

void shim_watch_finish(struct shim_watch *watch)
{
    shim_watch_reset(watch);
    pthread_cond_destroy(&watch->changed);
}

// As long as the wait has lasted: at most half of the time is lost.
static int64_t next_nap(int64_t waited_ns)
{
    return waited_ns < NAP_MAXIMUM_NS ? waited_ns : NAP_MAXIMUM_NS;
}

static void list_locked(struct shim_watch *watch, const void *address)
{
    watch->address = address;
    if (watch->is_listed)
        return;
    watch->is_listed = true;
    watch->next = watches;
    watches = watch;
    atomic_fetch_add(&watch_count, 1);
}

static void nap(struct shim_watch *watch, const void *address, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = until_ns / 1000000000,
                                   .tv_nsec = until_ns % 1000000000};
    pthread_mutex_lock(&watches_mutex);
    list_locked(watch, address);
    int error = 0;
    while (!watch->is_notified && error == 0)
        error = pthread_cond_clockwait(&watch->changed, &watches_mutex, CLOCK_MONOTONIC, &until);
    watch->is_notified = false;
    pthread_mutex_unlock(&watches_mutex);
}

void shim_watch_wait(struct shim_watch *watch, const void *address, int64_t deadline_ns)
{
    const int64_t now_ns = shim_now_ns();
    if (watch->began_ns == 0)
        watch->began_ns = now_ns;
    const int64_t waited_ns = now_ns - watch->began_ns;
    if (now_ns >= deadline_ns)
        return;
    if (waited_ns < SPIN_NS) {
        __builtin_ia32_pause();
        return;
    }
    if (waited_ns < YIELD_NS) {
        sched_yield();
        return;
    }
    const int64_t until_ns = now_ns + next_nap(waited_ns);
    nap(watch, address, until_ns < deadline_ns ? until_ns : deadline_ns);
}

void shim_watch_reset(struct shim_watch *watch)
{
    watch->began_ns = 0;
    if (!watch->is_listed)
        return;
    pthread_mutex_lock(&watches_mutex);
    unlist_locked(watch);
    watch->is_notified = false;
    pthread_mutex_unlock(&watches_mutex);
}

static void notify_locked(struct shim_watch *watch)
{
    watch->is_notified = true;
    pthread_cond_signal(&watch->changed);
}

void shim_watch_notify(struct shim_watch *watch)
{
    pthread_mutex_lock(&watches_mutex);
    notify_locked(watch);
    pthread_mutex_unlock(&watches_mutex);
}

void shim_watches_notify_write(const void *bytes, size_t size)
{
    // A watch that is being listed right now looks again after its nap.
    if (atomic_load(&watch_count) == 0)
        return;
    const uintptr_t start = (uintptr_t)bytes;
    pthread_mutex_lock(&watches_mutex);
    for (struct shim_watch *watch = watches; watch != NULL; watch = watch->next) {
        const uintptr_t address = (uintptr_t)watch->address;
        if (address == 0 || (address >= start && address - start < size))
            notify_locked(watch);
    }
    pthread_mutex_unlock(&watches_mutex);
}

void shim_watches_notify_all(void)
{
    if (atomic_load(&watch_count) == 0)
        return;
    pthread_mutex_lock(&watches_mutex);
    for (struct shim_watch *watch = watches; watch != NULL; watch = watch->next)
        notify_locked(watch);
    pthread_mutex_unlock(&watches_mutex);
}
