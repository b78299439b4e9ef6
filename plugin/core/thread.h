// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_THREAD_H
#define ZEPI_CORE_THREAD_H

#include <zepi/zepi.h>

#include <stdint.h>

// The state of each thread.

// A shard is a thread's share of a structure that is kept apart for threads. Threads get numbers
// below this in turn.
#define ZEPI_THREAD_SHARDS 16

// In the static block of thread-local memory, which is small: it is found by one load, where other
// thread-local variables of a library that is opened late cost a call. All libraries of zepi
// together use at most 64 bytes of it (integration.plugin_init).
struct zepi_thread {
    struct zepi_thread_texts *texts; // status.c; owned; NULL: none yet
    uint32_t shard;                  // plus one; 0: none yet
    zepi_result_t error;             // the last one
};
extern _Thread_local struct zepi_thread zepi_thread __attribute__((tls_model("initial-exec")));

unsigned zepi_thread_take_shard(void) __attribute__((cold, noinline));

// The calling thread's shard.
static inline unsigned zepi_thread_shard(void)
{
    const uint32_t shard = zepi_thread.shard;
    return __builtin_expect(shard > 0, 1) ? shard - 1 : zepi_thread_take_shard();
}

#endif
