// SPDX-License-Identifier: MIT
// The calling thread's last build log. It has no bound, so it has owned memory, which grows with
// the largest log, and which a destructor of the thread frees.
#include "base/alloc.h"
#include "base/status.h"
#include "base/unload.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct log {
    size_t capacity; // of the text, without the end
    uint64_t id;     // what it is about
    char text[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

// The thread's; NULL: it never had one. The key has it, too, for the destructor.
static _Thread_local struct log *own;

static void destroy(void *log)
{
    own = NULL;
    zepi_free(log);
}

static void delete_key(void)
{
    // The last thread's log: its destructor does not run any more.
    destroy(pthread_getspecific(key));
    pthread_key_delete(key);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, destroy) == 0;
    if (has_key)
        zepi_at_unload(ZEPI_UNLOAD_LOG, delete_key);
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
    own = log;
    zepi_free(old);
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
