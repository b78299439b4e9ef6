// SPDX-License-Identifier: MIT
#include "graph/closed_list.h"

#include "device/context.h"
#include "device/device.h"
#include "ze/ze.h"

zepi_result_t zepi_closed_list_create(struct zepi_context *context,
                                      const struct zepi_device *device, const void *extension,
                                      ze_command_list_handle_t *out_list)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = extension,
                                         .commandQueueGroupOrdinal = device->compute_ordinal};
    ze_command_list_handle_t list;
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = zepi_ze.zeCommandListCreate(context->ze, device->ze, &desc, &list);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze == ZE_RESULT_SUCCESS)
        *out_list = list;
    return zepi_check_ze(ze, "zeCommandListCreate");
}
