// SPDX-License-Identifier: MIT
#include "ur/handles.h"

ur_result_t zepi_ur_check_device_in(const struct zepi_context *context, ur_device_handle_t device,
                                    uint32_t *out_index)
{
    const ur_result_t result = zepi_ur_check_device(device);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const uint32_t index = zepi_context_device_index(context, zepi_ur_device(device));
    if (index == ZEPI_NO_DEVICE)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_DEVICE,
                              "device '%s' is not one of the context's",
                              zepi_ur_device(device)->properties.name);
    if (out_index)
        *out_index = index;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_refuse_context(const struct zepi_context *own, const struct zepi_context *other,
                                   ur_result_t wrong, const char *what)
{
    return zepi_ur_refuse(own->platform == other->platform ? wrong
                                                           : UR_RESULT_ERROR_INVALID_CONTEXT,
                          "%s is of another context", what);
}
