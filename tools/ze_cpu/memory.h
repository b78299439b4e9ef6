// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MEMORY_H
#define ZE_CPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

// The three kinds of USM are plain page-aligned memory of the process, which the OpenCL runtime
// takes as kernel arguments like any other. A sorted table answers pointer queries. The memory of
// discrete devices is pages of its own, since it loses its access rights.

// Gives each discrete device's memory the rights that cpu_device_access_is_open tells. Under the
// lock of that.
void cpu_memory_apply_access(void);

// Frees what zeMemFreeExt deferred, if no queue has work.
void cpu_memory_sweep(void);

uint64_t cpu_memory_live(void);

// An identifier that no allocation had before.
uint64_t cpu_memory_new_id(void);

// Bytes of the devices' memory (ZE_CPU_MEMORY), for what is not USM. False: there are not so many.
bool cpu_memory_take(uint64_t bytes);
void cpu_memory_give(uint64_t bytes);

// Bytes of USM of all kinds.
uint64_t cpu_memory_live_bytes(void);

#endif
