// SPDX-License-Identifier: MIT
#include "memory/reclaim.h"

#include "device/context.h"

bool zepi_reclaim(struct zepi_context *context, ze_result_t ze, unsigned *attempt)
{
    if (ze != ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY && ze != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return false;
    const unsigned number = ++*attempt;
    if (number > 2)
        return false;
    zepi_command_lists_trim(context);
    const bool was_any =
        zepi_retire_drain(&context->retire, number == 1 ? 0 : ZEPI_RECLAIM_PATIENCE_NS);
    zepi_retire_settle(&context->retire);
    zepi_usm_pools_trim(&context->usm);
    return number == 1 || was_any;
}
