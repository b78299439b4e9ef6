// SPDX-License-Identifier: MIT
#include "queue/progress.h"
#include "queue/queue_create.h"
#include "ur/handles.h"
#include "ur/info.h"

// Other flags are hints that change nothing here, or that Level Zero has no counterpart of.
static ur_result_t read_queue_flags(const ur_queue_properties_t *properties,
                                    zepi_queue_flags_t *out_flags)
{
    const ur_queue_flags_t flags = properties ? properties->flags : 0;
    const ur_queue_flags_t both = UR_QUEUE_FLAG_PRIORITY_LOW | UR_QUEUE_FLAG_PRIORITY_HIGH;
    const ur_queue_flags_t modes =
        UR_QUEUE_FLAG_SUBMISSION_BATCHED | UR_QUEUE_FLAG_SUBMISSION_IMMEDIATE;
    const ur_result_t result = zepi_ur_check_flags(flags, UR_QUEUE_FLAGS_MASK);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if ((flags & both) == both || (flags & modes) == modes)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
                              "queue flags 0x%x contradict each other", flags);
    if (flags & (UR_QUEUE_FLAG_ON_DEVICE | UR_QUEUE_FLAG_ON_DEVICE_DEFAULT))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
                              "Level Zero has no queues on the device");
    *out_flags = (flags & UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE ? 0 : ZEPI_QUEUE_IN_ORDER) |
                 (flags & UR_QUEUE_FLAG_PROFILING_ENABLE ? ZEPI_QUEUE_PROFILING : 0) |
                 (flags & UR_QUEUE_FLAG_PRIORITY_LOW ? ZEPI_QUEUE_PRIORITY_LOW : 0) |
                 (flags & UR_QUEUE_FLAG_PRIORITY_HIGH ? ZEPI_QUEUE_PRIORITY_HIGH : 0);
    return UR_RESULT_SUCCESS;
}

// The compute engine that the chain of properties asks for.
static ur_result_t read_queue_engine(const ur_queue_properties_t *properties,
                                     const struct zepi_device *device, uint32_t *out_engine)
{
    const ur_queue_index_properties_t *index = zepi_ur_find_in_chain(
        properties ? properties->pNext : NULL, UR_STRUCTURE_TYPE_QUEUE_INDEX_PROPERTIES);
    if (!index)
        return UR_RESULT_SUCCESS;
    *out_engine = index->computeIndex;
    return *out_engine < device->compute_count
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
                                "compute index %u: the device has %u compute engines", *out_engine,
                                device->compute_count);
}

ur_result_t zepi_urQueueCreate(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                               const ur_queue_properties_t *pProperties, ur_queue_handle_t *phQueue)
{
    zepi_queue_flags_t flags = 0;
    uint32_t engine = ZEPI_COMPUTE_ENGINE_ANY;
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(phQueue, "phQueue")) ||
        (result = read_queue_flags(pProperties, &flags)) ||
        (result = read_queue_engine(pProperties, zepi_ur_device(hDevice), &engine)))
        return result;
    return zepi_ur_result(zepi_queue_create(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                                            flags, engine, (zepi_queue_t *)phQueue));
}

ZEPI_UR_DEFINE_REFERENCES(Queue, , ur_queue_handle_t, zepi_ur_check_queue)

static uint64_t get_flags(void *object)
{
    const zepi_queue_flags_t flags = ((struct zepi_queue *)object)->flags;
    return (flags & ZEPI_QUEUE_IN_ORDER ? 0 : UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE) |
           (flags & ZEPI_QUEUE_PROFILING ? UR_QUEUE_FLAG_PROFILING_ENABLE : 0) |
           (flags & ZEPI_QUEUE_PRIORITY_LOW ? UR_QUEUE_FLAG_PRIORITY_LOW : 0) |
           (flags & ZEPI_QUEUE_PRIORITY_HIGH ? UR_QUEUE_FLAG_PRIORITY_HIGH : 0);
}

static uint64_t get_is_empty(void *object)
{
    return zepi_queue_poll(object);
}

static ur_result_t refuse_device_queue(void *object, const struct zepi_ur_info *info)
{
    (void)object, (void)info;
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE,
                          "a queue on the host has no size, and the device no default queue");
}

static const struct zepi_ur_query queue_queries[] = {
    {ZEPI_UR_MEMBER(QUEUE_INFO_CONTEXT, BYTES, zepi_queue, context)},
    {ZEPI_UR_MEMBER(QUEUE_INFO_DEVICE, BYTES, zepi_queue, device)},
    {ZEPI_UR_NUMBER(QUEUE_INFO_FLAGS, U32, get_flags)},
    {ZEPI_UR_REFERENCES(QUEUE_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_NUMBER(QUEUE_INFO_EMPTY, BOOL, get_is_empty)},
    {ZEPI_UR_VALUE(QUEUE_INFO_DEVICE_DEFAULT, refuse_device_queue)},
    {ZEPI_UR_VALUE(QUEUE_INFO_SIZE, refuse_device_queue)},
};

ZEPI_UR_DEFINE_GET_INFO(Queue, , queue, zepi_ur_check_queue, queue_queries, QUEUE_INFO_EMPTY)

ur_result_t zepi_urQueueGetNativeHandle(ur_queue_handle_t hQueue, ur_queue_native_desc_t *pDesc,
                                        ur_native_handle_t *phNativeQueue)
{
    void *native;
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_pointer(phNativeQueue, "phNativeQueue")) ||
        (result = zepi_ur_result(zepi_queue_get_native(zepi_ur_queue(hQueue), &native))))
        return result;
    // Level Zero's convention: 1 says that the handle is an immediate command list.
    if (pDesc && pDesc->pNativeData)
        *(int32_t *)pDesc->pNativeData = 1;
    *phNativeQueue = (ur_native_handle_t)native;
    return UR_RESULT_SUCCESS;
}

// In Level Zero's convention a chained description with the data 0 says that the handle is a
// command queue.
static bool is_command_queue(const void *chain)
{
    const ur_queue_native_desc_t *desc =
        zepi_ur_find_in_chain(chain, UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC);
    return desc && desc->pNativeData && *(const int32_t *)desc->pNativeData == 0;
}

ur_result_t zepi_urQueueCreateWithNativeHandle(ur_native_handle_t hNativeQueue,
                                               ur_context_handle_t hContext,
                                               ur_device_handle_t hDevice,
                                               const ur_queue_native_properties_t *pProperties,
                                               ur_queue_handle_t *phQueue)
{
    zepi_queue_flags_t flags = 0;
    struct zepi_device *device = zepi_ur_device(hDevice);
    const void *chain = pProperties ? pProperties->pNext : NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (hDevice && (result = zepi_ur_check_context_device(hContext, hDevice))) ||
        (result = zepi_ur_check_pointer(phQueue, "phQueue")) ||
        (!hNativeQueue &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "hNativeQueue is 0"))) ||
        (result = read_queue_flags(zepi_ur_find_in_chain(chain, UR_STRUCTURE_TYPE_QUEUE_PROPERTIES),
                                   &flags)))
        return result;
    if (is_command_queue(chain))
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "a queue is made of an immediate command list, not of a command "
                              "queue");
    if (!device)
        device = zepi_ur_context(hContext)->devices[0];
    return zepi_ur_result(zepi_queue_create_from_native(
        zepi_ur_context(hContext), device, flags, (void *)hNativeQueue,
        ZEPI_UR_OWNERSHIP(pProperties), (zepi_queue_t *)phQueue));
}

ur_result_t zepi_urQueueFinish(ur_queue_handle_t hQueue)
{
    const ur_result_t result = zepi_ur_check_queue(hQueue);
    return result ? result : zepi_ur_result(zepi_queue_finish(zepi_ur_queue(hQueue)));
}

// Immediate command lists hold nothing back.
ur_result_t zepi_urQueueFlush(ur_queue_handle_t hQueue)
{
    return zepi_ur_check_queue(hQueue);
}
