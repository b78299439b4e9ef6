// SPDX-License-Identifier: MIT
#include "core/unload.h"

#include "core/sys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// These two are behind atexit and dlclose in a library. `owner` is any address. Under
// ThreadSanitizer atexit itself forgets the library, and calls the function after dlclose.
extern int __cxa_atexit(void (*function)(void *), void *argument, void *owner);
extern void __cxa_finalize(void *owner);
extern void *__dso_handle;
// Calls the function as the calling thread ends. exit() ends its thread before it calls handlers.
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

// ---- The end of the process ----

#define TIMEOUT_NS UINT64_C(2000000000) // for builds
#define POLL_NS 1000000
#define FLUSH_SECONDS 1
#define REFUSAL_SECONDS 2

static atomic_bool is_process_ending;
static atomic_bool refuses_holds; // before that: exit() has begun
static atomic_uint holds;
static _Thread_local unsigned own_holds __attribute__((tls_model("initial-exec")));
static _Thread_local bool ends_process __attribute__((tls_model("initial-exec")));
static bool is_unloaded;
static char main_thread; // its address owns the handler of the main thread's end

static void *end_process(void *status)
{
    sleep(FLUSH_SECONDS);
    _exit((int)(intptr_t)status);
}

// A stream that another thread has locked, or a full pipe, does not hold up the end.
static void end_at_once(int status, void *unused)
{
    pthread_t thread;
    (void)unused;
    if (pthread_create(&thread, NULL, end_process, (void *)(intptr_t)status) == 0)
        fflush(NULL);
    _exit(status);
}

// A hold of the thread that ends the process stays.
static bool wait_for_holds(void)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    const uint64_t deadline_ns = zepi_clock_ns() + (own_holds > 0 ? 0 : TIMEOUT_NS);
    while (atomic_load(&holds) > 0 && zepi_clock_ns() < deadline_ns)
        nanosleep(&pause, NULL);
    return atomic_load(&holds) == 0;
}

static void begin_end(void *unused)
{
    (void)unused;
    ends_process = true;
    // A handler that is registered by a handler is called next, and gets the status.
    if (!is_unloaded && !atomic_exchange(&refuses_holds, true) && !wait_for_holds())
        on_exit(end_at_once, NULL);
}

static void near_end(void *unused)
{
    if (is_unloaded)
        return;
    atomic_store_explicit(&is_process_ending, true, memory_order_relaxed);
    begin_end(unused);
}

// The threads of a parent that build are not there in its child.
static void forget_holds_of_others(void)
{
    atomic_store(&holds, own_holds);
}

static void register_near_end(void)
{
    (void)pthread_atfork(NULL, NULL, forget_holds_of_others);
    // Without a place in the list of handlers the end of the process is taken for a dlclose.
    (void)__cxa_atexit(near_end, NULL, &__dso_handle);
}

static void register_begin_end(void)
{
    (void)__cxa_atexit(begin_end, NULL, &__dso_handle);
}

// The main thread ends: with the process, or by pthread_exit. The new handler is the first that
// exit() calls in either case, before the destructors of all that the compiler has made meanwhile.
static void main_thread_ends(void *unused)
{
    (void)unused;
    if (!is_unloaded && gettid() == getpid() && !atomic_load(&refuses_holds))
        register_begin_end();
}

// The thread calls __cxa_finalize, and that the function: unless dlclose took it back before.
static void watch_main_thread(void)
{
    static atomic_bool is_watched;
    if (gettid() == getpid() && !atomic_exchange(&is_watched, true) &&
        __cxa_atexit(main_thread_ends, NULL, &main_thread) == 0)
        (void)__cxa_thread_atexit_impl(__cxa_finalize, &main_thread, (void *)__cxa_finalize);
}

void zepi_process_watch_end(void)
{
    watch_main_thread();
    register_begin_end();
}

bool zepi_process_is_ending(void)
{
    return atomic_load_explicit(&is_process_ending, memory_order_relaxed);
}

bool zepi_process_hold(void)
{
    watch_main_thread();
    // Sequentially consistent, as in begin_end: either this thread sees the end, or that one the
    // hold.
    atomic_fetch_add(&holds, 1);
    own_holds++;
    if (!atomic_load(&refuses_holds))
        return true;
    own_holds--;
    atomic_fetch_sub(&holds, 1);
    // Programs abort when a build fails: the process is to end before. Handlers that join this
    // thread get there after the wait.
    if (!ends_process)
        sleep(REFUSAL_SECONDS);
    return false;
}

void zepi_process_let_go(void)
{
    static atomic_uint count;
    const unsigned number = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;
    // The compiler makes objects as it first needs them, whose destructors are not to run before
    // the handler: it is registered again, each time for twice as many builds.
    if ((number & (number - 1)) == 0)
        register_begin_end();
    own_holds--;
    atomic_fetch_sub(&holds, 1);
}

// ---- dlclose ----

static _Atomic(void (*)(void)) functions[ZEPI_UNLOAD_STAGES];

void zepi_at_unload(enum zepi_unload_stage stage, void (*function)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_near_end);
    atomic_store_explicit(&functions[stage], function, memory_order_release);
}

// exit() runs the functions that a library registered before the destructors of libraries; dlclose
// runs a library's destructors, and then the functions that it registered.
__attribute__((destructor)) static void unload(void)
{
    if (zepi_process_is_ending())
        return;
    is_unloaded = true;
    __cxa_finalize(&main_thread);
    for (int stage = 0; stage < ZEPI_UNLOAD_STAGES; stage++) {
        void (*function)(void) =
            atomic_exchange_explicit(&functions[stage], NULL, memory_order_acq_rel);
        if (function)
            function();
    }
}
