// SPDX-License-Identifier: MIT
//
// Tests on Intel's own driver without a GPU (tools/drm_shim): programs of stories, each of which
// runs in a process of its own, started by "zepi exec --intel-driver". The commands that reach the
// GPU are judged, by the shim's trace.
//
// Run bare, a program skips with the reason where the driver was not fetched (tools/setup
// --intel-driver).
#ifndef ZEPI_TESTS_INTEL_INTEL_H
#define ZEPI_TESTS_INTEL_INTEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intel_story {
    const char *name; // a sentence, with underscores
    void (*run)(void);
    // "NAME=VALUE" for the story's process. Kernels are passed over unless DRM_SHIM_EXEC=1 is here.
    const char *environment[8];
};

// For main(): runs all stories, or those whose name contains argv[1], or, behind a '-', does not
// contain it. `stories` ends with a zero.
int intel_main(int argc, char **argv, const struct intel_story *stories);

// Ends the story with a message.
_Noreturn void intel_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define INTEL_EXPECT(condition, ...)                                                               \
    ((condition) ? (void)0 : intel_fail(__FILE__, __LINE__, __VA_ARGS__))

// Ends a story that has lost its device, and destroys nothing: Intel's driver polls for half a
// second for each object that is destroyed then, and at exit. The stand-in's errors count as at
// exit.
_Noreturn void intel_end_lost(void);

// ---- The trace ----

enum intel_command_kind { INTEL_BEGIN, INTEL_END, INTEL_COPY, INTEL_FILL, INTEL_OTHER };

#define INTEL_PAYLOAD 512

// One line of the trace: a step of an engine.
struct intel_command {
    uint64_t sequence; // in the order of all engines
    enum intel_command_kind kind;
    unsigned queue;         // of the kernel's driver
    uint64_t kernel;        // begin, end: which one
    unsigned groups[3];     // begin
    unsigned local[3];      // begin
    unsigned slm_bytes;     // begin
    uint64_t to, from;      // copy, fill
    uint64_t width, height; // copy, fill
    size_t payload_bytes;
    uint8_t payload[INTEL_PAYLOAD]; // begin: inline data, then indirect data, or their beginning
    char text[160];                 // the line's beginning
};

struct intel_trace {
    struct intel_command *commands; // owned
    size_t count;
};

// The steps of engines since the last call in this process. Finish the queues before.
struct intel_trace intel_trace_read(void);
void intel_trace_finish(struct intel_trace *trace);
size_t intel_trace_count(const struct intel_trace *trace, enum intel_command_kind kind);

// The shim's switches of this process: faults of the kernel driver from now on (DRM_SHIM_FAULT), in
// place of those before; NULL: none.
void intel_set_faults(const char *text);
// How long a kernel takes from now on.
void intel_set_kernel_time(unsigned microseconds);
// How long a submission takes before the GPU has it.
void intel_set_submit_time(unsigned microseconds);
// And how long it takes after the GPU has it.
void intel_set_return_time(unsigned microseconds);

// ---- Numbers ----

uint64_t intel_random(void); // the same ones in every run

#endif
