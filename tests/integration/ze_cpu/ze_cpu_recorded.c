// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <string.h>

// Regular lists that are executed many times, and changed in between.

#define COUNT 64

typedef ze_result_t (*append_lists_t)(ze_command_list_handle_t, uint32_t,
                                      ze_command_list_handle_t *, ze_event_handle_t, uint32_t,
                                      ze_event_handle_t *);

struct recorded {
    struct fixture fixture;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t place;
    int *data; // COUNT
    ze_result_t (*next_id)(ze_command_list_handle_t, const ze_mutable_command_id_exp_desc_t *,
                           uint64_t *);
    ze_result_t (*next_id_with_kernels)(ze_command_list_handle_t,
                                        const ze_mutable_command_id_exp_desc_t *, uint32_t,
                                        ze_kernel_handle_t *, uint64_t *);
    ze_result_t (*update)(ze_command_list_handle_t, const ze_mutable_commands_exp_desc_t *);
    ze_result_t (*update_signal)(ze_command_list_handle_t, uint64_t, ze_event_handle_t);
    ze_result_t (*update_waits)(ze_command_list_handle_t, uint64_t, uint32_t, ze_event_handle_t *);
    ze_result_t (*update_kernels)(ze_command_list_handle_t, uint32_t, uint64_t *,
                                  ze_kernel_handle_t *);
};

#define MUTABLE 1u

static ze_command_list_handle_t create_list(const struct fixture *fixture, uint32_t flags)
{
    const ze_mutable_command_list_exp_desc_t mutable_desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = flags & MUTABLE ? &mutable_desc : NULL,
                                         .flags = CPU_COMMAND_LIST_FLAG_IN_ORDER};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreate(fixture->context, fixture->device, &desc, &list));
    return list;
}

static void start(struct recorded *recorded, uint32_t flags)
{
    struct fixture *fixture = &recorded->fixture;
    fixture_init(fixture);
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    MUST(zeCommandQueueCreate(fixture->context, fixture->device, &desc, &recorded->queue));
    recorded->list = create_list(fixture, flags);
    recorded->module = fixture_module(fixture, "kernels", NULL);
    recorded->place = fixture_kernel(recorded->module, "place");
    recorded->data = fixture_shared(fixture, COUNT * sizeof(int));
    memset(recorded->data, 0, COUNT * sizeof(int));
#define FIND(member, name) *(void **)&recorded->member = fixture_function(fixture, name)
    FIND(next_id, "zeCommandListGetNextCommandIdExp");
    FIND(next_id_with_kernels, "zeCommandListGetNextCommandIdWithKernelsExp");
    FIND(update, "zeCommandListUpdateMutableCommandsExp");
    FIND(update_signal, "zeCommandListUpdateMutableCommandSignalEventExp");
    FIND(update_waits, "zeCommandListUpdateMutableCommandWaitEventsExp");
    FIND(update_kernels, "zeCommandListUpdateMutableCommandKernelsExp");
#undef FIND
}

static void stop(struct recorded *recorded)
{
    MUST(zeCommandListDestroy(recorded->list));
    MUST(zeCommandQueueDestroy(recorded->queue));
    MUST(zeKernelDestroy(recorded->place));
    MUST(zeModuleDestroy(recorded->module));
    MUST(zeMemFree(recorded->fixture.context, recorded->data));
    fixture_finish(&recorded->fixture);
}

static void set_value(const struct recorded *recorded, int value)
{
    MUST(zeKernelSetArgumentValue(recorded->place, 0, sizeof(recorded->data), &recorded->data));
    MUST(zeKernelSetArgumentValue(recorded->place, 1, sizeof(value), &value));
}

// Appends the kernel with one group of four, beginning at element 0, that writes 1 + 4000.
static uint64_t append_place(const struct recorded *recorded, uint32_t flags,
                             ze_event_handle_t signal, uint32_t wait_count,
                             ze_event_handle_t *waits)
{
    const ze_mutable_command_id_exp_desc_t desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = flags};
    uint64_t id = 0;
    MUST(recorded->next_id(recorded->list, &desc, &id));
    MUST(zeKernelSetGroupSize(recorded->place, 4, 1, 1));
    set_value(recorded, 1);
    const ze_group_count_t groups = {1, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(recorded->list, recorded->place, &groups, signal,
                                         wait_count, waits));
    return id;
}

static void execute(struct recorded *recorded)
{
    MUST(zeCommandListClose(recorded->list));
    MUST(zeCommandQueueExecuteCommandLists(recorded->queue, 1, &recorded->list, NULL));
    MUST(zeCommandQueueSynchronize(recorded->queue, UINT64_MAX));
}

// Elements from `first` on have `value`, `count` of them, and all others nothing; clears them.
static void must_have(const struct recorded *recorded, int first, int count, int value)
{
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(recorded->data[i], i >= first && i < first + count ? value : 0, "%d: %d", i,
                     recorded->data[i]);
    memset(recorded->data, 0, COUNT * sizeof(int));
}

static ze_result_t change(const struct recorded *recorded, const void *chain)
{
    const ze_mutable_commands_exp_desc_t desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, .pNext = chain};
    return recorded->update(recorded->list, &desc);
}

Test(ze_cpu_recorded, executes_a_closed_list_many_times_through_queues_and_immediate_lists)
{
    struct recorded recorded;
    start(&recorded, 0);
    struct fixture *fixture = &recorded.fixture;
    append_lists_t append =
        (append_lists_t)fixture_function(fixture, "zeCommandListImmediateAppendCommandListsExp");
    ze_kernel_handle_t scale = fixture_kernel(recorded.module, "scale");
    int *copy = fixture_shared(fixture, COUNT * sizeof(int));
    const int two = 2;
    MUST(zeKernelSetArgumentValue(scale, 0, sizeof(recorded.data), &recorded.data));
    MUST(zeKernelSetArgumentValue(scale, 1, sizeof(two), &two));
    const ze_group_count_t groups = {COUNT, 1, 1};
    struct fixture_event event = fixture_event(fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    MUST(zeCommandListAppendEventReset(recorded.list, event.event));
    MUST(zeCommandListAppendLaunchKernel(recorded.list, scale, &groups, event.event, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(recorded.list, copy, recorded.data, COUNT * sizeof(int),
                                       NULL, 1, &event.event));
    MUST(zeCommandListClose(recorded.list));
    ze_command_list_handle_t immediate = fixture_immediate(fixture, FIXTURE_IN_ORDER);
    ze_command_list_handle_t twice[] = {recorded.list, recorded.list};
    for (int i = 0; i < COUNT; i++)
        recorded.data[i] = 1;
    for (int i = 0; i < 4; i++)
        MUST(zeCommandQueueExecuteCommandLists(recorded.queue, 1, &recorded.list, NULL));
    MUST(zeCommandQueueExecuteCommandLists(recorded.queue, 2, twice, NULL));
    MUST(zeCommandQueueSynchronize(recorded.queue, UINT64_MAX));
    cr_assert_eq(copy[COUNT - 1], 1 << 6);
    struct fixture_event done = fixture_event(fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    struct fixture_event gate = fixture_event(fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    MUST(append(immediate, 1, &recorded.list, NULL, 1, &gate.event));
    MUST(append(immediate, 2, twice, done.event, 0, NULL));
    cr_assert_eq(zeEventHostSynchronize(done.event, 20000000), ZE_RESULT_NOT_READY);
    cr_assert_eq(zeCommandListReset(recorded.list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    cr_assert_eq(zeCommandListDestroy(recorded.list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    cr_assert_eq(copy[0], 1 << 6);
    MUST(zeEventHostSignal(gate.event));
    MUST(zeEventHostSynchronize(done.event, UINT64_MAX));
    cr_assert(copy[0] == 1 << 9 && copy[COUNT - 1] == 1 << 9);
    fixture_synchronize(fixture, immediate);
    fixture_event_finish(&event);
    fixture_event_finish(&done);
    fixture_event_finish(&gate);
    MUST(zeCommandListDestroy(immediate));
    MUST(zeKernelDestroy(scale));
    MUST(zeMemFree(fixture->context, copy));
    stop(&recorded);
}

Test(ze_cpu_recorded, changes_arguments_group_count_group_size_and_offset)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    uint64_t id = append_place(&recorded, 0, NULL, 0, NULL);
    execute(&recorded);
    must_have(&recorded, 0, 4, 4001);
    const int value = 7;
    int *target = recorded.data + 8;
    const ze_group_count_t groups = {3, 1, 1};
    ze_mutable_kernel_argument_exp_desc_t number = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .commandId = id,
        .argIndex = 1,
        .argSize = sizeof(value),
        .pArgValue = &value};
    ze_mutable_kernel_argument_exp_desc_t pointer = number;
    pointer.pNext = &number;
    pointer.argIndex = 0;
    pointer.argSize = sizeof(target);
    pointer.pArgValue = &target;
    ze_mutable_group_count_exp_desc_t count = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
        .pNext = &pointer,
        .commandId = id,
        .pGroupCount = &groups};
    ze_mutable_group_size_exp_desc_t size = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC,
        .pNext = &count,
        .commandId = id,
        .groupSizeX = 2,
        .groupSizeY = 1,
        .groupSizeZ = 1};
    ze_mutable_global_offset_exp_desc_t offset = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC,
        .pNext = &size,
        .commandId = id,
        .offsetX = 10};
    MUST(change(&recorded, &number));
    execute(&recorded);
    must_have(&recorded, 0, 4, 4007);
    MUST(change(&recorded, &offset)); // all of the chain
    execute(&recorded);
    must_have(&recorded, 18, 6, 2007);
    // Once more without a change: a list stays as it was left.
    MUST(zeCommandQueueExecuteCommandLists(recorded.queue, 1, &recorded.list, NULL));
    MUST(zeCommandQueueSynchronize(recorded.queue, UINT64_MAX));
    must_have(&recorded, 18, 6, 2007);
    stop(&recorded);
}

Test(ze_cpu_recorded, changes_the_events_of_a_command)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    struct fixture_event waits[3], signals[2];
    for (int i = 0; i < 3; i++)
        waits[i] = fixture_event(&recorded.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    for (int i = 0; i < 2; i++)
        signals[i] = fixture_event(&recorded.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t first[] = {waits[0].event, waits[1].event};
    uint64_t id = append_place(&recorded, 0, signals[0].event, 2, first);
    MUST(zeEventHostSignal(waits[0].event));
    MUST(zeEventHostSignal(waits[2].event));
    ze_event_handle_t second[] = {waits[2].event, NULL};
    MUST(recorded.update_waits(recorded.list, id, 2, second));
    MUST(recorded.update_signal(recorded.list, id, signals[1].event));
    execute(&recorded); // would hang on waits[1]
    must_have(&recorded, 0, 4, 4001);
    MUST(zeEventQueryStatus(signals[1].event));
    cr_assert_eq(zeEventQueryStatus(signals[0].event), ZE_RESULT_NOT_READY);
    MUST(zeEventHostReset(waits[2].event));
    MUST(zeEventHostReset(signals[1].event));
    MUST(recorded.update_waits(recorded.list, id, 0, NULL));
    MUST(recorded.update_signal(recorded.list, id, NULL));
    execute(&recorded);
    must_have(&recorded, 0, 4, 4001);
    cr_assert_eq(zeEventQueryStatus(signals[1].event), ZE_RESULT_NOT_READY);
    MUST(recorded.update_signal(recorded.list, id, signals[0].event));
    execute(&recorded);
    MUST(zeEventQueryStatus(signals[0].event));
    cr_assert_eq(recorded.update_waits(recorded.list, id, 1, second), ZE_RESULT_ERROR_INVALID_SIZE);
    for (int i = 0; i < 3; i++)
        fixture_event_finish(&waits[i]);
    for (int i = 0; i < 2; i++)
        fixture_event_finish(&signals[i]);
    stop(&recorded);
}

// Of three commands of an in-order list with counter-based events, each waits for the one before.
Test(ze_cpu_recorded, changes_waits_for_counter_based_events)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    ze_result_t (*create)(ze_context_handle_t, ze_device_handle_t,
                          const ze_event_counter_based_desc_t *, ze_event_handle_t *);
    *(void **)&create = fixture_function(&recorded.fixture, "zeEventCounterBasedCreate");
    const ze_event_counter_based_desc_t desc = {.flags =
                                                    CPU_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                                    CPU_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                                                    CPU_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE};
    ze_event_handle_t events[2];
    for (int i = 0; i < 2; i++)
        MUST(create(recorded.fixture.context, recorded.fixture.device, &desc, &events[i]));
    MUST(zeCommandListAppendBarrier(recorded.list, events[0], 0, NULL));
    uint64_t id = append_place(&recorded, 0, events[1], 1, &events[0]);
    MUST(zeCommandListAppendBarrier(recorded.list, NULL, 1, &events[1]));
    for (int round = 0; round < 3; round++) {
        execute(&recorded);
        must_have(&recorded, 0, 4, 4001);
        MUST(zeEventQueryStatus(events[1]));
        // None, then the counter-based one again.
        ze_event_handle_t wait = round == 0 ? NULL : events[0];
        MUST(recorded.update_waits(recorded.list, id, 1, &wait));
    }
    struct fixture_event ordinary = fixture_event(&recorded.fixture, 0);
    cr_assert_eq(recorded.update_signal(recorded.list, id, ordinary.event),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    fixture_event_finish(&ordinary);
    for (int i = 0; i < 2; i++)
        MUST(zeEventDestroy(events[i]));
    stop(&recorded);
}

Test(ze_cpu_recorded, switches_a_command_to_another_kernel)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    ze_kernel_handle_t sum = fixture_kernel(recorded.module, "place_sum");
    ze_kernel_handle_t choice[] = {recorded.place, sum};
    const ze_mutable_command_id_exp_desc_t desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION |
                 CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS};
    uint64_t id;
    MUST(recorded.next_id_with_kernels(recorded.list, &desc, 2, choice, &id));
    MUST(zeKernelSetGroupSize(recorded.place, 4, 1, 1));
    set_value(&recorded, 1);
    const ze_group_count_t groups = {2, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(recorded.list, recorded.place, &groups, NULL, 0, NULL));
    execute(&recorded);
    must_have(&recorded, 0, 8, 4001);
    const int numbers[] = {10, 200};
    int *third = fixture_shared(&recorded.fixture, sizeof(int));
    *third = 3000;
    MUST(zeKernelSetGroupSize(sum, 2, 1, 1));
    MUST(zeKernelSetArgumentValue(sum, 0, sizeof(recorded.data), &recorded.data));
    MUST(zeKernelSetArgumentValue(sum, 1, sizeof(int), &numbers[0]));
    MUST(zeKernelSetArgumentValue(sum, 3, sizeof(third), &third));
    MUST(recorded.update_kernels(recorded.list, 1, &id, &sum));
    cr_assert_eq(zeCommandListClose(recorded.list), ZE_RESULT_ERROR_INVALID_ARGUMENT,
                 "argument 2 is missing");
    const ze_mutable_kernel_argument_exp_desc_t second = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .commandId = id,
        .argIndex = 2,
        .argSize = sizeof(int),
        .pArgValue = &numbers[1]};
    MUST(change(&recorded, &second));
    execute(&recorded);
    must_have(&recorded, 0, 4, 3210);
    MUST(recorded.update_kernels(recorded.list, 1, &id, &recorded.place));
    execute(&recorded);
    must_have(&recorded, 0, 8, 4001);
    ze_kernel_handle_t foreign = fixture_kernel(recorded.module, "scale");
    cr_assert_eq(recorded.update_kernels(recorded.list, 1, &id, &foreign),
                 CPU_RESULT_ERROR_INVALID_KERNEL_HANDLE);
    MUST(zeKernelDestroy(foreign));
    MUST(zeKernelDestroy(sum));
    MUST(zeMemFree(recorded.fixture.context, third));
    stop(&recorded);
}

#define MUST_REFUSE(code, call) cr_assert_eq(call, code, "%s", #call)

Test(ze_cpu_recorded, refuses_changes_that_are_wrong)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    const ze_mutable_command_id_exp_desc_t id_desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC};
    uint64_t id = append_place(&recorded,
                               CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS |
                                   CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE,
                               NULL, 0, NULL);
    const ze_group_count_t groups = {1, 1, 1};
    const int value = 1;
    ze_mutable_kernel_argument_exp_desc_t argument = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .commandId = id + 1,
        .argIndex = 1,
        .argSize = sizeof(value),
        .pArgValue = &value};
    ze_mutable_group_count_exp_desc_t count = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
        .commandId = id,
        .pGroupCount = &groups};
    ze_mutable_group_size_exp_desc_t size = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC,
        .commandId = id,
        .groupSizeX = 1 << 20,
        .groupSizeY = 1,
        .groupSizeZ = 1};
    execute(&recorded);
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, recorded.next_id(recorded.list, &id_desc, &id));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, change(&recorded, &argument)); // no such command
    argument.commandId = id;
    argument.argIndex = 2;
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, change(&recorded, &argument));
    argument.argIndex = 1;
    argument.argSize = 8;
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, change(&recorded, &argument));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, change(&recorded, &count)); // was not asked for
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, change(&recorded, &size));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, change(&recorded, &id_desc));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, recorded.update_signal(recorded.list, id, NULL));
    // Nothing has changed so far: the list is still closed.
    MUST(zeCommandQueueExecuteCommandLists(recorded.queue, 1, &recorded.list, NULL));
    MUST(zeCommandQueueSynchronize(recorded.queue, UINT64_MAX));
    argument.argSize = sizeof(value);
    MUST(change(&recorded, &argument));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeCommandQueueExecuteCommandLists(recorded.queue, 1, &recorded.list, NULL));
    execute(&recorded);
    MUST(zeCommandListReset(recorded.list));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, change(&recorded, &argument));
    stop(&recorded);
}

Test(ze_cpu_recorded, refuses_changes_while_the_list_is_executed_and_of_immutable_lists)
{
    struct recorded recorded;
    start(&recorded, MUTABLE);
    struct fixture_event gate = fixture_event(&recorded.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    uint64_t id = append_place(&recorded, 0, NULL, 1, &gate.event);
    MUST(zeCommandListClose(recorded.list));
    MUST(zeCommandQueueExecuteCommandLists(recorded.queue, 1, &recorded.list, NULL));
    MUST_REFUSE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                recorded.update_waits(recorded.list, id, 0, NULL));
    MUST(zeEventHostSignal(gate.event));
    MUST(zeCommandQueueSynchronize(recorded.queue, UINT64_MAX));
    MUST(recorded.update_waits(recorded.list, id, 0, NULL));
    ze_command_list_handle_t immutable = create_list(&recorded.fixture, 0);
    ze_result_t (*is_mutable)(ze_command_list_handle_t, ze_bool_t *);
    ze_bool_t answers[2];
    *(void **)&is_mutable = fixture_function(&recorded.fixture, "zeCommandListIsMutableExp");
    MUST(is_mutable(recorded.list, &answers[0]));
    MUST(is_mutable(immutable, &answers[1]));
    cr_assert(answers[0] && !answers[1]);
    const ze_mutable_command_id_exp_desc_t desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC};
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, recorded.next_id(immutable, &desc, &id));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, recorded.update_waits(immutable, 1, 0, NULL));
    MUST(zeCommandListDestroy(immutable));
    fixture_event_finish(&gate);
    stop(&recorded);
}

Test(ze_cpu_recorded, says_what_can_be_changed)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_mutable_command_list_exp_properties_t mutability = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &mutability};
    MUST(zeDeviceGetProperties(fixture.device, &properties));
    cr_assert_eq(mutability.mutableCommandFlags, 0x7f);
    cr_assert_eq(mutability.mutableCommandListFlags, 0);
    fixture_finish(&fixture);
}
