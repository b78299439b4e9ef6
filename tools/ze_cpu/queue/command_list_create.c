// SPDX-License-Identifier: MIT
#include "command/command_list.h"

#include "chain.h"
#include "device/device.h"
#include "engine.h"
#include "entry.h"
#include "kernel/mutable_command.h"
#include "options.h"

static void note_signal(const struct cpu_list *list, const struct cpu_command *command)
{
    cpu_event_note_list(command->signal, &list->signaller,
                        list->is_in_order && command->kind == CPU_COMMAND_LAUNCH
                            ? CPU_SIGNAL_OF_LAUNCH
                            : CPU_SIGNAL_OF_OTHER);
}

ze_result_t cpu_list_command(struct cpu_list *list, enum cpu_command_kind kind, size_t extra_bytes,
                             ze_event_handle_t signal, uint32_t wait_count,
                             ze_event_handle_t *waits, const char *function,
                             struct cpu_command **out_command)
{
    if (wait_count > 0 && waits == NULL)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (list->is_closed) {
        cpu_report(function, "list %p is closed", (void *)list);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct cpu_command *command = cpu_command_create(kind, wait_count, extra_bytes);
    if (command == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < wait_count; i++) {
        struct cpu_event *event = (struct cpu_event *)waits[i];
        ze_result_t result = cpu_object_check(event, CPU_EVENT, function);
        if (result != ZE_RESULT_SUCCESS) {
            cpu_command_destroy(command);
            return result;
        }
        command->waits[i].event = event;
        command->waits[i].goal = cpu_event_goal(event);
    }
    command->signal = (struct cpu_event *)signal;
    if (command->signal != NULL && command->signal->is_counter_based && !list->is_in_order) {
        cpu_report(function, "a counter-based event needs an in-order list");
        cpu_command_destroy(command);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    *out_command = command;
    return ZE_RESULT_SUCCESS;
}

_Atomic uint64_t cpu_compute_copies;

static void count_copy(const struct cpu_list *list, const struct cpu_command *command)
{
    const bool is_copy = command->kind == CPU_COMMAND_COPY || command->kind == CPU_COMMAND_FILL;
    if (is_copy && list->ordinal == CPU_GROUP_COMPUTE &&
        !(list->flags & CPU_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT))
        atomic_fetch_add_explicit(&cpu_compute_copies, 1, memory_order_relaxed);
}

// To the stream of an immediate list, of which only the last one signals.
static ze_result_t hand_over(struct cpu_list *list, struct cpu_chain chain)
{
    if (chain.tail->signal != NULL) {
        note_signal(list, chain.tail);
        cpu_event_submit(chain.tail->signal);
    }
    cpu_stream_submit(list->stream, chain);
    return list->is_synchronous ? cpu_stream_synchronize(list->stream, UINT64_MAX)
                                : ZE_RESULT_SUCCESS;
}

ze_result_t cpu_list_add(struct cpu_list *list, struct cpu_command *command, const char *function)
{
    if (!list->is_immediate) {
        cpu_mutable_attach(list, command);
        cpu_chain_append(&list->commands, (struct cpu_chain){command, command});
        return ZE_RESULT_SUCCESS;
    }
    count_copy(list, command);
    return hand_over(list, (struct cpu_chain){command, command});
}

// Copies of the list's commands, and its end.
static ze_result_t append_copies(struct cpu_list *list, struct cpu_chain *chain)
{
    struct cpu_command *end = cpu_command_create(CPU_COMMAND_END, 0, 0);
    const struct cpu_command *recorded = list->commands.head;
    bool is_made = end != NULL;
    for (; is_made && recorded != NULL; recorded = recorded->next) {
        struct cpu_command *copy = cpu_command_copy(recorded, end);
        is_made = copy != NULL;
        end->u.end.left++;
        if (is_made)
            cpu_chain_append(chain, (struct cpu_chain){copy, copy});
    }
    if (!is_made) {
        cpu_command_destroy(end);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    end->u.end.list = list;
    end->u.end.is_reordered = cpu_options()->reorder_seed != 0 && !list->is_in_order;
    cpu_chain_append(chain, (struct cpu_chain){end, end});
    return ZE_RESULT_SUCCESS;
}

// From here on the lists will be executed: a host may wait for their signals.
static void submit_copies(const struct cpu_chain *chain)
{
    // In the order of execution, so that a wait for an earlier command's signal means that signal.
    for (struct cpu_command *copy = chain->head; copy != NULL; copy = copy->next) {
        for (uint32_t i = 0; i < copy->wait_count; i++)
            copy->waits[i].goal = cpu_event_goal(copy->waits[i].event);
        if (copy->signal != NULL)
            cpu_event_submit(copy->signal);
        if (copy->kind == CPU_COMMAND_END && copy->u.end.left > 0)
            atomic_fetch_add_explicit(&copy->u.end.list->uses, 1, memory_order_relaxed);
    }
}

static ze_result_t check_executable(const struct cpu_place *place, struct cpu_list *list,
                                    const char *function)
{
    ze_result_t result = cpu_object_check(list, CPU_LIST, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->is_immediate || !list->is_closed || list->is_changed) {
        cpu_report(function, "list %p is %s", (void *)list,
                   list->is_immediate ? "immediate"
                   : list->is_changed ? "not closed again after a change"
                                      : "not closed");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (list->context != place->context || list->device != place->device) {
        cpu_report(function, "list %p was made for another %s", (void *)list,
                   list->context != place->context ? "context" : "device");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (list->ordinal != place->ordinal) {
        cpu_report(function, "list %p was made for queue group %u, not %u", (void *)list,
                   list->ordinal, place->ordinal);
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_list_make_executions(const struct cpu_place *place, struct cpu_list *const *lists,
                                     uint32_t count, const char *function,
                                     struct cpu_chain *out_chain)
{
    struct cpu_chain chain = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        result = check_executable(place, lists[i], function);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        result = append_copies(lists[i], &chain);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_chain_destroy(&chain);
        return result;
    }
    submit_copies(&chain);
    *out_chain = chain;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListCreate(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice,
                                               const ze_command_list_desc_t *desc,
                                               ze_command_list_handle_t *phCommandList)
{
    if (desc->commandQueueGroupOrdinal >= CPU_GROUP_COUNT)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if ((desc->flags & ~0x3fu) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct cpu_list *list = cpu_object_create(CPU_LIST, sizeof(*list));
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->context = hContext;
    list->device = hDevice;
    list->ordinal = desc->commandQueueGroupOrdinal;
    list->flags = desc->flags;
    list->is_in_order = (desc->flags & CPU_COMMAND_LIST_FLAG_IN_ORDER) != 0;
    list->is_mutable =
        cpu_chain_find(desc->pNext, CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC) != NULL;
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice,
                                                        const ze_command_queue_desc_t *altdesc,
                                                        ze_command_list_handle_t *phCommandList)
{
    struct cpu_stream *stream;
    const ze_result_t result = cpu_stream_create(hDevice, altdesc, &stream);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_list *list = cpu_object_create(CPU_LIST, sizeof(*list));
    if (list == NULL) {
        cpu_stream_destroy(stream);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    list->stream = stream;
    list->context = hContext;
    list->device = hDevice;
    list->ordinal = altdesc->ordinal;
    list->index = altdesc->index;
    list->flags = altdesc->flags;
    list->is_immediate = true;
    list->is_synchronous = altdesc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    list->is_in_order = (altdesc->flags & CPU_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
    static _Atomic uint16_t last_serial;
    atomic_init(&list->signaller.serial,
                atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed));
    const uint64_t seed = cpu_options()->reorder_seed;
    if (stream != NULL && seed != 0 && !list->is_in_order && !list->is_synchronous &&
        !cpu_stream_reorder(stream, seed << 16 | list->signaller.serial)) {
        cpu_stream_destroy(stream);
        cpu_object_destroy(list);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

static void drop_commands(struct cpu_list *list)
{
    cpu_chain_destroy(&list->commands);
    cpu_mutable_finish(list);
}

ze_result_t cpu_list_check_unused(const struct cpu_list *list, const char *function)
{
    if (atomic_load_explicit(&list->uses, memory_order_acquire) == 0)
        return ZE_RESULT_SUCCESS;
    cpu_report(function, "list %p is still being executed", (const void *)list);
    return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
}

ze_result_t ZE_APICALL cpu_zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    ze_result_t result = cpu_list_check_unused(list, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cpu_stream_destroy(list->stream);
    drop_commands(list);
    cpu_object_destroy(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    // As with Intel's driver: immediate lists are never closed, and a second time is fine.
    if (list->is_immediate || (list->is_closed && !list->is_changed))
        return ZE_RESULT_SUCCESS;
    ze_result_t result = cpu_mutable_check(list, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->is_closed = true;
    list->is_changed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    // An immediate one has recorded nothing.
    ze_result_t result = cpu_list_check_unused(list, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    drop_commands(list);
    list->is_closed = false;
    list->is_changed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                        uint64_t timeout)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    if (!list->is_immediate) {
        cpu_report(__func__, "list %p is not immediate", (void *)list);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return list->stream != NULL ? cpu_stream_synchronize(list->stream, timeout) : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandListImmediate;
    if (!list->is_immediate) {
        cpu_report(__func__, "list %p is not immediate", (void *)list);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct cpu_command *begin, *end;
    struct cpu_chain copies;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_BEGIN, 0, NULL, numWaitEvents,
                                          phWaitEvents, __func__, &begin);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = cpu_list_command(list, CPU_COMMAND_END, 0, hSignalEvent, 0, NULL, __func__, &end);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_command_destroy(begin);
        return result;
    }
    const struct cpu_place place = {list->context, list->device, list->ordinal};
    result = cpu_list_make_executions(&place, (struct cpu_list *const *)phCommandLists,
                                      numCommandLists, __func__, &copies);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_command_destroy(begin);
        cpu_command_destroy(end);
        return result;
    }
    begin->u.begin.end = end;
    struct cpu_chain chain = {begin, begin};
    cpu_chain_append(&chain, copies);
    cpu_chain_append(&chain, (struct cpu_chain){end, end});
    return hand_over(list, chain);
}

ze_result_t ZE_APICALL cpu_zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, const void *pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    if (pNext != NULL) {
        cpu_report(__func__, "parameters are not known");
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return cpu_zeCommandListImmediateAppendCommandListsExp(hCommandListImmediate, numCommandLists,
                                                           phCommandLists, hSignalEvent,
                                                           numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL cpu_zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                        ze_device_handle_t *phDevice)
{
    *phDevice = ((struct cpu_list *)hCommandList)->device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                         ze_context_handle_t *phContext)
{
    *phContext = ((struct cpu_list *)hCommandList)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                                   uint32_t *pOrdinal)
{
    *pOrdinal = ((struct cpu_list *)hCommandList)->ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
cpu_zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex)
{
    const struct cpu_list *list = (const struct cpu_list *)hCommandListImmediate;
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *pIndex = list->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                    ze_bool_t *pIsImmediate)
{
    *pIsImmediate = ((struct cpu_list *)hCommandList)->is_immediate;
    return ZE_RESULT_SUCCESS;
}
