// SPDX-License-Identifier: MIT
#include "options.h"
#include "tables.h"

#include <stdio.h>

// The functions that are not offered. One stub serves any parameters: the calling convention lets a
// callee ignore arguments.
ze_result_t ZE_APICALL cpu_refused(void)
{
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t refuse(const char *name)
{
    if (cpu_options()->traces)
        fprintf(stderr, "ze_cpu: %s = 0x%x (not offered)\n", name,
                (unsigned)ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define REFUSED(table, member, name)                                                               \
    ze_result_t ZE_APICALL cpu_refused_##name(void)                                                \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "functions.def"
