// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_LAYOUT_H
#define ZEPI_UR_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <ur_functions.h>

// A layout is the order of Unified Runtime's tables in a release of DPC++. Each has a library of
// its own, which exports this description for the getters and nothing else. Constant. All share one
// core library.

enum zepi_ur_table {
#define ZEPI_UR_NUMBER(name) ZEPI_UR_TABLE_##name,
    ZEPI_UR_TABLES(ZEPI_UR_NUMBER)
#undef ZEPI_UR_NUMBER
        ZEPI_UR_TABLE_COUNT
};

struct zepi_ur_layout {
    const void *tables; // all, as ur_dditable_t has them
    struct {
        size_t offset_bytes; // in `tables`
        size_t size_bytes;   // 0: the release has no such table
    } table[ZEPI_UR_TABLE_COUNT];
    // Called before the first table is given. `is_sycl`: DPC++'s runtime is in the process.
    void (*begin)(bool is_sycl);
};

#define ZEPI_UR_DECLARE_LAYOUT(word, release)                                                      \
    extern const struct zepi_ur_layout zepi_ur_layout_##word;
ZEPI_UR_RELEASES(ZEPI_UR_DECLARE_LAYOUT)
#undef ZEPI_UR_DECLARE_LAYOUT

#endif
