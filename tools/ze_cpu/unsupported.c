// SPDX-License-Identifier: MIT
#include "tables.h"

// Stands for every function that is not implemented, whatever its parameters: the calling
// convention lets a callee ignore arguments.
ze_result_t ZE_APICALL cpu_refused(void)
{
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}
