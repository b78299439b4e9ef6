// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_RESULT_H
#define ZEPI_CACHE_BUILD_RESULT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A build: in progress, succeeded (a payload) or failed (a code), in both cases with the whole log,
// warnings included. Shared by reference: a holder may use the payload for as long, whatever the
// cache evicts meanwhile. The last release destroys the payload.
//
// A result changes once, from in progress to one of the others, and is never written again. Waiting
// is for that change of this result alone. README.md draws the states.

// A build callback returns any of these but the last.
enum zepi_build_status {
    ZEPI_BUILD_SUCCEEDED,     // the payload is there
    ZEPI_BUILD_FAILED,        // the compiler or linker said no and would again: kept
    ZEPI_BUILD_SPURIOUS,      // the next attempt may succeed (device lost, unknown): not kept
    ZEPI_BUILD_OUT_OF_MEMORY, // tried once more after everything unused was evicted; then spurious
    ZEPI_BUILD_IN_PROGRESS,
};

// The output that a build callback fills. It begins zeroed. Its contents belong to the cache as
// soon as the callback returns, after a failure too.
struct zepi_build_output {
    void *payload; // owned
    void (*destroy)(
        void *payload); // called once, on any thread, under no lock; NULL: nothing to do
    // The payload as a store keeps it, which lives as long; NULL: it cannot be stored.
    const void *stored;
    size_t stored_size;
    uint64_t cost_bytes; // the cost of keeping the payload; log and key are added to it
    int32_t code;        // of a failure: the caller's own error number; 0 for a success
    char *log;           // owned, by zepi_build_output_set_log; terminated
    size_t log_size;     // without the terminating zero
};

// Copies `size` bytes of log into the output, in place of the text that it had. Returns false
// without memory; the log is then empty.
bool zepi_build_output_set_log(struct zepi_build_output *output, const char *text, size_t size);

// Destroys payload and log, and zeroes the output.
void zepi_build_output_finish(struct zepi_build_output *output);

struct zepi_build_result {
    atomic_uint references;
    atomic_uint status; // of enum zepi_build_status; written once; waiting threads sleep on it
    // Written before the status leaves ZEPI_BUILD_IN_PROGRESS, never after: to be read once the
    // build is over, as is that of every result that a cache returned.
    struct zepi_build_output output;
    pthread_t builder; // the thread that builds it; constant
};

// Thread-safe. The caller has a reference or keeps one from being dropped.
static inline struct zepi_build_result *zepi_build_result_retain(struct zepi_build_result *result)
{
    // Relaxed: a reference is made from a reference, which orders everything that matters.
    atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
    return result;
}

// Thread-safe; NULL is fine. May run the payload's destroy function: hold no lock that it takes.
void zepi_build_result_release(struct zepi_build_result *result);

static inline enum zepi_build_status
zepi_build_result_status(const struct zepi_build_result *result)
{
    // Acquire: pairs with the publication, for a thread that did not need to wait.
    return (enum zepi_build_status)atomic_load_explicit(&result->status, memory_order_acquire);
}

static inline bool zepi_build_result_has_succeeded(const struct zepi_build_result *result)
{
    return zepi_build_result_status(result) == ZEPI_BUILD_SUCCEEDED;
}

// Payload and log of a build that is over, borrowed from the result. The payload is NULL for a
// failure; the log is never NULL.
static inline void *zepi_build_result_payload(const struct zepi_build_result *result)
{
    return result->output.payload;
}

static inline const char *zepi_build_result_log(const struct zepi_build_result *result)
{
    return result->output.log ? result->output.log : "";
}

// ---- For the cache ----

// Begins a result in progress with one reference, built by the calling thread. `result` is the
// first member of memory from zepi_sys_allocate_lines, which the last release frees.
void zepi_build_result_init(struct zepi_build_result *result);

// Ends the build and wakes the threads that wait. Consumes the contents of `output` and zeroes it.
// Called once, by the thread that began it.
void zepi_build_result_publish(struct zepi_build_result *result, enum zepi_build_status status,
                               struct zepi_build_output *output);

// Waits until the build is over. Returns false at once if the calling thread is the one that builds
// it: waiting would never end.
bool zepi_build_result_wait(struct zepi_build_result *result);

#endif
