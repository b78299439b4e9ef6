// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMPARE_H
#define ZEPI_TOOL_COMPARE_H

#include "../host.h"

#include <cjson/cJSON.h>

#include <limits.h>

// The measurements of zepi compare: a program with zepi and with another adapter of Unified
// Runtime, in turns.

#define COMPARE_MAX_ROUNDS 100

enum compare_start { COMPARE_FIRST, COMPARE_WARM, COMPARE_START_COUNT };

extern const char *const compare_start_names[COMPARE_START_COUNT];

enum compare_value {
    COMPARE_WALL_S,
    COMPARE_PROCESSOR_S, // of all threads, and of child processes that were waited for
    COMPARE_PEAK_BYTES,  // resident, of the largest process
    COMPARE_COMPILED,    // programs; only zepi tells
    COMPARE_CACHED,
    COMPARE_VALUE_COUNT,
};

struct compare_way {
    const char *name;
    const char *adapter;                                       // its file; NULL: zepi
    char reason[2 * PATH_MAX];                                 // why it is left out, or ""
    unsigned counts[COMPARE_START_COUNT][COMPARE_VALUE_COUNT]; // of the values that there are
    double values[COMPARE_START_COUNT][COMPARE_VALUE_COUNT][COMPARE_MAX_ROUNDS];
};

struct compare {
    enum host_driver driver;
    char *const *program;
    uint32_t rounds;
    const char *folder; // scratch
    struct compare_way ways[2];
};

// Runs the program once, with the caches of this round and way, and adds its values. Returns its
// exit status, after its output and a message if it is not 0; 128 and a signal's number if it, or
// zepi, was ended by one.
int compare_run(struct compare *compare, unsigned round, struct compare_way *way,
                enum compare_start start);

// Prints a table, or all numbers as JSON.
void compare_report(struct compare *compare);

#endif
