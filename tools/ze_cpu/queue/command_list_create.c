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
            command->kind = CPU_COMMAND_BARRIER;
            cpu_command_destroy(command);
            return result;
        }
        command->waits[i].event = event;
        command->waits[i].goal = cpu_event_goal(event);
    }
    command->signal = (struct cpu_event *)signal;
    if (command->signal != NULL && command->signal->is_counter_based && !list->is_in_order) {
        cpu_report(function, "a counter-based event needs an in-order list");
        command->kind = CPU_COMMAND_BARRIER;
        cpu_command_destroy(command);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    *out_command = command;
    return ZE_RESULT_SUCCESS;
}

_Atomic uint64_t cpu_compute_copies;

static void count_copy(const struct cpu_list *list, const struct cpu_command *command)
{
    const bool is_copy = command->kind == CPU_COMMAND_COPY ||
                         command->kind == CPU_COMMAND_COPY_REGION ||
                         command->kind == CPU_COMMAND_FILL;
    if (is_copy && list->ordinal == CPU_GROUP_COMPUTE &&
        !(list->flags & CPU_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT))
        atomic_fetch_add_explicit(&cpu_compute_copies, 1, memory_order_relaxed);
}

ze_result_t cpu_list_add(struct cpu_list *list, struct cpu_command *command, const char *function)
{
    if (!list->is_immediate) {
        cpu_mutable_attach(list, command);
        for (uint32_t i = 0; i < command->wait_count; i++)
            list->counter_wait_count += cpu_wait_counts(&command->waits[i]);
        if (list->tail != NULL)
            list->tail->next = command;
        else
            list->head = command;
        list->tail = command;
        return ZE_RESULT_SUCCESS;
    }
    count_copy(list, command);
    if (command->signal != NULL) {
        note_signal(list, command);
        cpu_event_submit(command->signal);
    }
    cpu_stream_submit(list->stream, command, command);
    return list->is_synchronous ? cpu_stream_synchronize(list->stream, UINT64_MAX)
                                : ZE_RESULT_SUCCESS;
}

static struct cpu_command *create_execution(struct cpu_list *list)
{
    const size_t goal_bytes = list->counter_wait_count * sizeof(uint64_t);
    size_t window_count = 1;
    for (const struct cpu_command *recorded = list->head;
         recorded != NULL && cpu_options()->reorder_seed != 0; recorded = recorded->next)
        window_count++;
    const size_t window_bytes = window_count * sizeof(struct cpu_recorded);
    struct cpu_command *command =
        cpu_command_create(CPU_COMMAND_EXECUTE, 0, goal_bytes + window_bytes + 32);
    if (command == NULL)
        return NULL;
    command->u.execute.list = list;
    command->u.execute.rest = list->head;
    command->u.execute.goals = cpu_command_take(command, goal_bytes);
    command->u.execute.window = cpu_command_take(command, window_bytes);
    return command;
}

// From here on the execution will take place: a host may wait for its signals.
static void submit_execution(struct cpu_command *command)
{
    struct cpu_list *list = command->u.execute.list;
    uint64_t *goals = (uint64_t *)command->u.execute.goals;
    // In the order of execution, so that a wait for an earlier command's signal means that signal.
    for (struct cpu_command *recorded = list->head; recorded != NULL; recorded = recorded->next) {
        for (uint32_t i = 0; i < recorded->wait_count; i++)
            if (cpu_wait_counts(&recorded->waits[i]))
                *goals++ = cpu_event_goal(recorded->waits[i].event);
        if (recorded->signal != NULL)
            cpu_event_submit(recorded->signal);
    }
    atomic_fetch_add_explicit(&list->uses, 1, memory_order_relaxed);
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
                                     struct cpu_command **out_first, struct cpu_command **out_last)
{
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = check_executable(place, lists[i], function);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    struct cpu_command *first = NULL;
    struct cpu_command *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct cpu_command *command = create_execution(lists[i]);
        if (command == NULL) {
            for (; first != NULL; first = last) {
                last = first->next;
                cpu_command_destroy(first);
            }
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        command->next = NULL;
        if (last != NULL)
            last->next = command;
        else
            first = command;
        last = command;
    }
    for (struct cpu_command *command = first; command != NULL; command = command->next)
        submit_execution(command);
    *out_first = first;
    *out_last = last;
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
    if (altdesc->ordinal >= CPU_GROUP_COUNT || altdesc->index >= CPU_GROUP_QUEUES)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if ((altdesc->flags & ~0x7u) != 0 || (uint32_t)altdesc->mode > 2 ||
        (uint32_t)altdesc->priority > 2)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct cpu_list *list = cpu_object_create(CPU_LIST, sizeof(*list));
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
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
    if (cpu_options()->executes) {
        list->stream = cpu_stream_create(&(struct cpu_engine_name){
            hDevice, altdesc->ordinal, altdesc->index, altdesc->priority});
        const uint64_t seed = cpu_options()->reorder_seed;
        const bool is_reordered = seed != 0 && !list->is_in_order && !list->is_synchronous;
        if (list->stream == NULL ||
            (is_reordered &&
             !cpu_stream_reorder(list->stream, seed << 16 | list->signaller.serial))) {
            cpu_stream_destroy(list->stream);
            cpu_object_destroy(list);
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

static void drop_commands(struct cpu_list *list)
{
    while (list->head != NULL) {
        struct cpu_command *next = list->head->next;
        cpu_command_destroy(list->head);
        list->head = next;
    }
    list->tail = NULL;
    list->counter_wait_count = 0;
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
    struct cpu_command *before, *after, *first, *last;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_BEGIN_LISTS, 0, NULL, numWaitEvents,
                                          phWaitEvents, __func__, &before);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result =
        cpu_list_command(list, CPU_COMMAND_END_LISTS, 0, hSignalEvent, 0, NULL, __func__, &after);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_command_destroy(before);
        return result;
    }
    const struct cpu_place place = {list->context, list->device, list->ordinal};
    result = cpu_list_make_executions(&place, (struct cpu_list *const *)phCommandLists,
                                      numCommandLists, __func__, &first, &last);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_command_destroy(before);
        cpu_command_destroy(after);
        return result;
    }
    before->u.lists.end = after;
    before->next = first != NULL ? first : after;
    if (last != NULL)
        last->next = after;
    if (after->signal != NULL) {
        note_signal(list, after);
        cpu_event_submit(after->signal);
    }
    cpu_stream_submit(list->stream, before, after);
    return list->is_synchronous ? cpu_stream_synchronize(list->stream, UINT64_MAX)
                                : ZE_RESULT_SUCCESS;
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
