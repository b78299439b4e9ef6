// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CALLS_H
#define ZE_CPU_CALLS_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <string.h>

// The ledger of calls behind ZE_CPU_COUNT, ZE_CPU_FAIL and ZE_CPU_TRACE.

enum cpu_call {
#define IMPLEMENTED(table, member, name, parameters, arguments, required) CPU_CALL_##name,
#define NEWER(table, minor, name, parameters, arguments, required) CPU_CALL_##name,
#include "functions.def"
    CPU_CALL_COUNT
};

// Counts the call. SUCCESS, or the code that it shall fail with.
ze_result_t cpu_calls_begin(enum cpu_call call);

// Traces the call. The result to hand to the application.
ze_result_t cpu_calls_end(enum cpu_call call, ze_result_t failure, ze_result_t result);

// Whether a call that is made to fail does its work nevertheless, because its object would
// otherwise leak without a fault in the host.
static inline bool cpu_call_releases(const char *name)
{
    size_t length = strlen(name);
    return (length > 7 && strcmp(name + length - 7, "Destroy") == 0) ||
           strcmp(name, "zeMemCloseIpcHandle") == 0 || strcmp(name, "zeMemPutIpcHandle") == 0 ||
           strcmp(name, "zeMemFree") == 0 || strcmp(name, "zeMemFreeExt") == 0 ||
           strcmp(name, "zeVirtualMemFree") == 0 || strcmp(name, "zeVirtualMemUnmap") == 0;
}

#endif
