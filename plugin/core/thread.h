// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_THREAD_H
#define ZEPI_CORE_THREAD_H

#include <zepi/zepi.h>

#include <stddef.h>
#include <stdint.h>

// The state of each thread: its shard, its last error and its last build log.

// A shard is a thread's share of a structure that is kept apart for threads. Threads get numbers
// below this in turn.
#define ZEPI_THREAD_SHARDS 16

// The texts of one thread, made with its first failure or log. A destructor of the thread frees
// them, or dlclose.
struct zepi_thread_texts {
    struct zepi_thread_texts *next, *previous; // of all threads
    char error[2048];
    int32_t ze;      // the driver's result behind the error; 0: zepi found the mistake itself
    uint8_t subject; // enum zepi_subject
    char *log;       // owned; NULL: none
    size_t log_capacity;
};

// In the static block of thread-local memory, which is small: it is found by one load, where other
// thread-local variables of a library that is opened late cost a call. All libraries of zepi
// together use at most 64 bytes of it (integration.plugin_init).
struct zepi_thread {
    struct zepi_thread_texts *texts; // owned; NULL: none yet
    uint32_t shard;                  // plus one; 0: none yet
    zepi_result_t error;
};
extern _Thread_local struct zepi_thread zepi_thread __attribute__((tls_model("initial-exec")));

unsigned zepi_thread_take_shard(void) __attribute__((cold, noinline));

// The calling thread's shard.
static inline unsigned zepi_thread_shard(void)
{
    const uint32_t shard = zepi_thread.shard;
    return __builtin_expect(shard > 0, 1) ? shard - 1 : zepi_thread_take_shard();
}

// The calling thread's texts, NULL without memory.
struct zepi_thread_texts *zepi_thread_texts(void);

#endif
