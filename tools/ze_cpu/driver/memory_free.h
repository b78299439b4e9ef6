// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MEMORY_FREE_H
#define ZE_CPU_MEMORY_FREE_H

// The ends of allocations: at once, or once no queue has work.

// Frees the memory that zeMemFreeExt deferred, if no queue has work. For any thread.
void cpu_memory_sweep(void);

#endif
