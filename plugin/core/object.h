// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_OBJECT_H
#define ZEPI_CORE_OBJECT_H

#include "core/mutex.h"
#include "core/status.h"
#include "core/thread.h"

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The head of every object: the first member of its structure.
struct zepi_object {
    void *front_end; // the UR adapter's dispatch table, NULL without it; never written again
    _Atomic(const struct zepi_type *) type; // NULL once released: tells handles apart
    atomic_uint references;
    atomic_bool is_published; // zepi_object_visit_all visits it
};
static_assert(offsetof(struct zepi_object, front_end) == 0,
              "UR's loader reads the dispatch table at offset 0 of every handle");

// A type of object and its memory. Memory of a type is never given to another type or to the
// system before the plugin is unloaded, so that looking at a released handle is harmless.
struct zepi_type {
    const char *name; // "queue"
    size_t size_bytes;
    void (*destroy)(void *object); // frees what the object holds, under no lock
    // In place of `destroy`, for a type that keeps some of its objects for itself:
    // zepi_object_set_free, until zepi_object_reuse. NULL: their memory is given back when they are
    // destroyed.
    // Returns ZEPI_SUCCESS, so that this can be the last call of a release.
    zepi_result_t (*recycle)(void *object);
    struct zepi_type_pool *pool; // static, of this type alone
};

// Free memory of a type, apart for threads: those that make and release objects at the same time
// write to no common cache line.
struct zepi_pool_shard {
    alignas(64) struct zepi_mutex mutex; // guards the members below; nothing is called under it
    struct zepi_object *free_first;
    struct zepi_object *free_last; // oldest first out, so that released handles are told for long
};

struct zepi_type_pool {
    struct zepi_pool_shard shards[ZEPI_THREAD_SHARDS];
    struct zepi_mutex mutex; // guards the members below; nothing is called under it
    struct zepi_slab *slabs;
    const struct zepi_type *type;
    struct zepi_type_pool *next; // of all pools, for unloading
};

// Defines type `zepi_NOUN_type` of `struct zepi_NOUN`. All types lie in one section, so that a look
// at an address tells whether it is one.
#define ZEPI_DEFINE_TYPE(noun, destroy_function)                                                   \
    ZEPI_DEFINE_RECYCLED_TYPE(noun, destroy_function, NULL)
#define ZEPI_DEFINE_RECYCLED_TYPE(noun, destroy_function, recycle_function)                        \
    static_assert(offsetof(struct zepi_##noun, object) == 0, "the head comes first");              \
    static struct zepi_type_pool noun##_pool;                                                      \
    __attribute__((section("zepi_types")))                                                         \
    const struct zepi_type zepi_##noun##_type = {.name = #noun,                                    \
                                                 .size_bytes = sizeof(struct zepi_##noun),         \
                                                 .destroy = destroy_function,                      \
                                                 .recycle = recycle_function,                      \
                                                 .pool = &noun##_pool}

// The value of every later object's front end. device/adapter.h sets it.
void zepi_object_set_front_end(void *front_end);

// Gives back the memory of the types between two addresses: the library that defines them goes, and
// this one may stay. None of their objects is left.
void zepi_object_unload_types(const void *begin, const void *end);

// A zeroed object with one reference, or NULL without memory (noted).
void *zepi_object_create(const struct zepi_type *type);

// Gives back the memory of an object that never came to be used; its destroy function is not run.
void zepi_object_discard(void *object);
// Discards an object that lies in a free list, whose references stay 0.
void zepi_object_discard_free(void *object, const struct zepi_type *type);

// An object without references, of a type with `recycle`, is no handle any more until it is reused.
static inline void zepi_object_set_free(void *object)
{
    atomic_store_explicit(&((struct zepi_object *)object)->type, NULL, memory_order_relaxed);
}
static inline void zepi_object_reuse(void *object, const struct zepi_type *type)
{
    struct zepi_object *head = object;
    atomic_store_explicit(&head->references, 1, memory_order_relaxed);
    // Release: a wrong handle that becomes right at this moment is seen whole.
    atomic_store_explicit(&head->type, type, memory_order_release);
}

// Relaxed: a reference is made from a reference, which orders everything that matters.
static inline void *zepi_retain(void *object)
{
    atomic_fetch_add_explicit(&((struct zepi_object *)object)->references, 1, memory_order_relaxed);
    return object;
}

// A reference to an object that may be on its way out: false if its count is 0 already. Under the
// lock of a list that the object's destroy function takes it out of, or before the object is looked
// at, as in zepi_object_visit_all.
bool zepi_try_retain(void *object);

// The object is whole: from now on zepi_object_visit_all visits it. Ends the creation of objects of
// types that are visited.
static inline void zepi_object_publish(void *object)
{
    // Release: a thread that visits the object sees all of it.
    atomic_store_explicit(&((struct zepi_object *)object)->is_published, true,
                          memory_order_release);
}
// Calls `visit` with a new reference to each object of a type that is published and alive, in no
// order. One that is made meanwhile may be among them or not.
void zepi_object_visit_all(const struct zepi_type *type, void (*visit)(void *user, void *object),
                           void *user);

// NULL is fine. Destroys the object with its last reference.
void zepi_release(void *object);

// Releases the reference unless it is the last one. False: it is, and the caller keeps it.
static inline bool zepi_release_unless_last(void *object)
{
    struct zepi_object *head = object;
    unsigned references = atomic_load_explicit(&head->references, memory_order_relaxed);
    while (references > 1) {
        // Release: as zepi_object_drop.
        if (atomic_compare_exchange_weak_explicit(&head->references, &references, references - 1,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

// Whether that was the last reference. The caller ends the object then.
static inline bool zepi_object_drop(void *object)
{
    // Release: the thread that destroys the object sees this thread's writes. Acquire: in this one.
    const unsigned before = atomic_fetch_sub_explicit(&((struct zepi_object *)object)->references,
                                                      1, memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
}
zepi_result_t zepi_object_end(void *object);

// The table's retain and release: of any object, checked.
zepi_result_t zepi_retain_any(void *object);
zepi_result_t zepi_release_any(void *object);

// `type` NULL: any object was expected.
zepi_result_t zepi_fail_object(const void *object, const struct zepi_type *type)
    __attribute__((cold, noinline));

static inline bool zepi_object_is(const void *object, const struct zepi_type *type)
{
    // Relaxed: a live handle came to this thread with everything that its maker wrote.
    return object && ((uintptr_t)object & (sizeof(void *) - 1)) == 0 &&
           atomic_load_explicit(&((const struct zepi_object *)object)->type,
                                memory_order_relaxed) == type;
}

// Whether `object` is a live object of this type; if not, that is noted.
static inline zepi_result_t zepi_check_object(const void *object, const struct zepi_type *type)
{
    return __builtin_expect(zepi_object_is(object, type), 1) ? ZEPI_SUCCESS
                                                             : zepi_fail_object(object, type);
}

#endif
