// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_GETTER_H
#define ZEPI_UR_LAYOUT_GETTER_H

#include "ur/layout/layout.h"
#include "ur/ur.h"

// Names under which a loader finds zepi. Loaders look for adapters for Level Zero under two names
// and load both. The name that is asked first gets tables, so that each device is there once. Any
// thread.
enum zepi_ur_name {
    ZEPI_UR_NAME_NONE,
    ZEPI_UR_NAME_ZEPI,
    ZEPI_UR_NAME_LEVEL_ZERO,
    ZEPI_UR_NAME_LEVEL_ZERO_V2,
};

// Copies a table for `caller`, an address in the loader, which asks the library of that name.
// UNSUPPORTED_FEATURE: its layout has no such table, or another name is served.
UR_DLLEXPORT ur_result_t zepi_ur_get_table(enum zepi_ur_table table, ur_api_version_t version,
                                           void *out_table, enum zepi_ur_name name,
                                           const void *caller);

#endif
