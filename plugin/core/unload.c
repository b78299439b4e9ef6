// SPDX-License-Identifier: MIT
#include "core/unload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(void (*)(void)) functions[ZEPI_UNLOAD_STAGES];

// exit() runs the functions that a library registered before the destructors of libraries; dlclose
// runs a library's destructors, and then the functions that it registered.
static atomic_bool is_process_ending;

// The same as atexit does in a library. Under ThreadSanitizer atexit itself forgets the library,
// and calls the function after dlclose.
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle;

static void note_end_of_process(void *unused)
{
    (void)unused;
    atomic_store_explicit(&is_process_ending, true, memory_order_relaxed);
}

static void register_end_of_process(void)
{
    // Without a place in the list of handlers the end of the process is taken for a dlclose.
    (void)__cxa_atexit(note_end_of_process, NULL, &__dso_handle);
}

void zepi_at_unload(enum zepi_unload_stage stage, void (*function)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_end_of_process);
    atomic_store_explicit(&functions[stage], function, memory_order_release);
}

bool zepi_process_is_ending(void)
{
    return atomic_load_explicit(&is_process_ending, memory_order_relaxed);
}

__attribute__((destructor)) static void unload(void)
{
    if (zepi_process_is_ending())
        return;
    for (int stage = 0; stage < ZEPI_UNLOAD_STAGES; stage++) {
        void (*function)(void) =
            atomic_exchange_explicit(&functions[stage], NULL, memory_order_acq_rel);
        if (function)
            function();
    }
}
