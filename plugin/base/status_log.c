// SPDX-License-Identifier: MIT
// The calling thread's last build log. It has no bound, so it has owned memory, which grows with
// the largest log, and which a destructor of the thread frees, or dlclose.
#include "base/alloc.h"
#include "base/status.h"
#include "base/unload.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct log {
    struct log *next, *previous; // of all threads
    size_t capacity;             // of the text, without the end
    uint64_t id;                 // what it is about
    char text[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

// Guards the list of all logs. Nothing is called under it.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct log *first;

// The thread's; NULL: it never had one. The key has it, too, for the destructor.
static _Thread_local struct log *own;

static void put(struct log *log)
{
    pthread_mutex_lock(&mutex);
    log->next = first;
    log->previous = NULL;
    if (first)
        first->previous = log;
    first = log;
    pthread_mutex_unlock(&mutex);
}

static void destroy(struct log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&mutex);
    if (log->next)
        log->next->previous = log->previous;
    if (log->previous)
        log->previous->next = log->next;
    else
        first = log->next;
    pthread_mutex_unlock(&mutex);
    zepi_free(log);
}

static void end_thread(void *log)
{
    own = NULL;
    destroy(log);
}

// The logs of live threads: no destructor runs for them any more.
static void unload(void)
{
    pthread_key_delete(key);
    while (first)
        destroy(first);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
    if (has_key)
        zepi_at_unload(ZEPI_UNLOAD_LOG, unload);
}

static bool grow(size_t size_bytes)
{
    pthread_once(&once, make_key);
    struct log *log = has_key && size_bytes < SIZE_MAX - sizeof(*log)
                          ? zepi_seam_allocate(sizeof(*log) + size_bytes + 1)
                          : NULL;
    struct log *old = own;
    if (log && pthread_setspecific(key, log) != 0) {
        zepi_free(log);
        log = NULL;
    }
    if (!log)
        return false;
    log->capacity = size_bytes;
    log->id = 0;
    put(log);
    own = log;
    destroy(old);
    return true;
}

bool zepi_build_log_is(uint64_t id)
{
    const struct log *log = own;
    return log && log->id == id;
}

void zepi_build_log_set(const char *log, size_t size_bytes, uint64_t id)
{
    struct log *to = own;
    if (to) {
        to->text[0] = '\0';
        to->id = 0;
    }
    if ((!to || to->capacity < size_bytes) && !grow(size_bytes))
        return;
    to = own;
    memcpy(to->text, log, size_bytes);
    to->text[size_bytes] = '\0';
    to->id = id;
}

const char *zepi_build_log_get(void)
{
    return own ? own->text : "";
}
