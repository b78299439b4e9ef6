// SPDX-License-Identifier: MIT
#include "command/command_list.h"
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
#define SUBMITTED_NEWER(name, parameters, arguments, required)                                     \
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

static ze_result_t ZE_APICALL idle_wait(ze_command_list_handle_t hCommandList, uint32_t numEvents,
                                        ze_event_handle_t *phEvents)
{
    return ZE_RESULT_SUCCESS;
}

// Settings of a kernel matter for its execution only.
static ze_result_t ZE_APICALL idle_set_argument(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                size_t argSize, const void *pArgValue)
{
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL idle_set_sizes(ze_kernel_handle_t hKernel, uint32_t x, uint32_t y,
                                             uint32_t z)
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

// Nothing is recorded, so there is nothing to change; the list is closed again.
static ze_result_t idle_change(ze_command_list_handle_t list)
{
    ((struct cpu_list *)list)->is_changed = true;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL idle_update(ze_command_list_handle_t hCommandList,
                                          const ze_mutable_commands_exp_desc_t *desc)
{
    return idle_change(hCommandList);
}

static ze_result_t ZE_APICALL idle_update_signal(ze_command_list_handle_t hCommandList,
                                                 uint64_t commandId, ze_event_handle_t hSignalEvent)
{
    return idle_change(hCommandList);
}

static ze_result_t ZE_APICALL idle_update_waits(ze_command_list_handle_t hCommandList,
                                                uint64_t commandId, uint32_t numWaitEvents,
                                                ze_event_handle_t *phWaitEvents)
{
    return idle_change(hCommandList);
}

static ze_result_t ZE_APICALL idle_update_kernels(ze_command_list_handle_t hCommandList,
                                                  uint32_t numKernels, uint64_t *pCommandId,
                                                  ze_kernel_handle_t *phKernels)
{
    return idle_change(hCommandList);
}

// Later initializers replace earlier ones of the same member, on purpose.
#pragma GCC diagnostic ignored "-Woverride-init"

const struct cpu_tables cpu_tables_idle = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    .table.member = cpu_##name,
#define REFUSED(table, member, name) .table.member = (void *)cpu_refused_##name,
#define NEWER(name, parameters, arguments, required) .newer.name = cpu_##name,
#define SUBMITTED(table, member, name, parameters, arguments, required) .table.member = idle_##name,
#define SUBMITTED_NEWER(name, parameters, arguments, required) .newer.name = idle_##name,
#include "functions.def"
    .command_list.pfnAppendSignalEvent = idle_signal,
    .command_list.pfnAppendEventReset = idle_reset,
    .command_list.pfnAppendWaitOnEvents = idle_wait,
    .command_queue.pfnExecuteCommandLists = idle_execute,
    .event.pfnHostReset = idle_host_reset,
    .newer.zeCommandListUpdateMutableCommandsExp = idle_update,
    .newer.zeCommandListUpdateMutableCommandSignalEventExp = idle_update_signal,
    .newer.zeCommandListUpdateMutableCommandWaitEventsExp = idle_update_waits,
    .newer.zeCommandListUpdateMutableCommandKernelsExp = idle_update_kernels,
    .kernel.pfnSetArgumentValue = idle_set_argument,
    .kernel.pfnSetGroupSize = idle_set_sizes,
    .kernel_exp.pfnSetGlobalOffsetExp = idle_set_sizes,
};
