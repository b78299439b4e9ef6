// SPDX-License-Identifier: MIT
#include "object.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_OBJECTS 32

struct chunk {
    struct chunk *next;
    _Alignas(64) unsigned char bytes[];
};

struct store {
    pthread_mutex_t mutex; // guards the members below; nothing is called under it but calloc
    struct chunk *chunks;  // owned
    struct cpu_object *first_free;
    struct cpu_object *last_free;
    uint64_t live;
};

static struct store stores[CPU_KIND_COUNT] = {
    [0 ... CPU_KIND_COUNT - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};

static const char *const kind_names[CPU_KIND_COUNT] = {
    [CPU_NONE] = "nothing",
    [CPU_DRIVER] = "driver",
    [CPU_DEVICE] = "device",
    [CPU_CONTEXT] = "context",
    [CPU_QUEUE] = "command queue",
    [CPU_LIST] = "command list",
    [CPU_FENCE] = "fence",
    [CPU_EVENT_POOL] = "event pool",
    [CPU_EVENT] = "event",
    [CPU_IMAGE] = "image",
    [CPU_MODULE] = "module",
    [CPU_BUILD_LOG] = "build log",
    [CPU_KERNEL] = "kernel",
    [CPU_SAMPLER] = "sampler",
    [CPU_PHYSICAL_MEMORY] = "physical memory",
    [CPU_RESERVATION] = "virtual memory reservation",
    [CPU_IMPORT] = "import of host memory",
};

static void put_free_locked(struct store *store, struct cpu_object *object)
{
    object->next_free = NULL;
    if (store->last_free != NULL)
        store->last_free->next_free = object;
    else
        store->first_free = object;
    store->last_free = object;
}

static void add_chunk_locked(struct store *store, size_t size_bytes)
{
    size_t stride = (size_bytes + 63) & ~(size_t)63;
    struct chunk *chunk = aligned_alloc(64, sizeof(*chunk) + stride * CHUNK_OBJECTS);
    if (chunk == NULL)
        return;
    memset(chunk, 0, sizeof(*chunk) + stride * CHUNK_OBJECTS);
    chunk->next = store->chunks;
    store->chunks = chunk;
    for (size_t i = 0; i < CHUNK_OBJECTS; i++)
        put_free_locked(store, (struct cpu_object *)(chunk->bytes + i * stride));
}

void *cpu_object_create(enum cpu_kind kind, size_t size_bytes)
{
    struct store *store = &stores[kind];
    pthread_mutex_lock(&store->mutex);
    if (store->first_free == NULL)
        add_chunk_locked(store, size_bytes);
    struct cpu_object *object = store->first_free;
    if (object != NULL) {
        store->first_free = object->next_free;
        if (store->first_free == NULL)
            store->last_free = NULL;
        store->live++;
    }
    pthread_mutex_unlock(&store->mutex);
    if (object == NULL)
        return NULL;
    memset((unsigned char *)object + sizeof(*object), 0, size_bytes - sizeof(*object));
    cpu_object_init(object, kind);
    return object;
}

void cpu_object_destroy(void *handle)
{
    struct cpu_object *object = handle;
    if (object == NULL)
        return;
    uint32_t kind = atomic_load_explicit(&object->magic, memory_order_relaxed) & 0xffff;
    struct store *store = &stores[kind];
    atomic_store_explicit(&object->magic, CPU_MAGIC_DEAD, memory_order_relaxed);
    pthread_mutex_lock(&store->mutex);
    put_free_locked(store, object);
    store->live--;
    pthread_mutex_unlock(&store->mutex);
}

void cpu_object_init(struct cpu_object *object, enum cpu_kind kind)
{
    atomic_store_explicit(&object->magic, CPU_MAGIC(kind), memory_order_relaxed);
}

ze_result_t cpu_object_check(const void *handle, enum cpu_kind kind, const char *function)
{
    const struct cpu_object *object = handle;
    if (object == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (((uintptr_t)handle & 7) != 0) {
        cpu_report(function, "%p is no %s handle", handle, kind_names[kind]);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    uint32_t magic = atomic_load_explicit(&object->magic, memory_order_relaxed);
    if (magic == CPU_MAGIC(kind))
        return ZE_RESULT_SUCCESS;
    if (magic == CPU_MAGIC_DEAD)
        cpu_report(function, "%p is destroyed; expected: %s", handle, kind_names[kind]);
    else if (magic > CPU_MAGIC(CPU_NONE) && magic < CPU_MAGIC(CPU_KIND_COUNT))
        cpu_report(function, "%p is of kind %s; expected: %s", handle, kind_names[magic & 0xffff],
                   kind_names[kind]);
    else
        cpu_report(function, "%p is no %s handle", handle, kind_names[kind]);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t cpu_objects_check(uint32_t count, const void *handles, enum cpu_kind kind,
                              const char *function)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        result = cpu_object_check(((void *const *)handles)[i], kind, function);
    return result;
}

const char *cpu_kind_name(enum cpu_kind kind)
{
    return kind_names[kind];
}

uint64_t cpu_object_live(enum cpu_kind kind)
{
    struct store *store = &stores[kind];
    pthread_mutex_lock(&store->mutex);
    uint64_t live = store->live;
    pthread_mutex_unlock(&store->mutex);
    return live;
}

void cpu_report(const char *function, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (strncmp(function, "cpu_", 4) == 0)
        function += 4;
    fprintf(stderr, "ze_cpu: %s: %s\n", function, line);
}
