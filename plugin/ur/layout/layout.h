// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_LAYOUT_H
#define ZEPI_UR_LAYOUT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <ur_layouts.h>

// A layout is the order of Unified Runtime's tables in a release of DPC++. Constant.

enum zepi_ur_table {
#define ZEPI_UR_NUMBER(name) ZEPI_UR_TABLE_##name,
    ZEPI_UR_TABLES(ZEPI_UR_NUMBER)
#undef ZEPI_UR_NUMBER
        ZEPI_UR_TABLE_COUNT
};

// A function of any type: a loader calls it with that of its slot.
typedef void zepi_ur_function(void);

struct zepi_ur_layout {
    const char *release;
    zepi_ur_function *const *slots; // of all tables, as the release's ur_dditable_t has them
    struct {
        uint16_t first; // in `slots`
        uint16_t count; // 0: the release has no such table
    } table[ZEPI_UR_TABLE_COUNT];
};

// In the order of ZEPI_UR_RELEASES: the newest is the last.
enum zepi_ur_release {
#define ZEPI_UR_NUMBER(word, release) ZEPI_UR_RELEASE_##word,
    ZEPI_UR_RELEASES(ZEPI_UR_NUMBER)
#undef ZEPI_UR_NUMBER
        ZEPI_UR_RELEASE_COUNT
};
extern const struct zepi_ur_layout zepi_ur_layouts[ZEPI_UR_RELEASE_COUNT];

// Handles begin with the layout's slots from now on, and failures have its release's codes. Before
// the first table is given.
void zepi_ur_layout_use(const struct zepi_ur_layout *layout);

#endif
