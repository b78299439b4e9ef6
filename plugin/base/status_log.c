// SPDX-License-Identifier: MIT
// The calling thread's last build log. It has no bound, so it has owned memory, which a destructor
// of the thread frees.
#include "base/alloc.h"
#include "base/status.h"
#include "base/unload.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void delete_key(void)
{
    // The last thread's log: its destructor does not run any more.
    zepi_free(pthread_getspecific(key));
    pthread_key_delete(key);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, zepi_free) == 0;
    if (has_key)
        zepi_at_unload(ZEPI_UNLOAD_LOG, delete_key);
}

// Whether the calling thread has a log: spares the rest of the way to most builds.
static _Thread_local bool is_set;

void zepi_build_log_set(const char *log, size_t size_bytes)
{
    if (size_bytes == 0 && !is_set)
        return;
    pthread_once(&once, make_key);
    if (!has_key)
        return;
    char *old = pthread_getspecific(key);
    char *copy = size_bytes ? zepi_allocate(size_bytes + 1, 1) : NULL;
    if (copy)
        memcpy(copy, log, size_bytes);
    if (pthread_setspecific(key, copy) != 0) {
        zepi_free(copy);
        return;
    }
    is_set = copy != NULL;
    zepi_free(old);
}

const char *zepi_build_log_get(void)
{
    pthread_once(&once, make_key);
    const char *log = has_key ? pthread_getspecific(key) : NULL;
    return log ? log : "";
}
