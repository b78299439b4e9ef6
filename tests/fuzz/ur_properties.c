// SPDX-License-Identifier: MIT
#include "ur_chain.h"
#include "ur_gear.h"

// Lists of properties that a host gives.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const struct ur_gear *gear = ur_gear_get(UR_GEAR_ON_NULL_DRIVER);
    const size_t items = 64;
    ur_base_properties_t *list = ur_chain_read(bytes, size_bytes);
    const ur_usm_desc_t usm = {.stype = UR_STRUCTURE_TYPE_USM_DESC, .pNext = list};
    ur_usm_pool_desc_t pools = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC, .pNext = list};
    ur_queue_handle_t queue;
    ur_usm_pool_handle_t pool;
    void *memory;
    if (list && list->stype == UR_STRUCTURE_TYPE_QUEUE_PROPERTIES &&
        zepi_urQueueCreate(gear->context, gear->device, (ur_queue_properties_t *)list, &queue) ==
            UR_RESULT_SUCCESS)
        fuzz_require(zepi_urQueueRelease(queue) == UR_RESULT_SUCCESS);
    if (zepi_urUSMPoolCreate(gear->context, &pools, &pool) == UR_RESULT_SUCCESS)
        fuzz_require(zepi_urUSMPoolRelease(pool) == UR_RESULT_SUCCESS);
    if (zepi_urUSMSharedAlloc(gear->context, gear->device, &usm, NULL, items, &memory) ==
        UR_RESULT_SUCCESS)
        fuzz_require(zepi_urUSMFree(gear->context, memory) == UR_RESULT_SUCCESS);
    zepi_urEnqueueKernelLaunchWithArgsExp(gear->queue, gear->kernel, 1, NULL, &items, NULL, 0, NULL,
                                          (ur_kernel_launch_ext_properties_t *)list, 0, NULL, NULL);
    zepi_urQueueFinish(gear->queue);
    ur_chain_free(list);
    return 0;
}
