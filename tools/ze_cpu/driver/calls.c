// SPDX-License-Identifier: MIT
#include "calls.h"
#include "tables.h"

// The function itself and, around it, its entry in the ledger. cpu_calls_begin returns the code
// with which the call is made to fail, or SUCCESS.
#define CALL(path, name, parameters, arguments)                                                    \
    static ze_result_t ZE_APICALL call_##name parameters                                           \
    {                                                                                              \
        ze_result_t failure = cpu_calls_begin(CPU_CALL_##name);                                    \
        ze_result_t result = failure;                                                              \
        if (failure == ZE_RESULT_SUCCESS || cpu_call_releases(#name))                              \
            result = cpu_tables_inner()->path arguments;                                           \
        return cpu_calls_end(CPU_CALL_##name, failure, result);                                    \
    }
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    CALL(table.member, name, parameters, arguments)
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
    CALL(newer.name, name, parameters, arguments)
#include "functions.def"

const struct cpu_tables cpu_tables_calls = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    .table.member = call_##name,
#define REFUSED(table, member, name) .table.member = (void *)cpu_refused_##name,
#define NEWER(table, minor, name, parameters, arguments, required) .newer.name = call_##name,
#include "functions.def"
};
