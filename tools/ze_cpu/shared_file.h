// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_SHARED_FILE_H
#define ZE_CPU_SHARED_FILE_H

#include <stddef.h>
#include <stdint.h>

// One anonymous file of the process, of which physical memory and, with ZE_CPU_IPC=1, the pages of
// device memory are pieces. Other processes can map it. Offsets are never given twice; pieces that
// were given back are holes in the file.

#define CPU_NO_FILE UINT64_MAX
#define CPU_SHARED_FILE_BYTES (UINT64_C(1) << 46) // all of it a hole at first

// Where the next `bytes` of the file begin; CPU_NO_FILE: there is no file.
uint64_t cpu_shared_file_take(size_t bytes);
void cpu_shared_file_give(uint64_t offset, size_t bytes);

// The file, once there is a piece of it.
int cpu_shared_file(void);

#endif
