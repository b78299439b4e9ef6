// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_UR_H
#define ZEPI_UR_UR_H

// The one door to the headers of Unified Runtime: ur_api.h uses bool without including it.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unified-runtime/ur_api.h>
#include <unified-runtime/ur_ddi.h>

// Every entry point of the header's own list is implemented under its name with `zepi_` before it:
// by a file of its noun, or by a stub in unsupported.c that says why not. The linker notices one
// that is missing.
#define _UR_API(function) __typeof__(function) zepi_##function;
#include <unified-runtime/ur_api_funcs.def>
#undef _UR_API

// What every handle begins with a pointer to, and the getters of tables.c copy from.
extern const ur_dditable_t zepi_ur_tables;

#endif
