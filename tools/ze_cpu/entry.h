// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_ENTRY_H
#define ZE_CPU_ENTRY_H

#include "ze_newer.h"

#include <level_zero/ze_api.h>

// Declares cpu_<name> for every function of functions.def that is not refused. Handles, but
// for elements of arrays, and pointers that may not be NULL have been checked when these are called
// (driver/checked.c).
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    ze_result_t ZE_APICALL cpu_##name parameters;
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
    ze_result_t ZE_APICALL cpu_##name parameters;
#include "functions.def"

#endif
