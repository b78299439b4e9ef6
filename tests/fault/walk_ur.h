// SPDX-License-Identifier: MIT
//
// Walks of stories that call Unified Runtime's functions.
#ifndef ZEPI_TESTS_FAULT_WALK_UR_H
#define ZEPI_TESTS_FAULT_WALK_UR_H

#include "walk.h"

#include "ur/ur.h"

// For STEP: the core's last error gives the text of a result of Unified Runtime.
static inline zepi_result_t told(ur_result_t result)
{
    zepi_result_t noted = ZEPI_SUCCESS;
    if (result != UR_RESULT_SUCCESS)
        zepi.last_error(&noted);
    return noted;
}

#endif
