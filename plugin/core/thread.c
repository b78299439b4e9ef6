// SPDX-License-Identifier: MIT
#include "core/thread.h"

#include <stdatomic.h>

_Thread_local struct zepi_thread zepi_thread;

unsigned zepi_thread_take_shard(void)
{
    static atomic_uint threads;
    // Relaxed: only the number matters.
    const unsigned thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    zepi_thread.shard = thread % ZEPI_THREAD_SHARDS + 1;
    return zepi_thread.shard - 1;
}
