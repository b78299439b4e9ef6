// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_WORKER_H
#define ZE_CPU_WORKER_H

#include "command/command.h"

#include <stdbool.h>
#include <stdint.h>

// The thread behind a command queue or an immediate list. It executes commands in the order in
// which they were submitted, which serves out-of-order lists as well, since they promise less. A
// command that waits for an event delays its own worker only.
struct cpu_worker;

// For commands on the device. NULL without memory or threads.
struct cpu_worker *cpu_worker_create(ze_device_handle_t device);

// Waits for all submitted commands, then ends the thread. NULL is fine. In a child of the process
// that has the thread it does nothing.
void cpu_worker_destroy(struct cpu_worker *worker);

// Appends a chain of commands (linked by next), which the worker owns from here on. Never blocks
// for longer than another submission takes.
void cpu_worker_submit(struct cpu_worker *worker, struct cpu_command *first,
                       struct cpu_command *last);

// Waits until all that was submitted before is done. NOT_READY on timeout; else SUCCESS, or the
// error of the first command that failed since the last synchronization.
ze_result_t cpu_worker_synchronize(struct cpu_worker *worker, uint64_t timeout_ns);

// Over all workers of the process.
void cpu_workers_drain(void);
bool cpu_workers_are_idle(void);

// At the end of the process, before the OpenCL runtime is taken down: waits until no worker is in a
// command but those that wait for an event, and lets none begin another. False if the timeout is
// over before.
bool cpu_workers_settle(uint64_t timeout_ns);

// The same in a child of the process that has the workers, at the moment of its fork.
bool cpu_workers_were_settled(void);

#endif
