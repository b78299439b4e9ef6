// SPDX-License-Identifier: MIT
//
// The plugin's calls of a driver that matter, recorded by the loader's tracing layer.
#ifndef ZEPI_TESTS_NULL_RECORDER_H
#define ZEPI_TESTS_NULL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDER_MAX_CONSTANTS 16

// The last zeModuleCreate.
struct recorded_module {
    uint32_t constant_count;
    uint32_t ids[RECORDER_MAX_CONSTANTS];
    uint64_t values[RECORDER_MAX_CONSTANTS];    // 8 bytes from where each value begins
    const void *places[RECORDER_MAX_CONSTANTS]; // where that was
    bool has_constants;                         // the pointer to them was not NULL
    size_t input_size_bytes;
    char flags[256];
};

struct recorder {
    char calls[65536]; // names in the order of the calls, each followed by a space
    struct recorded_module module;
    int live; // created and not destroyed, all kinds
};

// Starts recording, after the loader came up. The recording is this process'.
struct recorder *recorder_start(void);
// Forgets the calls so far.
void recorder_forget(struct recorder *recorder);
// How often the function was called since.
unsigned recorder_count(const struct recorder *recorder, const char *function);

#endif
