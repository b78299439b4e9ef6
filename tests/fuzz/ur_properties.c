// SPDX-License-Identifier: MIT
#include "ur_gear.h"

static const struct {
    ur_structure_type_t type;
    size_t size_bytes;
} kinds[] = {
    {UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, sizeof(ur_queue_properties_t)},
    {UR_STRUCTURE_TYPE_QUEUE_INDEX_PROPERTIES, sizeof(ur_queue_index_properties_t)},
    {UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC, sizeof(ur_usm_pool_limits_desc_t)},
    {UR_STRUCTURE_TYPE_USM_DEVICE_DESC, sizeof(ur_usm_device_desc_t)},
    {UR_STRUCTURE_TYPE_USM_HOST_DESC, sizeof(ur_usm_host_desc_t)},
    {UR_STRUCTURE_TYPE_USM_ALLOC_LOCATION_DESC, sizeof(ur_usm_alloc_location_desc_t)},
    {UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES, sizeof(ur_kernel_launch_ext_properties_t)},
    {UR_STRUCTURE_TYPE_FORCE_UINT32, sizeof(ur_base_properties_t)},
};
enum { MAX_NODES = 8, KINDS = sizeof(kinds) / sizeof(kinds[0]) };

// Each in a block of just the size that its type has: a kind, and bytes for the members behind the
// link.
static ur_base_properties_t *read_list(const uint8_t *bytes, size_t size_bytes)
{
    ur_base_properties_t *next = NULL;
    for (int i = 0; i < MAX_NODES && size_bytes > 0; i++) {
        const size_t kind = *bytes++ % KINDS;
        ur_base_properties_t *node = calloc(1, kinds[kind].size_bytes);
        const size_t rest = kinds[kind].size_bytes - sizeof(*node);
        const size_t taken = rest < size_bytes - 1 ? rest : size_bytes - 1;
        memcpy(node + 1, bytes, taken);
        *node = (ur_base_properties_t){kinds[kind].type, next};
        bytes += taken;
        size_bytes -= taken + 1;
        next = node;
    }
    return next;
}

// Lists of properties that a host gives.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const struct ur_gear *gear = ur_gear_get();
    const size_t items = 64;
    ur_base_properties_t *list = read_list(bytes, size_bytes);
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
    while (list) {
        ur_base_properties_t *next = list->pNext;
        free(list);
        list = next;
    }
    return 0;
}
