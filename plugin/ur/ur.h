// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_UR_H
#define ZEPI_UR_UR_H

// The one place that includes the headers of Unified Runtime: ur_api.h uses bool without including
// it.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unified-runtime/ur_api.h>

// The releases' tables, written by layout/generate.cmake.
#include <ur_layouts.h>

// Every function of a table is implemented under its name with `zepi_` before it: by a file of its
// noun, or by a stub in unsupported.c that says why not. The linker notices one that is missing.
// Those of older releases are in layout/.
#define ZEPI_UR_DECLARE(function, implementation) __typeof__(function) implementation;
ZEPI_UR_NEWEST_SLOTS(ZEPI_UR_DECLARE)
#undef ZEPI_UR_DECLARE

#endif
