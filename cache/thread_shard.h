// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_THREAD_SHARD_H
#define ZEPI_CACHE_THREAD_SHARD_H

#include <stdatomic.h>
#include <stdint.h>

// The calling thread's share of things that are kept apart for threads: below ZEPI_THREAD_SHARDS.
// Threads get numbers in turn.
#define ZEPI_THREAD_SHARDS 16

unsigned zepi_thread_shard_slowly(void) __attribute__((noinline));

// Numbers found before: the address of a thread's control block plus its number, at a hash of the
// address. A look-up of a thread-local variable would be a call, in a library that is opened late.
#define ZEPI_THREAD_BITS 8
extern _Atomic uintptr_t zepi_threads[1u << ZEPI_THREAD_BITS];

// The same, if it was found before; else a larger number.
static inline uintptr_t zepi_thread_shard_known(void)
{
    const uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
    const uint64_t hash = thread * UINT64_C(0x9e3779b97f4a7c15);
    // Relaxed: whatever is found, only the thread itself wrote what it takes for its own.
    return atomic_load_explicit(&zepi_threads[hash >> (64 - ZEPI_THREAD_BITS)],
                                memory_order_relaxed) -
           thread;
}

static inline unsigned zepi_thread_shard(void)
{
    const uintptr_t shard = zepi_thread_shard_known();
    return __builtin_expect(shard < ZEPI_THREAD_SHARDS, 1) ? (unsigned)shard
                                                           : zepi_thread_shard_slowly();
}

#endif
