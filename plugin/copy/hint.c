// SPDX-License-Identifier: MIT
#include "copy/hint.h"

#include "copy/copy.h"
#include "device/device.h"
#include "queue/capture_command.h"
#include "queue/submit.h"
#include "ze/ze.h"

static zepi_result_t hint_capture(struct zepi_queue *queue, unsigned kind, const void *memory,
                                  size_t size_bytes, uint32_t advice, zepi_wait_list_t wait,
                                  zepi_event_t *out_event)
{
    const struct zepi_transfer command = {
        .head.kind = kind, .from = memory, .size_bytes = size_bytes, .advice = advice};
    return zepi_capture_command(queue, &command.head, wait, out_event);
}

// Hints take no events of their own: barriers stand for them where a command waits.
static zepi_result_t hint_append_waits(const struct zepi_submit *submit)
{
    return submit->wait_count == 0 ? ZEPI_SUCCESS
                                   : ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL,
                                             submit->wait_count, submit->waits);
}

static zepi_result_t hint_append_signal(const struct zepi_submit *submit)
{
    return submit->signal
               ? ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, 0, NULL)
               : ZEPI_SUCCESS;
}

zepi_result_t zepi_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return hint_capture(queue, ZEPI_CAPTURED_PREFETCH, memory, size_bytes, 0, wait, out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = hint_append_waits(&submit);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeCommandListAppendMemoryPrefetch, submit.list, memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = hint_append_signal(&submit);
    return zepi_submit_end(&submit, result, out_event);
}

static const ze_memory_advice_t advices[] = {
    [ZEPI_ADVICE_SET_READ_MOSTLY] = ZE_MEMORY_ADVICE_SET_READ_MOSTLY,
    [ZEPI_ADVICE_CLEAR_READ_MOSTLY] = ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
    [ZEPI_ADVICE_SET_PREFERRED_LOCATION] = ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION,
    [ZEPI_ADVICE_CLEAR_PREFERRED_LOCATION] = ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION,
    [ZEPI_ADVICE_SET_NON_ATOMIC_MOSTLY] = ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY,
    [ZEPI_ADVICE_CLEAR_NON_ATOMIC_MOSTLY] = ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY,
    [ZEPI_ADVICE_BIAS_CACHED] = ZE_MEMORY_ADVICE_BIAS_CACHED,
    [ZEPI_ADVICE_BIAS_UNCACHED] = ZE_MEMORY_ADVICE_BIAS_UNCACHED,
};

zepi_result_t zepi_append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                 const void *memory, size_t size_bytes, zepi_advice_t advice)
{
    return ZEPI_ZE(zeCommandListAppendMemAdvise, list, device->ze, memory, size_bytes,
                   advices[advice]);
}

zepi_result_t zepi_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                zepi_advice_t advice, zepi_event_t *out_event)
{
    const zepi_wait_list_t no_wait = {NULL, 0};
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_submit_begin(&submit, queue, no_wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return hint_capture(queue, ZEPI_CAPTURED_ADVISE, memory, size_bytes, 1u << advice, no_wait,
                            out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_advice(submit.list, queue->device, memory, size_bytes, advice);
    if (result == ZEPI_SUCCESS)
        result = hint_append_signal(&submit);
    return zepi_submit_end(&submit, result, out_event);
}
