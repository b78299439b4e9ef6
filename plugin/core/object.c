// SPDX-License-Identifier: MIT
#include "core/object.h"

#include "core/alloc.h"
#include "core/unload.h"

#define SLAB_OBJECTS 32
#define LINE_BYTES 64 // no two objects share a cache line

// Memory for some objects of one type. The objects follow.
struct zepi_slab {
    struct zepi_slab *next;
    alignas(LINE_BYTES) char objects[];
};

static void *front_end;
static struct zepi_mutex pools_mutex; // guards the list of pools
static struct zepi_type_pool *pools;

void zepi_object_set_front_end(void *value)
{
    front_end = value;
}

static void unload_pool(struct zepi_type_pool *pool)
{
    while (pool->slabs) {
        struct zepi_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        zepi_free(slab);
    }
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++)
        pool->shards[i].free_first = pool->shards[i].free_last = NULL;
}

static void unload_pools(void)
{
    for (struct zepi_type_pool *pool = pools; pool; pool = pool->next)
        unload_pool(pool);
}

void zepi_object_unload_types(const void *begin, const void *end)
{
    if (zepi_process_is_ending())
        return;
    zepi_mutex_lock(&pools_mutex);
    for (struct zepi_type_pool **link = &pools; *link;) {
        struct zepi_type_pool *pool = *link;
        const uintptr_t type = (uintptr_t)pool->type;
        if (type >= (uintptr_t)begin && type < (uintptr_t)end) {
            *link = pool->next;
            unload_pool(pool);
        } else {
            link = &pool->next;
        }
    }
    zepi_mutex_unlock(&pools_mutex);
}

// The link of a free object lies behind its head.
static struct zepi_object **free_object_link(struct zepi_object *object)
{
    return (struct zepi_object **)(object + 1);
}

static void shard_give_object_locked(struct zepi_pool_shard *shard, struct zepi_object *object)
{
    *free_object_link(object) = NULL;
    if (shard->free_last)
        *free_object_link(shard->free_last) = object;
    else
        shard->free_first = object;
    shard->free_last = object;
}

static size_t object_stride(const struct zepi_type *type)
{
    const size_t least = sizeof(struct zepi_object) + sizeof(void *);
    const size_t size = type->size_bytes > least ? type->size_bytes : least;
    return (size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static void note_object_pool(struct zepi_type_pool *pool, const struct zepi_type *type)
{
    zepi_mutex_lock(&pools_mutex);
    if (!pool->type) {
        pool->type = type;
        pool->next = pools;
        pools = pool;
        zepi_at_unload(ZEPI_UNLOAD_OBJECTS, unload_pools);
    }
    zepi_mutex_unlock(&pools_mutex);
}

static bool add_slab(const struct zepi_type *type, struct zepi_pool_shard *shard)
{
    struct zepi_type_pool *pool = type->pool;
    const size_t stride = object_stride(type);
    const size_t size = sizeof(struct zepi_slab) + SLAB_OBJECTS * stride;
    struct zepi_slab *slab = zepi_sys_allocate_lines(size);
    if (!slab)
        return false;
    memset(slab, 0, size);
    note_object_pool(pool, type);

    zepi_mutex_lock(&pool->mutex);
    slab->next = pool->slabs;
    pool->slabs = slab;
    zepi_mutex_unlock(&pool->mutex);

    zepi_mutex_lock(&shard->mutex);
    for (size_t i = 0; i < SLAB_OBJECTS; i++)
        shard_give_object_locked(shard, (struct zepi_object *)(slab->objects + i * stride));
    zepi_mutex_unlock(&shard->mutex);
    return true;
}

static inline struct zepi_object *shard_take_object(struct zepi_pool_shard *shard)
{
    zepi_mutex_lock(&shard->mutex);
    struct zepi_object *object = shard->free_first;
    if (object) {
        shard->free_first = *free_object_link(object);
        if (!shard->free_first)
            shard->free_last = NULL;
    }
    zepi_mutex_unlock(&shard->mutex);
    return object;
}

// When the shard of the thread is empty: others', where objects go that one thread makes and
// another releases, then new memory.
static __attribute__((noinline)) struct zepi_object *
take_object_elsewhere(const struct zepi_type *type, unsigned own)
{
    struct zepi_object *object;
    for (unsigned i = 1; i < ZEPI_THREAD_SHARDS; i++) {
        object = shard_take_object(&type->pool->shards[(own + i) % ZEPI_THREAD_SHARDS]);
        if (object)
            return object;
    }
    do {
        if (!add_slab(type, &type->pool->shards[own]))
            return NULL;
        object = shard_take_object(&type->pool->shards[own]);
    } while (!object);
    return object;
}

void *zepi_object_create(const struct zepi_type *type)
{
    const unsigned own = zepi_thread_shard();
    struct zepi_object *object = shard_take_object(&type->pool->shards[own]);
    if (!object)
        object = take_object_elsewhere(type, own);
    if (!object) {
        zepi_fail_no_memory();
        return NULL;
    }
    memset(object + 1, 0, type->size_bytes - sizeof(*object));
    object->front_end = front_end;
    atomic_store_explicit(&object->is_published, false, memory_order_relaxed);
    // Release: zepi_object_visit_all sees that it is not published, as the object that the memory
    // was before may have been.
    atomic_store_explicit(&object->references, 1, memory_order_release);
    // Release: a wrong handle that becomes right at this moment is seen whole.
    atomic_store_explicit(&object->type, type, memory_order_release);
    return object;
}

void zepi_object_discard(void *object)
{
    const struct zepi_type *type =
        atomic_load_explicit(&((struct zepi_object *)object)->type, memory_order_relaxed);
    zepi_object_set_free(object);
    zepi_object_discard_free(object, type);
}

void zepi_object_discard_free(void *object, const struct zepi_type *type)
{
    struct zepi_pool_shard *shard = &type->pool->shards[zepi_thread_shard()];
    zepi_mutex_lock(&shard->mutex);
    shard_give_object_locked(shard, object);
    zepi_mutex_unlock(&shard->mutex);
}

bool zepi_try_retain(void *pointer)
{
    struct zepi_object *object = pointer;
    unsigned references = atomic_load_explicit(&object->references, memory_order_relaxed);
    while (references > 0) {
        if (atomic_compare_exchange_weak_explicit(&object->references, &references, references + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

void zepi_object_visit_all(const struct zepi_type *type, void (*visit)(void *user, void *object),
                           void *user)
{
    const size_t stride = object_stride(type);
    zepi_mutex_lock(&type->pool->mutex);
    struct zepi_slab *slab = type->pool->slabs;
    zepi_mutex_unlock(&type->pool->mutex);
    // Slabs are added at the head, and stay.
    for (; slab; slab = slab->next) {
        for (size_t i = 0; i < SLAB_OBJECTS; i++) {
            struct zepi_object *object = (struct zepi_object *)(slab->objects + i * stride);
            // Memory of a type stays with it: any object with a reference is of this type.
            if (!zepi_try_retain(object))
                continue;
            // Acquire: the object is whole.
            if (atomic_load_explicit(&object->is_published, memory_order_acquire))
                visit(user, object);
            else
                zepi_release(object);
        }
    }
}

static inline zepi_result_t object_end(struct zepi_object *object, const struct zepi_type *type)
{
    if (type->recycle)
        return type->recycle(object);
    type->destroy(object);
    zepi_object_discard(object);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_object_end(void *pointer)
{
    struct zepi_object *object = pointer;
    return object_end(object, atomic_load_explicit(&object->type, memory_order_relaxed));
}

void zepi_release(void *object)
{
    if (object && zepi_object_drop(object))
        zepi_object_end(object);
}

// Bounds of the section that ZEPI_DEFINE_TYPE puts types into; the linker defines them.
extern const char __start_zepi_types[] __attribute__((visibility("hidden")));
extern const char __stop_zepi_types[] __attribute__((visibility("hidden")));

// Whether it is an object, as far as that can be told, and of which type.
static inline bool is_any_object(const void *object, const struct zepi_type **out_type)
{
    if (!object || ((uintptr_t)object & (sizeof(void *) - 1)))
        return false;
    *out_type =
        atomic_load_explicit(&((const struct zepi_object *)object)->type, memory_order_relaxed);
    const uintptr_t type = (uintptr_t)*out_type;
    return __builtin_expect(
        type >= (uintptr_t)__start_zepi_types && type < (uintptr_t)__stop_zepi_types, 1);
}

zepi_result_t zepi_retain_any(void *object)
{
    const struct zepi_type *type;
    if (!is_any_object(object, &type))
        return zepi_fail_object(object, NULL);
    zepi_retain(object);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_release_any(void *object)
{
    const struct zepi_type *type;
    if (!is_any_object(object, &type))
        return zepi_fail_object(object, NULL);
    return zepi_object_drop(object) ? object_end(object, type) : ZEPI_SUCCESS;
}

zepi_result_t zepi_fail_object(const void *object, const struct zepi_type *type)
{
    if (!object)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the %s is NULL", type ? type->name : "object");
    if (!type)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "%p is no object of zepi's, or was released",
                         object);
    return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                     "%p is not a %s: an object of another type, a released one or none of zepi's",
                     object, type->name);
}
