// SPDX-License-Identifier: MIT
#include "handles.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool reserve_locked(struct shim_handles *handles)
{
    const uint32_t capacity = handles->capacity == 0 ? 16 : handles->capacity * 2;
    void **items = realloc(handles->items, capacity * sizeof(*items));
    if (items == NULL)
        return false;
    memset(items + handles->capacity, 0, (capacity - handles->capacity) * sizeof(*items));
    handles->items = items;
    handles->capacity = capacity;
    return true;
}

uint32_t shim_handles_add(struct shim_handles *handles, void *item)
{
    pthread_mutex_lock(&handles->mutex);
    uint32_t i = 0;
    while (i < handles->capacity && handles->items[i] != NULL)
        i++;
    const bool has_room = i < handles->capacity || reserve_locked(handles);
    if (has_room)
        handles->items[i] = item;
    pthread_mutex_unlock(&handles->mutex);
    return has_room ? i + 1 : 0;
}

void *shim_handles_find(struct shim_handles *handles, uint32_t handle)
{
    pthread_mutex_lock(&handles->mutex);
    void *item = handle > 0 && handle <= handles->capacity ? handles->items[handle - 1] : NULL;
    pthread_mutex_unlock(&handles->mutex);
    return item;
}

void *shim_handles_remove(struct shim_handles *handles, uint32_t handle)
{
    void *item = NULL;
    pthread_mutex_lock(&handles->mutex);
    if (handle > 0 && handle <= handles->capacity) {
        item = handles->items[handle - 1];
        handles->items[handle - 1] = NULL;
    }
    pthread_mutex_unlock(&handles->mutex);
    return item;
}
