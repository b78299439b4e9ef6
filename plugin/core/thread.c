// SPDX-License-Identifier: MIT
#include "core/thread.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/unload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

_Thread_local struct zepi_thread zepi_thread;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; // its values are the threads' texts, for the destructor
static bool has_key;

static struct zepi_mutex mutex; // guards the list of all texts; nothing is called under it
static struct zepi_thread_texts *first;

unsigned zepi_thread_take_shard(void)
{
    static atomic_uint threads;
    // Relaxed: only the number matters.
    const unsigned thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    zepi_thread.shard = thread % ZEPI_THREAD_SHARDS + 1;
    return zepi_thread.shard - 1;
}

static void thread_texts_destroy(struct zepi_thread_texts *texts)
{
    zepi_mutex_lock(&mutex);
    if (texts->next)
        texts->next->previous = texts->previous;
    if (texts->previous)
        texts->previous->next = texts->next;
    else
        first = texts->next;
    zepi_mutex_unlock(&mutex);
    zepi_free(texts->log);
    zepi_free(texts);
}

static void end_thread(void *texts)
{
    zepi_thread.texts = NULL;
    thread_texts_destroy(texts);
}

// The texts of live threads: no destructor runs for them any more.
static void threads_unload(void)
{
    pthread_key_delete(key);
    while (first)
        thread_texts_destroy(first);
}

static void make_thread_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
    if (has_key)
        zepi_at_unload(ZEPI_UNLOAD_THREADS, threads_unload);
}

struct zepi_thread_texts *zepi_thread_texts(void)
{
    if (zepi_thread.texts)
        return zepi_thread.texts;
    pthread_once(&once, make_thread_key);
    struct zepi_thread_texts *texts = has_key ? zepi_allocate(1, sizeof(*texts)) : NULL;
    if (texts && pthread_setspecific(key, texts) != 0) {
        zepi_free(texts);
        texts = NULL;
    }
    if (!texts)
        return NULL;
    zepi_mutex_lock(&mutex);
    texts->next = first;
    if (first)
        first->previous = texts;
    first = texts;
    zepi_mutex_unlock(&mutex);
    zepi_thread.texts = texts;
    return texts;
}
