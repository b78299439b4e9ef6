// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_UR_H
#define ZEPI_UR_UR_H

// The one place that includes the headers of Unified Runtime: ur_api.h uses bool without including
// it. This folder is compiled once for each release of DPC++ that the adapter serves, with that
// release's header.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unified-runtime/ur_api.h>

#include "ur/older_names.h"

// The release's tables, written by layout/generate.cmake.
#include <ur_layout.h>

// Every function of a table is implemented under its name with `zepi_` before it: by a file of its
// noun, or by a stub in unsupported.c that says why not. The linker notices one that is missing.
#define ZEPI_UR_DECLARE(slot, function, implementation) __typeof__(function) implementation;
#define ZEPI_UR_DECLARE_TABLE(table) ZEPI_UR_LAYOUT_SLOTS_##table(ZEPI_UR_DECLARE)
ZEPI_UR_LAYOUT_TABLES(ZEPI_UR_DECLARE_TABLE)
#undef ZEPI_UR_DECLARE_TABLE
#undef ZEPI_UR_DECLARE

#define ZEPI_UR_MEMBER(slot, function, implementation) __typeof__(function) *slot;
#define ZEPI_UR_MEMBER_TABLE(table)                                                                \
    struct {                                                                                       \
        ZEPI_UR_LAYOUT_SLOTS_##table(ZEPI_UR_MEMBER)                                               \
    } table;
// All tables, in the order of the release's ur_dditable_t.
struct zepi_ur_tables {
    ZEPI_UR_LAYOUT_TABLES(ZEPI_UR_MEMBER_TABLE)
};
#undef ZEPI_UR_MEMBER_TABLE
#undef ZEPI_UR_MEMBER

// Every handle begins with a pointer to it.
extern const struct zepi_ur_tables zepi_ur_tables;

#endif
