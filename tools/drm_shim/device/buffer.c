// SPDX-License-Identifier: MIT
#include "buffer.h"

#include "memory/arena.h"
#include "options.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Sizes are multiples of pages.
#define SYSTEM_PAGE UINT64_C(4096)
#define DEVICE_PAGE UINT64_C(65536)

static pthread_mutex_t buffers_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the variables below
static struct shim_buffer *buffers;                               // by handle - 1; size 0: free
static uint32_t buffer_capacity;
// By node and region; all nodes count the system's memory in the first one.
static uint64_t bytes_used[SHIM_DEVICES_MAXIMUM][SHIM_REGION_VRAM + SHIM_TILES_MAXIMUM];
static uint64_t last_serial;

static struct shim_buffer *find_locked(uint32_t handle)
{
    return handle > 0 && handle <= buffer_capacity && buffers[handle - 1].size > 0
               ? &buffers[handle - 1]
               : NULL;
}

static uint64_t *used_locked(uint32_t node, uint32_t region)
{
    return &bytes_used[region == SHIM_REGION_SYSTEM ? 0 : node][region];
}

// 0 without memory.
static uint32_t free_handle_locked(void)
{
    for (uint32_t i = 0; i < buffer_capacity; i++)
        if (buffers[i].size == 0)
            return i + 1;
    const uint32_t capacity = buffer_capacity == 0 ? 64 : buffer_capacity * 2;
    struct shim_buffer *more = realloc(buffers, capacity * sizeof(*buffers));
    if (more == NULL)
        return 0;
    memset(more + buffer_capacity, 0, (capacity - buffer_capacity) * sizeof(*buffers));
    buffers = more;
    const uint32_t handle = buffer_capacity + 1;
    buffer_capacity = capacity;
    return handle;
}

static int add_locked(const struct shim_node *node, const struct shim_buffer *buffer,
                      uint32_t *out_handle)
{
    const bool is_limited =
        buffer->region != SHIM_REGION_SYSTEM || node->product->memory.vram_gib == 0;
    const uint64_t limit = is_limited ? shim_node_memory(node) : UINT64_MAX;
    uint64_t *used = used_locked(node->number, buffer->region);
    if (*used > limit || buffer->size > limit - *used)
        return ENOMEM;
    const uint32_t handle = free_handle_locked();
    if (handle == 0)
        return ENOMEM;
    buffers[handle - 1] = *buffer;
    buffers[handle - 1].serial = ++last_serial;
    buffers[handle - 1].node = node->number;
    *used += buffer->size;
    *out_handle = handle;
    return 0;
}

int shim_buffer_create(const struct shim_node *node, uint64_t size, uint32_t region,
                       uint32_t *out_handle)
{
    if (size == 0 || region >= SHIM_REGION_VRAM + SHIM_TILES_MAXIMUM)
        return EINVAL;
    if (size > shim_options()->arena_bytes)
        return ENOMEM;
    const uint64_t page = region == SHIM_REGION_SYSTEM ? SYSTEM_PAGE : DEVICE_PAGE;
    struct shim_buffer buffer = {.size = (size + page - 1) & ~(page - 1), .region = region};
    buffer.offset = shim_arena_take(buffer.size);
    if (buffer.offset == 0)
        return ENOMEM;
    pthread_mutex_lock(&buffers_mutex);
    const int error = add_locked(node, &buffer, out_handle);
    pthread_mutex_unlock(&buffers_mutex);
    if (error != 0)
        shim_arena_give(buffer.offset, buffer.size);
    return error;
}

int shim_buffer_create_user(const struct shim_node *node, uint8_t *bytes, uint64_t size,
                            uint32_t *out_handle)
{
    if (bytes == NULL || size == 0)
        return EINVAL;
    const struct shim_buffer buffer = {.user = bytes, .size = size, .region = SHIM_REGION_SYSTEM};
    pthread_mutex_lock(&buffers_mutex);
    const int error = add_locked(node, &buffer, out_handle);
    pthread_mutex_unlock(&buffers_mutex);
    return error;
}

uint8_t *shim_buffer_bytes(const struct shim_buffer *buffer)
{
    return buffer->user != NULL ? buffer->user : shim_arena_bytes(buffer->offset);
}

bool shim_buffer_find(uint32_t handle, struct shim_buffer *out_buffer)
{
    pthread_mutex_lock(&buffers_mutex);
    const struct shim_buffer *found = find_locked(handle);
    const bool is_there = found != NULL;
    if (is_there)
        *out_buffer = *found;
    pthread_mutex_unlock(&buffers_mutex);
    return is_there;
}

static struct shim_buffer *find_memory_locked(uint64_t serial)
{
    for (uint32_t i = 0; i < buffer_capacity; i++)
        if (buffers[i].size > 0 && buffers[i].serial == serial)
            return &buffers[i];
    return NULL;
}

// False if there is no such handle. Size 0 comes back while another handle names the memory.
static bool close_locked(uint32_t handle, struct shim_buffer *out_closed)
{
    struct shim_buffer *found = find_locked(handle);
    if (found == NULL)
        return false;
    *out_closed = *found;
    *found = (struct shim_buffer){0};
    if (out_closed->is_shared && find_memory_locked(out_closed->serial) != NULL)
        out_closed->size = 0;
    *used_locked(out_closed->node, out_closed->region) -= out_closed->size;
    return true;
}

int shim_buffer_close(uint32_t handle)
{
    struct shim_buffer closed = {0};
    pthread_mutex_lock(&buffers_mutex);
    const bool is_closed = close_locked(handle, &closed);
    pthread_mutex_unlock(&buffers_mutex);
    if (closed.size > 0 && closed.user == NULL)
        shim_arena_give(closed.offset, closed.size);
    return is_closed ? 0 : EINVAL;
}

static int share_locked(uint64_t serial, uint32_t *out_handle)
{
    struct shim_buffer *found = find_memory_locked(serial);
    if (found == NULL)
        return ENOENT;
    found->is_shared = true;
    const struct shim_buffer shared = *found;
    const uint32_t handle = free_handle_locked();
    if (handle == 0)
        return ENOMEM;
    buffers[handle - 1] = shared;
    *out_handle = handle;
    return 0;
}

int shim_buffer_share(uint64_t serial, uint32_t *out_handle)
{
    pthread_mutex_lock(&buffers_mutex);
    const int error = share_locked(serial, out_handle);
    pthread_mutex_unlock(&buffers_mutex);
    return error;
}

uint64_t shim_buffers_used(const struct shim_node *node, uint32_t region)
{
    pthread_mutex_lock(&buffers_mutex);
    const uint64_t used = *used_locked(node->number, region);
    pthread_mutex_unlock(&buffers_mutex);
    return used;
}
