// SPDX-License-Identifier: MIT
#include "mutable_command.h"

#include "entry.h"
#include "kernel.h"
#include "ze_newer.h"

#include <stdlib.h>
#include <string.h>

// The meaning of flags of 0.
#define ALL_BUT_KERNELS                                                                            \
    (CPU_MUTABLE_COMMAND_FLAGS_OFFERED & ~CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION)

static struct cpu_mutable_command *pending(const struct cpu_list *list)
{
    if (list->mutable_count == 0)
        return NULL;
    struct cpu_mutable_command *last = &list->mutable_commands[list->mutable_count - 1];
    return last->command == NULL ? last : NULL;
}

void cpu_mutable_attach(struct cpu_list *list, struct cpu_command *command)
{
    struct cpu_mutable_command *entry = pending(list);
    if (entry == NULL)
        return;
    entry->command = command;
    entry->has_signal = command->signal != NULL;
    entry->signal_counts = entry->has_signal && command->signal->is_counter_based;
}

size_t cpu_mutable_argument_bytes(const struct cpu_list *list, size_t argument_bytes)
{
    const struct cpu_mutable_command *entry = pending(list);
    for (uint32_t i = 0; entry != NULL && i < entry->kernel_count; i++)
        if (entry->kernels[i]->argument_bytes > argument_bytes)
            argument_bytes = entry->kernels[i]->argument_bytes;
    return argument_bytes;
}

ze_result_t cpu_mutable_check(const struct cpu_list *list, const char *function)
{
    for (uint32_t i = 0; i < list->mutable_count; i++) {
        const struct cpu_mutable_command *entry = &list->mutable_commands[i];
        if (entry->is_set == NULL)
            continue;
        const struct cpu_program_kernel *kernel = entry->command->u.launch.kernel;
        for (uint32_t j = 0; j < kernel->argument_count; j++)
            if (!entry->is_set[j]) {
                cpu_report(function,
                           "argument %u of kernel %s, to which command %u was switched, "
                           "is not set",
                           j, kernel->name, i + 1);
                return ZE_RESULT_ERROR_INVALID_ARGUMENT;
            }
    }
    return ZE_RESULT_SUCCESS;
}

static void finish_entry(struct cpu_mutable_command *entry)
{
    for (uint32_t i = 0; i < entry->kernel_count; i++)
        cpu_program_kernel_release(entry->kernels[i]);
    free(entry->kernels);
    free(entry->is_set);
}

void cpu_mutable_finish(struct cpu_list *list)
{
    for (uint32_t i = 0; i < list->mutable_count; i++)
        finish_entry(&list->mutable_commands[i]);
    free(list->mutable_commands);
    list->mutable_commands = NULL;
    list->mutable_count = 0;
}

static ze_result_t check_mutable(const struct cpu_list *list, const char *function)
{
    if (list->is_mutable)
        return ZE_RESULT_SUCCESS;
    cpu_report(function, "list %p was not created as a mutable one", (const void *)list);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static ze_result_t take_kernels(struct cpu_mutable_command *entry, uint32_t count,
                                ze_kernel_handle_t *kernels, const char *function)
{
    if (count == 0)
        return ZE_RESULT_SUCCESS;
    if (kernels == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    entry->kernels = calloc(count, sizeof(entry->kernels[0]));
    if (entry->kernels == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = cpu_object_check(kernels[i], CPU_KERNEL, function);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        entry->kernels[i] = ((struct cpu_kernel *)kernels[i])->code;
        cpu_program_kernel_retain(entry->kernels[i]);
        entry->kernel_count++;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t next_id(struct cpu_list *list, const ze_mutable_command_id_exp_desc_t *desc,
                           uint32_t kernel_count, ze_kernel_handle_t *kernels, uint64_t *out_id,
                           const char *function)
{
    if (desc->flags > 0xff)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->flags & CPU_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t result = check_mutable(list, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->is_closed) {
        cpu_report(function, "list %p is closed", (void *)list);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct cpu_mutable_command entry = {.flags = desc->flags != 0 ? desc->flags : ALL_BUT_KERNELS};
    struct cpu_mutable_command *grown =
        realloc(list->mutable_commands, (list->mutable_count + 1) * sizeof(entry));
    if (grown == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->mutable_commands = grown;
    if (entry.flags & CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION)
        result = take_kernels(&entry, kernel_count, kernels, function);
    if (result != ZE_RESULT_SUCCESS) {
        finish_entry(&entry);
        return result;
    }
    list->mutable_commands[list->mutable_count++] = entry;
    *out_id = list->mutable_count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetNextCommandIdExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_command_id_exp_desc_t *desc,
    uint64_t *pCommandId)
{
    return next_id((struct cpu_list *)hCommandList, desc, 0, NULL, pCommandId, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListGetNextCommandIdWithKernelsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_command_id_exp_desc_t *desc,
    uint32_t numKernels, ze_kernel_handle_t *phKernels, uint64_t *pCommandId)
{
    return next_id((struct cpu_list *)hCommandList, desc, numKernels, phKernels, pCommandId,
                   __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListIsMutableExp(ze_command_list_handle_t hCommandList,
                                                     ze_bool_t *pIsMutable)
{
    *pIsMutable = ((struct cpu_list *)hCommandList)->is_mutable;
    return ZE_RESULT_SUCCESS;
}

// The command with that identifier, if the list may be changed now and the command in that way.
static ze_result_t find(struct cpu_list *list, uint64_t id, uint32_t flag, const char *function,
                        struct cpu_mutable_command **out_entry)
{
    ze_result_t result = check_mutable(list, function);
    if (result == ZE_RESULT_SUCCESS)
        result = cpu_list_check_unused(list, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_mutable_command *entry =
        id > 0 && id <= list->mutable_count ? &list->mutable_commands[id - 1] : NULL;
    if (entry == NULL || entry->command == NULL)
        cpu_report(function, "no command of list %p has the identifier %llu", (void *)list,
                   (unsigned long long)id);
    else if ((entry->flags & flag) == 0)
        cpu_report(function, "command %llu was made for changes 0x%x, not 0x%x",
                   (unsigned long long)id, entry->flags, flag);
    else if (flag != CPU_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT &&
             flag != CPU_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS &&
             (entry->command->kind != CPU_COMMAND_LAUNCH ||
              entry->command->u.launch.counts != NULL))
        cpu_report(function, "command %llu is no launch with a group count",
                   (unsigned long long)id);
    else {
        *out_entry = entry;
        return ZE_RESULT_SUCCESS;
    }
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static void set(uint32_t numbers[3], uint32_t x, uint32_t y, uint32_t z)
{
    numbers[0] = x;
    numbers[1] = y;
    numbers[2] = z;
}

#define UPDATE "zeCommandListUpdateMutableCommandsExp"

static ze_result_t update_argument(struct cpu_mutable_command *entry,
                                   const ze_mutable_kernel_argument_exp_desc_t *desc)
{
    struct cpu_launch *launch = &entry->command->u.launch;
    const ze_result_t result = cpu_kernel_write_argument(
        launch->kernel, launch->arguments, desc->argIndex, desc->argSize, desc->pArgValue);
    if (result != ZE_RESULT_SUCCESS)
        cpu_report(UPDATE, "argument %u of kernel %s does not take %zu bytes", desc->argIndex,
                   launch->kernel->name, desc->argSize);
    else if (entry->is_set != NULL)
        entry->is_set[desc->argIndex] = true;
    return result;
}

static ze_result_t update_group_size(struct cpu_launch *launch,
                                     const ze_mutable_group_size_exp_desc_t *desc)
{
    const uint32_t x = desc->groupSizeX, y = desc->groupSizeY, z = desc->groupSizeZ;
    const ze_result_t result = cpu_kernel_check_group_size(launch->kernel, x, y, z);
    if (result != ZE_RESULT_SUCCESS)
        cpu_report(UPDATE, "kernel %s does not take groups of %u x %u x %u", launch->kernel->name,
                   x, y, z);
    else
        set(launch->group_size, x, y, z);
    return result;
}

// Structures of changes begin alike.
static ze_result_t update(struct cpu_list *list, const ze_mutable_group_count_exp_desc_t *desc)
{
    static const struct {
        uint32_t stype, flag;
    } changes[] = {
        {CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
         CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS},
        {CPU_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC, CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT},
        {CPU_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC, CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE},
        {CPU_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC,
         CPU_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET},
    };
    struct cpu_mutable_command *entry;
    uint32_t flag = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (changes[i].stype == (uint32_t)desc->stype)
            flag = changes[i].flag;
    if (flag == 0) {
        cpu_report(UPDATE, "structure type 0x%x is no change of a command", (unsigned)desc->stype);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const ze_result_t result = find(list, desc->commandId, flag, UPDATE, &entry);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_launch *launch = &entry->command->u.launch;
    const ze_mutable_global_offset_exp_desc_t *offset = (const void *)desc;
    switch (flag) {
    case CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS:
        return update_argument(entry, (const void *)desc);
    case CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE:
        return update_group_size(launch, (const void *)desc);
    case CPU_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET:
        set(launch->offset, offset->offsetX, offset->offsetY, offset->offsetZ);
        return ZE_RESULT_SUCCESS;
    default:
        if (desc->pGroupCount == NULL)
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        set(launch->group_count, desc->pGroupCount->groupCountX, desc->pGroupCount->groupCountY,
            desc->pGroupCount->groupCountZ);
        return ZE_RESULT_SUCCESS;
    }
}

ze_result_t ZE_APICALL cpu_zeCommandListUpdateMutableCommandsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_commands_exp_desc_t *desc)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    ze_result_t result = check_mutable(list, __func__);
    for (const ze_base_desc_t *next = desc->pNext; next != NULL && result == ZE_RESULT_SUCCESS;
         next = next->pNext) {
        result = update(list, (const void *)next);
        if (result == ZE_RESULT_SUCCESS)
            list->is_changed = true;
    }
    return result;
}

ze_result_t ZE_APICALL cpu_zeCommandListUpdateMutableCommandSignalEventExp(
    ze_command_list_handle_t hCommandList, uint64_t commandId, ze_event_handle_t hSignalEvent)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_event *event = (struct cpu_event *)hSignalEvent;
    struct cpu_mutable_command *entry;
    ze_result_t result =
        find(list, commandId, CPU_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT, __func__, &entry);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (event != NULL && (!entry->has_signal || event->is_counter_based != entry->signal_counts)) {
        cpu_report(__func__, "command %llu was appended with %s", (unsigned long long)commandId,
                   entry->has_signal ? "an event of another type" : "no event to signal");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    entry->command->signal = event;
    list->is_changed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListUpdateMutableCommandWaitEventsExp(
    ze_command_list_handle_t hCommandList, uint64_t commandId, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_mutable_command *entry;
    ze_result_t result =
        find(list, commandId, CPU_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS, __func__, &entry);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_command *command = entry->command;
    // Without a list, the count says nothing that could be wrong.
    if (phWaitEvents != NULL && numWaitEvents != command->wait_count) {
        cpu_report(__func__, "command %llu was appended with %u events to wait for, not %u",
                   (unsigned long long)commandId, command->wait_count, numWaitEvents);
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    for (uint32_t i = 0; phWaitEvents != NULL && i < numWaitEvents; i++) {
        result = phWaitEvents[i] != NULL ? cpu_object_check(phWaitEvents[i], CPU_EVENT, __func__)
                                         : ZE_RESULT_SUCCESS;
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < command->wait_count; i++)
        command->waits[i].event = phWaitEvents != NULL ? (struct cpu_event *)phWaitEvents[i] : NULL;
    list->is_changed = true;
    return ZE_RESULT_SUCCESS;
}

static bool may_switch(const struct cpu_mutable_command *entry, const struct cpu_program_kernel *to)
{
    for (uint32_t i = 0; i < entry->kernel_count; i++)
        if (entry->kernels[i] == to)
            return true;
    return false;
}

// Arguments, group size and offset are those of the handle, as when it is appended; arguments that
// it lacks must be updated before the list is closed.
static ze_result_t switch_kernel(struct cpu_mutable_command *entry, const struct cpu_kernel *kernel)
{
    const struct cpu_program_kernel *code = kernel->code;
    struct cpu_launch *launch = &entry->command->u.launch;
    bool *is_set = calloc(code->argument_count != 0 ? code->argument_count : 1, sizeof(bool));
    if (is_set == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(is_set, kernel->is_set, code->argument_count * sizeof(bool));
    free(entry->is_set);
    entry->is_set = is_set;
    cpu_program_kernel_retain(kernel->code);
    cpu_program_kernel_release(launch->kernel);
    launch->kernel = kernel->code;
    launch->argument_bytes = code->argument_bytes;
    memcpy(launch->arguments, kernel->arguments, code->argument_bytes);
    memcpy(launch->group_size, kernel->group_size, sizeof(launch->group_size));
    memcpy(launch->offset, kernel->offset, sizeof(launch->offset));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListUpdateMutableCommandKernelsExp(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, uint64_t *pCommandId,
    ze_kernel_handle_t *phKernels)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    for (uint32_t i = 0; i < numKernels; i++) {
        struct cpu_kernel *kernel = (struct cpu_kernel *)phKernels[i];
        struct cpu_mutable_command *entry;
        ze_result_t result = find(
            list, pCommandId[i], CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION, __func__, &entry);
        if (result == ZE_RESULT_SUCCESS)
            result = cpu_object_check(kernel, CPU_KERNEL, __func__);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (!may_switch(entry, kernel->code)) {
            cpu_report(__func__, "kernel %s is none of those that were given for command %llu",
                       kernel->code->name, (unsigned long long)pCommandId[i]);
            return CPU_RESULT_ERROR_INVALID_KERNEL_HANDLE;
        }
        result = switch_kernel(entry, kernel);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        list->is_changed = true;
    }
    return ZE_RESULT_SUCCESS;
}
