// SPDX-License-Identifier: MIT
// The ends of allocations: at once, or once no queue has work.
#include "driver.h"
#include "entry.h"
#include "memory/memory.h"
#include "queue/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

// Guards the variables below; nothing is called under it but realloc.
static pthread_mutex_t deferred_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct cpu_allocation *deferred; // owned
static _Atomic size_t deferred_count;

ze_result_t ZE_APICALL cpu_zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    struct cpu_allocation erased;
    if (!cpu_memory_erase(ptr, false, &erased)) {
        cpu_report(__func__, "%p is no allocation", ptr);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    cpu_memory_free(&erased);
    cpu_memory_sweep();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t defer(const struct cpu_allocation *erased)
{
    // Commands that are still to come may use it, and its rights change no more.
    if (erased->type == ZE_MEMORY_TYPE_DEVICE)
        mprotect((void *)erased->address, erased->mapped_bytes, PROT_READ | PROT_WRITE);
    pthread_mutex_lock(&deferred_mutex);
    struct cpu_allocation *grown = realloc(deferred, (deferred_count + 1) * sizeof(*grown));
    if (grown != NULL) {
        deferred = grown;
        deferred[deferred_count++] = *erased;
    }
    pthread_mutex_unlock(&deferred_mutex);
    return grown != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t ZE_APICALL cpu_zeMemFreeExt(ze_context_handle_t hContext,
                                        const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr)
{
    if (pMemFreeDesc->freePolicy == ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE) {
        struct cpu_allocation erased;
        if (!cpu_memory_erase(ptr, false, &erased)) {
            cpu_report(__func__, "%p is no allocation", ptr);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        ze_result_t result = defer(&erased);
        cpu_memory_sweep();
        return result;
    }
    cpu_engines_drain();
    return cpu_zeMemFree(hContext, ptr);
}

void cpu_memory_sweep(void)
{
    // Relaxed: a thread that defers sweeps, too.
    if (atomic_load_explicit(&deferred_count, memory_order_relaxed) == 0 || !cpu_engines_are_idle())
        return;
    pthread_mutex_lock(&deferred_mutex);
    struct cpu_allocation *victims = deferred;
    size_t count = deferred_count;
    deferred = NULL;
    deferred_count = 0;
    pthread_mutex_unlock(&deferred_mutex);
    for (size_t i = 0; i < count; i++)
        cpu_memory_free(&victims[i]);
    free(victims);
}
