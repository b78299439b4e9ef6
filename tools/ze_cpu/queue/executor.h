// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_EXECUTOR_H
#define ZE_CPU_EXECUTOR_H

#include "command/command.h"

// Carries out commands for one engine, on two in-order OpenCL queues: one whose kernels run in the
// calling thread, for small ND-ranges, and one whose kernels run on all cores. Used by one thread
// at a time.
struct cpu_executor;

// For commands on the device. NULL without memory. The OpenCL queues are made when first needed.
struct cpu_executor *cpu_executor_create(ze_device_handle_t device);
void cpu_executor_destroy(struct cpu_executor *executor);

// Does the command, whose waits are over, and signals its event when it is complete. A launch
// without an event to signal may still be running on return.
ze_result_t cpu_executor_run(struct cpu_executor *executor, const struct cpu_command *command);

// Waits for all launches. From here on until the next command nothing uses the device's memory.
ze_result_t cpu_executor_finish(struct cpu_executor *executor);

// The process ends and the OpenCL runtime with it: launches fail from here on.
extern _Atomic bool cpu_executors_are_over;

#endif
