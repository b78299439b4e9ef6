// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_HANDLES_H
#define DRM_SHIM_HANDLES_H

#include <pthread.h>
#include <stdint.h>

// Numbers, from 1, for objects that the driver knows by a number. Thread-safe; initialized with
// {PTHREAD_MUTEX_INITIALIZER}.
struct shim_handles {
    pthread_mutex_t mutex; // guards the members below
    void **items;          // by number - 1; NULL: free
    uint32_t capacity;
};

// 0 without memory.
uint32_t shim_handles_add(struct shim_handles *handles, void *item);
// NULL if there is no such number.
void *shim_handles_find(struct shim_handles *handles, uint32_t handle);
void *shim_handles_remove(struct shim_handles *handles, uint32_t handle);

#endif
