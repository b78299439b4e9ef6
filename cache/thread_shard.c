// SPDX-License-Identifier: MIT
#include "cache/thread_shard.h"

_Atomic uintptr_t zepi_threads[1u << ZEPI_THREAD_BITS];

unsigned zepi_thread_shard_slowly(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned number; // plus one; 0: none yet
    static _Thread_local unsigned misses;
    // Relaxed: only the number matters.
    if (number == 0)
        number =
            atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % ZEPI_THREAD_SHARDS + 1;
    // Two threads may have one hash: they do not write to its place every time.
    if (misses++ % 64 == 0) {
        const uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
        const uint64_t hash = thread * UINT64_C(0x9e3779b97f4a7c15);
        atomic_store_explicit(&zepi_threads[hash >> (64 - ZEPI_THREAD_BITS)], thread + number - 1,
                              memory_order_relaxed);
    }
    return number - 1;
}
