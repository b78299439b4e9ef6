// SPDX-License-Identifier: MIT
#include "device/device.h"
#include "entry.h"
#include "event/event.h"
#include "event/fence.h"
#include "tables.h"

// ZE_CPU_EXECUTE=0: a submitted command is complete at once, in the calling thread, and nothing is
// executed. There is no thread, no lock and no handle check, so that the host's overhead is left
// alone.

// Not inlined: a function without an event is three instructions long.
static __attribute__((noinline)) ze_result_t complete_event(ze_event_handle_t signal)
{
    struct cpu_event *event = (struct cpu_event *)signal;
    atomic_store_explicit(&event->start, 1, memory_order_relaxed);
    atomic_store_explicit(&event->end, 2, memory_order_relaxed);
    // An event of the counter is always complete: each submitted command is done.
    if (event->is_counter_based)
        return ZE_RESULT_SUCCESS;
    // Sequentially consistent with the count of waiters, as in cpu_event_complete.
    atomic_store(&event->done, 1);
    if (atomic_load(&cpu_event_waiters) > 0)
        cpu_event_wake(event);
    return ZE_RESULT_SUCCESS;
}

static inline ze_result_t complete(ze_event_handle_t signal)
{
    return signal == NULL ? ZE_RESULT_SUCCESS : complete_event(signal);
}

// The submitted ones ignore all but their signal.
#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define SUBMITTED(table, member, name, parameters, arguments, required)                            \
    static ze_result_t ZE_APICALL idle_##name parameters                                           \
    {                                                                                              \
        return complete(hSignalEvent);                                                             \
    }
#define SUBMITTED_NEWER(table, minor, name, parameters, arguments, required)                       \
    static ze_result_t ZE_APICALL idle_##name parameters                                           \
    {                                                                                              \
        return complete(hSignalEvent);                                                             \
    }
#include "functions.def"

static ze_result_t ZE_APICALL idle_signal(ze_command_list_handle_t hCommandList,
                                          ze_event_handle_t hEvent)
{
    return complete(hEvent);
}

static ze_result_t ZE_APICALL idle_reset(ze_command_list_handle_t hCommandList,
                                         ze_event_handle_t hEvent)
{
    cpu_event_reset((struct cpu_event *)hEvent);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL idle_host_reset(ze_event_handle_t hEvent)
{
    atomic_store_explicit(&((struct cpu_event *)hEvent)->done, 0, memory_order_relaxed);
    return ZE_RESULT_SUCCESS;
}

// For waits, settings of kernels, and changes of recorded commands, of which there are none. One
// stub serves any parameters, as in tables.c.
static ze_result_t ZE_APICALL idle_nothing(void)
{
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL idle_execute(ze_command_queue_handle_t hCommandQueue,
                                           uint32_t numCommandLists,
                                           ze_command_list_handle_t *phCommandLists,
                                           ze_fence_handle_t hFence)
{
    if (hFence != NULL)
        cpu_fence_complete((struct cpu_fence *)hFence);
    return ZE_RESULT_SUCCESS;
}

// Later initializers replace earlier ones of the same member, on purpose.
#pragma GCC diagnostic ignored "-Woverride-init"

const struct cpu_tables cpu_tables_idle = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    .table.member = cpu_##name,
#define REFUSED(table, member, name) .table.member = (void *)cpu_refused_##name,
#define NEWER(table, minor, name, parameters, arguments, required) .newer.name = cpu_##name,
#define SUBMITTED(table, member, name, parameters, arguments, required) .table.member = idle_##name,
#define SUBMITTED_NEWER(table, minor, name, parameters, arguments, required)                       \
    .newer.name = idle_##name,
#include "functions.def"
    .command_list.pfnAppendSignalEvent = idle_signal,
    .command_list.pfnAppendEventReset = idle_reset,
    .command_list.pfnAppendWaitOnEvents = (void *)idle_nothing,
    .command_queue.pfnExecuteCommandLists = idle_execute,
    .event.pfnHostReset = idle_host_reset,
    .newer.zeCommandListUpdateMutableCommandsExp = (void *)idle_nothing,
    .newer.zeCommandListUpdateMutableCommandSignalEventExp = (void *)idle_nothing,
    .newer.zeCommandListUpdateMutableCommandWaitEventsExp = (void *)idle_nothing,
    .newer.zeCommandListUpdateMutableCommandKernelsExp = (void *)idle_nothing,
    .kernel.pfnSetArgumentValue = (void *)idle_nothing,
    .kernel.pfnSetGroupSize = (void *)idle_nothing,
    .kernel_exp.pfnSetGlobalOffsetExp = (void *)idle_nothing,
};
