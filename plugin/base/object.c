// SPDX-License-Identifier: MIT
#include "base/object.h"

#include "base/alloc.h"
#include "base/unload.h"

#define SLAB_OBJECTS 32

// Memory for some objects of one type. The objects follow.
struct zepi_slab {
    struct zepi_slab *next;
    max_align_t objects[];
};

static void *front_door;
static pthread_mutex_t pools_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the list of pools
static struct zepi_type_pool *pools;

void zepi_object_set_front_door(void *value)
{
    front_door = value;
}

static void unload_pools(void)
{
    for (struct zepi_type_pool *pool = pools; pool; pool = pool->next) {
        while (pool->slabs) {
            struct zepi_slab *slab = pool->slabs;
            pool->slabs = slab->next;
            zepi_free(slab);
        }
        pool->free_first = pool->free_last = NULL;
    }
}

// The link of a free object lies behind its head.
static struct zepi_object **link_of(struct zepi_object *object)
{
    return (struct zepi_object **)(object + 1);
}

static void give_locked(struct zepi_type_pool *pool, struct zepi_object *object)
{
    *link_of(object) = NULL;
    if (pool->free_last)
        *link_of(pool->free_last) = object;
    else
        pool->free_first = object;
    pool->free_last = object;
}

static size_t stride_of(const struct zepi_type *type)
{
    const size_t least = sizeof(struct zepi_object) + sizeof(void *);
    const size_t size = type->size_bytes > least ? type->size_bytes : least;
    return (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

static void note_pool(struct zepi_type_pool *pool, const struct zepi_type *type)
{
    pthread_mutex_lock(&pools_mutex);
    if (!pool->type) {
        pool->type = type;
        pool->next = pools;
        pools = pool;
        zepi_at_unload(ZEPI_UNLOAD_OBJECTS, unload_pools);
    }
    pthread_mutex_unlock(&pools_mutex);
}

static bool add_slab(const struct zepi_type *type)
{
    struct zepi_type_pool *pool = type->pool;
    const size_t stride = stride_of(type);
    struct zepi_slab *slab = zepi_allocate(1, sizeof(*slab) + SLAB_OBJECTS * stride);
    if (!slab)
        return false;
    note_pool(pool, type);

    pthread_mutex_lock(&pool->mutex);
    slab->next = pool->slabs;
    pool->slabs = slab;
    for (size_t i = 0; i < SLAB_OBJECTS; i++)
        give_locked(pool, (struct zepi_object *)((char *)slab->objects + i * stride));
    pthread_mutex_unlock(&pool->mutex);
    return true;
}

static struct zepi_object *take(struct zepi_type_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    struct zepi_object *object = pool->free_first;
    if (object) {
        pool->free_first = *link_of(object);
        if (!pool->free_first)
            pool->free_last = NULL;
    }
    pthread_mutex_unlock(&pool->mutex);
    return object;
}

void *zepi_object_create(const struct zepi_type *type)
{
    struct zepi_object *object;
    while (!(object = take(type->pool))) {
        if (!add_slab(type)) {
            zepi_fail_no_memory();
            return NULL;
        }
    }
    memset(object + 1, 0, type->size_bytes - sizeof(*object));
    object->front_door = front_door;
    atomic_store_explicit(&object->references, 1, memory_order_relaxed);
    // Release: a wrong handle that becomes right at this moment is seen whole.
    atomic_store_explicit(&object->type, type, memory_order_release);
    return object;
}

void zepi_object_discard(void *pointer)
{
    struct zepi_object *object = pointer;
    const struct zepi_type *type = atomic_load_explicit(&object->type, memory_order_relaxed);
    atomic_store_explicit(&object->type, NULL, memory_order_relaxed);
    pthread_mutex_lock(&type->pool->mutex);
    give_locked(type->pool, object);
    pthread_mutex_unlock(&type->pool->mutex);
}

bool zepi_try_retain(void *pointer)
{
    struct zepi_object *object = pointer;
    unsigned references = atomic_load_explicit(&object->references, memory_order_relaxed);
    while (references > 0) {
        if (atomic_compare_exchange_weak_explicit(&object->references, &references, references + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return false;
}

void zepi_release(void *pointer)
{
    struct zepi_object *object = pointer;
    if (!object)
        return;
    // Release: what this thread did with the object is seen by who destroys it. Acquire: by me.
    const unsigned before = atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before > 1)
        return;
    atomic_load_explicit(&object->type, memory_order_relaxed)->destroy(object);
    zepi_object_discard(object);
}

// Bounds of the section that ZEPI_DEFINE_TYPE puts types into; the linker defines them.
extern const char __start_zepi_types[] __attribute__((visibility("hidden")));
extern const char __stop_zepi_types[] __attribute__((visibility("hidden")));

static zepi_result_t check_any(const void *object)
{
    if (!object)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the object is NULL");
    if ((uintptr_t)object & (sizeof(void *) - 1))
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "%p is no object of zepi's: not aligned",
                         object);
    const struct zepi_type *type =
        atomic_load_explicit(&((const struct zepi_object *)object)->type, memory_order_relaxed);
    if ((uintptr_t)type >= (uintptr_t)__start_zepi_types &&
        (uintptr_t)type < (uintptr_t)__stop_zepi_types)
        return ZEPI_SUCCESS;
    return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "%p is no object of zepi's, or was released",
                     object);
}

zepi_result_t zepi_retain_any(void *object)
{
    const zepi_result_t result = check_any(object);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_retain(object);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_release_any(void *object)
{
    const zepi_result_t result = check_any(object);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_release(object);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_fail_object(const void *object, const struct zepi_type *type)
{
    if (!object)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the %s is NULL", type->name);
    return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                     "%p is not a %s: an object of another type, a released one or none of zepi's",
                     object, type->name);
}
