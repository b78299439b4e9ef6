// SPDX-License-Identifier: MIT
#include "ur_chain.h"

#include <stdlib.h>
#include <string.h>

// An input's bytes name a kind by its place here: new ones come last.
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
    {UR_STRUCTURE_TYPE_EXP_ASYNC_USM_ALLOC_PROPERTIES, sizeof(ur_exp_async_usm_alloc_properties_t)},
    {UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC, sizeof(ur_usm_pool_buffer_desc_t)},
    {UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR, sizeof(ur_exp_file_descriptor_t)},
    {UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC, sizeof(ur_exp_external_mem_desc_t)},
    {UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC, sizeof(ur_exp_command_buffer_desc_t)},
    {UR_STRUCTURE_TYPE_EXP_HOST_TASK_PROPERTIES, sizeof(ur_exp_host_task_properties_t)},
    {UR_STRUCTURE_TYPE_EXP_ENQUEUE_EXT_PROPERTIES, sizeof(ur_exp_enqueue_ext_properties_t)},
    {UR_STRUCTURE_TYPE_EXP_EVENT_DESC, sizeof(ur_exp_event_desc_t)},
    {UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, sizeof(ur_physical_mem_properties_t)},
    {UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC, sizeof(ur_queue_native_desc_t)},
    {UR_STRUCTURE_TYPE_BUFFER_ALLOC_LOCATION_PROPERTIES,
     sizeof(ur_buffer_alloc_location_properties_t)},
};
enum { MAX_NODES = 8, KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void clear_pointers(ur_base_properties_t *node)
{
    if (node->stype == UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC) {
        ur_usm_pool_buffer_desc_t *buffer = (ur_usm_pool_buffer_desc_t *)node;
        buffer->pMem = NULL;
        buffer->device = NULL;
    } else if (node->stype == UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR) {
        ((ur_exp_file_descriptor_t *)node)->fd = -1;
    } else if (node->stype == UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC) {
        ((ur_queue_native_desc_t *)node)->pNativeData = NULL;
    }
}

ur_base_properties_t *ur_chain_read(const uint8_t *bytes, size_t size_bytes)
{
    ur_base_properties_t *next = NULL;
    for (int i = 0; i < MAX_NODES && size_bytes > 0; i++) {
        const size_t kind = *bytes++ % KINDS;
        ur_base_properties_t *node = calloc(1, kinds[kind].size_bytes);
        const size_t rest = kinds[kind].size_bytes - sizeof(*node);
        const size_t taken = rest < size_bytes - 1 ? rest : size_bytes - 1;
        memcpy(node + 1, bytes, taken);
        *node = (ur_base_properties_t){kinds[kind].type, next};
        clear_pointers(node);
        bytes += taken;
        size_bytes -= taken + 1;
        next = node;
    }
    return next;
}

void ur_chain_free(ur_base_properties_t *chain)
{
    while (chain) {
        ur_base_properties_t *next = chain->pNext;
        free(chain);
        chain = next;
    }
}
