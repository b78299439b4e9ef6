// SPDX-License-Identifier: MIT
// Allocations and frees of memory in the order of a queue.
#include "queue/command/allocate.h"

#include "ur/command.h"
#include "ur/memory/usm_pool.h"

static ur_result_t enqueue_allocation(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                      zepi_usm_kind_t kind, size_t size,
                                      const ur_exp_async_usm_alloc_properties_t *properties,
                                      uint32_t wait_count, const ur_event_handle_t *wait_list,
                                      void **out_memory, ur_event_handle_t *out_event,
                                      ur_command_t type)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(queue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_pointer(out_memory, "ppMem")) ||
        (result = zepi_ur_check_flags(properties ? properties->flags : 0,
                                      UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK)) ||
        (result = zepi_ur_check_usm_pool_of(pool, command.queue->context)) ||
        (result = zepi_ur_check_usm_size(
             command.queue->context, kind == ZEPI_USM_HOST ? NULL : command.queue->device, size)))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_allocate(command.queue, zepi_ur_usm_pool(pool), kind,
                                                   size, 0, command.wait, out_memory,
                                                   zepi_ur_command_event(&command)),
                               type);
}

#define DEFINE_ALLOC(noun, kind)                                                                   \
    ur_result_t zepi_urEnqueueUSM##noun##AllocExp(                                                 \
        ur_queue_handle_t hQueue, ur_usm_pool_handle_t pPool, const size_t size,                   \
        const ur_exp_async_usm_alloc_properties_t *pProperties, uint32_t wait_count,               \
        const ur_event_handle_t *wait_list, void **ppMem, ur_event_handle_t *out_event)            \
    {                                                                                              \
        return enqueue_allocation(hQueue, pPool, ZEPI_USM_##kind, size, pProperties, wait_count,   \
                                  wait_list, ppMem, out_event,                                     \
                                  UR_COMMAND_ENQUEUE_USM_##kind##_ALLOC_EXP);                      \
    }
DEFINE_ALLOC(Device, DEVICE)
DEFINE_ALLOC(Shared, SHARED)
DEFINE_ALLOC(Host, HOST)

// Memory goes back to the pool that it is from; the pool that the host names does not matter.
ur_result_t zepi_urEnqueueUSMFreeExp(ur_queue_handle_t hQueue, ur_usm_pool_handle_t pPool,
                                     void *pMem, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_pointer(pMem, "pMem")) ||
        (result = zepi_ur_check_usm_pool_of(pPool, command.queue->context)))
        return result;
    const zepi_result_t freed =
        zepi_queue_free(command.queue, pMem, command.wait, zepi_ur_command_event(&command));
    result = zepi_ur_command_end(&command, freed, UR_COMMAND_ENQUEUE_USM_FREE_EXP);
    return freed == ZEPI_ERROR_INVALID_VALUE ? UR_RESULT_ERROR_INVALID_MEM_OBJECT : result;
}
