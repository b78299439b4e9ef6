// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_RESULT_H
#define ZEPI_CACHE_BUILD_RESULT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What became of a build: in progress, succeeded (a payload) or failed (a code), in both cases with
// the whole log, warnings included. Shared by reference: whoever holds one may use the payload for
// as long, whatever the cache evicts meanwhile. The last release destroys the payload.
//
// A result changes once, from in progress to one of the others, and is never written again. Waiting
// is for that change of this result alone. README.md draws the states.

enum zepi_build_status {
    ZEPI_BUILD_IN_PROGRESS,
    ZEPI_BUILD_SUCCEEDED,
    ZEPI_BUILD_FAILED,
};

// What a build callback says of its build.
enum zepi_build_verdict {
    ZEPI_BUILD_OK,            // the payload is there
    ZEPI_BUILD_REFUSED,       // the compiler or linker said no and would again: kept
    ZEPI_BUILD_SPURIOUS,      // the next attempt may succeed (device lost, unknown): not kept
    ZEPI_BUILD_OUT_OF_MEMORY, // tried once more after everything unused was evicted; then spurious
};

// What a build callback fills. It begins zeroed. What it holds belongs to the cache as soon as the
// callback returns, after a failure too.
struct zepi_build_outcome {
    void *payload; // owned
    void (*destroy)(
        void *payload);  // called once, on any thread, under no lock; NULL: nothing to do
    uint64_t cost_bytes; // what keeping the payload costs; log and key are added to it
    int32_t code;        // of a failure: the caller's own error number
    char *log;           // owned, by zepi_build_outcome_set_log; terminated
    size_t log_size;     // without the terminating zero
};

// Copies `size` bytes of log into the outcome, in place of what it had. Returns false without
// memory; the log is then empty.
bool zepi_build_outcome_set_log(struct zepi_build_outcome *outcome, const char *text, size_t size);

// Destroys payload and log, and zeroes the outcome.
void zepi_build_outcome_finish(struct zepi_build_outcome *outcome);

struct zepi_build_result {
    atomic_uint references;
    _Atomic(enum zepi_build_status) status;
    // Written before the status leaves ZEPI_BUILD_IN_PROGRESS, never after. Read through the
    // functions below, or directly by who knows that the build is over (everyone who got the result
    // from a cache).
    enum zepi_build_verdict verdict;
    struct zepi_build_outcome outcome;
    // Guards the change of status for those who sleep on it. Nothing is called under it.
    pthread_mutex_t mutex;
    pthread_cond_t is_over;
    // The building thread while in progress; guarded by the wait graph's lock (build_result.c).
    const struct zepi_build_waiter *builder;
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

// Borrowed from the result. The payload is NULL for a failure; the log is never NULL.
static inline void *zepi_build_result_payload(const struct zepi_build_result *result)
{
    return result->outcome.payload;
}

static inline const char *zepi_build_result_log(const struct zepi_build_result *result)
{
    return result->outcome.log ? result->outcome.log : "";
}

static inline size_t zepi_build_result_log_size(const struct zepi_build_result *result)
{
    return result->outcome.log_size;
}

// The callback's error number; 0 for a success.
static inline int32_t zepi_build_result_code(const struct zepi_build_result *result)
{
    return result->outcome.code;
}

// ---- For the cache ----

// Begins a result in progress with one reference, built by the calling thread. `result` is the
// first member of memory from zepi_seam_allocate_lines, which the last release frees. Returns false
// without resources (nothing to undo).
bool zepi_build_result_init(struct zepi_build_result *result);

// Ends the build and wakes who waits. Consumes what `outcome` holds and zeroes it. Called once, by
// the thread that began it.
void zepi_build_result_publish(struct zepi_build_result *result, enum zepi_build_verdict verdict,
                               struct zepi_build_outcome *outcome);

// Waits until the build is over. Returns false at once if that would never be: the calling thread
// is building this result itself, or this result's builder waits, over any number of threads, for a
// build of the calling thread.
bool zepi_build_result_wait(struct zepi_build_result *result);

#endif
