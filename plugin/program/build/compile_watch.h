// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_COMPILE_WATCH_H
#define ZEPI_PROGRAM_BUILD_COMPILE_WATCH_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

// A line for a person that waits for a long compile: after five seconds it says that the compiler
// is at work, and at the end how long it took. On stderr if that is a terminal, else with
// ZEPI_LOG=info. The thread that waits for the five seconds ends with the compile.

struct zepi_compile_watch {
    const char *kernels; // borrowed
    size_t bytes;        // of SPIR-V
    sem_t is_over;
    pthread_t thread;
    bool has_thread;
    bool is_told;
};

// `kernels` names them for a sentence.
void zepi_compile_watch_begin(struct zepi_compile_watch *watch, const char *kernels, size_t bytes);
// Returns whether the line about the compile was written.
bool zepi_compile_watch_end(struct zepi_compile_watch *watch);

// Writes a line there.
void zepi_compile_watch_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
