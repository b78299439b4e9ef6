// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_DEMO_H
#define ZEPI_TOOL_DEMO_H

#include "../host.h"

#include <cjson/cJSON.h>

// The main job's cases. Each builds its module for each set of constants, cold and again, launches,
// and compares every element with a plain computation on the host.

struct demo_row {
    char name[48];
    char constants[64];
    bool is_built;    // else a kernel of the module of the row before: no build times
    double build_ms;  // the first time: the cache folder is new, so this compiles
    double again_ms;  // the same build again, from memory
    double disk_ms;   // and again, after everything in memory was forgotten
    double launch_ms; // submission to completion, best of some
    double max_error; // relative to the largest element
    double tolerance;
    uint64_t elements;
};

struct demo {
    struct host_device *host;
    cJSON *rows; // of the document
    bool has_wrong_number;
};

// Prints a row unless --json is asked for, and adds it to the document.
void demo_report(struct demo *demo, const struct demo_row *row);

// Runs all cases. Returns an exit code after a message.
int demo_run(struct demo *demo);

#endif
