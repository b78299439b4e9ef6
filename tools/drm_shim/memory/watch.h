// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_WATCH_H
#define DRM_SHIM_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A thread that waits for memory to change. Writes of the GPU and calls of the kernel wake it; the
// program's own writes are not seen, so that the thread also has to look by itself: it spins for a
// moment, then sleeps longer and longer, up to a millisecond.
struct shim_watch {
    struct shim_watch *next; // guarded by the mutex of all watches, as is the rest
    pthread_cond_t changed;
    const void *address; // NULL: any write of the GPU
    bool is_notified, is_listed;
    int64_t began_ns; // of the present wait; 0: none. The owner's alone
};

void shim_watch_init(struct shim_watch *watch);
void shim_watch_finish(struct shim_watch *watch);

// Returns when the memory may have changed, at the latest at `deadline_ns` (of shim_now_ns). The
// caller looks at the memory before and after each call; a change in between is noticed when the
// present sleep is over. One thread at a time uses a watch.
void shim_watch_wait(struct shim_watch *watch, const void *address, int64_t deadline_ns);
// Ends a wait: the next one begins by spinning again.
void shim_watch_reset(struct shim_watch *watch);

// Wakes one watch.
void shim_watch_notify(struct shim_watch *watch);
// Wakes those that watch memory of this range; cheap if there are none.
void shim_watches_notify_write(const void *bytes, size_t size);
// Wakes all: the program has called the kernel, so it may have written anywhere.
void shim_watches_notify_all(void);

#endif
