// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_ENGINE_H
#define ZE_CPU_ENGINE_H

#include "command/command.h"

#include <stdbool.h>
#include <stdint.h>

// The commands of a command queue or immediate list, on the engine that is named by device,
// ordinal, index and priority. An engine executes all that is submitted to it, by one thread and in
// the order of submission, which serves out-of-order lists as well, since they promise less; but
// see cpu_stream_reorder. Only a stream whose next command waits for an event is passed over, until
// the event is signalled. An engine without work has no thread.
struct cpu_stream;

// On the engine that the description names. NULL comes back where nothing is executed.
ze_result_t cpu_stream_create(ze_device_handle_t device, const ze_command_queue_desc_t *desc,
                              struct cpu_stream **out_stream);

// Before the first submission: commands are executed in another order, which window.h explains and
// the seed chooses. False without memory.
bool cpu_stream_reorder(struct cpu_stream *stream, uint64_t seed);

// Waits for all submitted commands. NULL is fine. In a child of the process that made the stream it
// does nothing.
void cpu_stream_destroy(struct cpu_stream *stream);

// Appends commands, at least one, which the stream owns from here on. Never blocks for longer than
// another submission takes.
void cpu_stream_submit(struct cpu_stream *stream, struct cpu_chain chain);

// Waits until all that was submitted before is done. NOT_READY on timeout; else SUCCESS, or the
// error of the first command that failed since the last synchronization.
ze_result_t cpu_stream_synchronize(struct cpu_stream *stream, uint64_t timeout_ns);

// Over all engines of the process.
void cpu_engines_drain(void);
bool cpu_engines_are_idle(void);

// At the end of the process, before the OpenCL runtime is taken down: waits until no engine is in a
// command, and lets none begin another. False if the timeout is over before.
bool cpu_engines_settle(uint64_t timeout_ns);

// The same in a child of the process that has the engines, at the moment of its fork.
bool cpu_engines_were_settled(void);

#endif
