// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_COMPILER_COMPILER_PROCESS_H
#define ZEPI_PROGRAM_COMPILER_COMPILER_PROCESS_H

#include "core/status.h"
#include "program/compiler/message.h"

#include <sys/types.h>

// A process of the program zepi-compiler (serve.h), a child of this one. It has its
// end of a socket as descriptor 3, its output goes to a file in memory, and it ends by itself when
// this process does. Used by one thread at a time.
struct zepi_compiler_process {
    pid_t id;   // 0: there is none
    int handle; // owned: a pidfd, since the host may take the news of its end, and its number goes
                // to another process then; -1: the system gives none
    int socket; // owned
    int output; // owned: a file with the process' output and errors
};

#define ZEPI_COMPILER_SOCKET 3

// Starts the program at `path`, which is absolute. Descriptors are closed on exec, other
// descriptors of this process do not reach it, and signals of the terminal do not either.
// ZEPI_ERROR_COMPILER_UNAVAILABLE: it cannot be started.
zepi_result_t zepi_compiler_process_start(struct zepi_compiler_process *process, const char *path);

// Whether the process waits for a request. It does not do so for ever (serve.h).
bool zepi_compiler_process_is_idle(const struct zepi_compiler_process *process);

// The memory that is resident now; 0: it is not known.
uint64_t zepi_compiler_process_memory_bytes(const struct zepi_compiler_process *process);

// Sends a request and receives the reply. An empty one is that of a process that ends and has not
// read the request. After that, and after anything but ZEPI_DELIVERED, the process is to be ended.
enum zepi_delivery zepi_compiler_process_ask(const struct zepi_compiler_process *process,
                                             const struct zepi_message *request,
                                             uint64_t deadline_ns, struct zepi_message *reply);

// The end of the process' output since the request, owned; NULL: there is none.
char *zepi_compiler_process_read_output(const struct zepi_compiler_process *process);

// Kills the process if it lives, and waits for its end. *out_status is that of waitpid(); false: it
// is not known, since the host has taken it.
bool zepi_compiler_process_end(struct zepi_compiler_process *process, int *out_status);

// In a child that was forked from the host: gives back the descriptors, and leaves the process,
// which is the parent's.
void zepi_compiler_process_forget(struct zepi_compiler_process *process);

#endif
