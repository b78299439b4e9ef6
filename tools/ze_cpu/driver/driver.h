// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_DRIVER_H
#define ZE_CPU_DRIVER_H

#include <stdint.h>

// The driver's UUID, by which a program can tell that it runs on ze_cpu: the bytes of
// "zepi-cpu-driver" and a zero.
#define CPU_DRIVER_UUID "zepi-cpu-driver"

// Newest specification whose functions are offered (zeCommandListAppendLaunchKernelWithArguments).
#define CPU_API_VERSION 0x0001000eu

// The address of a function of any table by its specification name; NULL if there is none.
void *cpu_tables_find(const char *name);

// Frees the memory that zeMemFreeExt deferred, if no queue has work. For any thread.
void cpu_memory_sweep(void);

#endif
