// SPDX-License-Identifier: MIT
#include "graph/recorder.h"

#include "copy/copy.h"
#include "core/stats.h"
#include "device/context.h"
#include "graph/mutable_launch.h"
#include "launch/emulation.h"
#include "launch/kernel.h"
#include "launch/kernel_instance.h"
#include "memory/usm.h"
#include "ze/ze.h"

// Where a command is recorded to, and how it is ordered there. For one command.
struct recorder {
    struct zepi_recording *recording;
    ze_command_list_handle_t list;
    ze_event_handle_t signal; // NULL: no command waits for this one
    uint32_t wait_count;
    ze_event_handle_t *waits;
};

static zepi_result_t record_barrier_command(const struct recorder *recorder)
{
    return ZEPI_ZE(zeCommandListAppendBarrier, recorder->list, recorder->signal,
                   recorder->wait_count, recorder->waits);
}

// ---- Copies, fills and hints ----

static zepi_result_t record_transfer(const struct recorder *recorder,
                                     const struct zepi_transfer *transfer)
{
    return zepi_append_transfer(recorder->list, recorder->recording->device, transfer,
                                recorder->signal, recorder->wait_count, recorder->waits);
}

static zepi_result_t record_fill(const struct recorder *recorder, const struct zepi_transfer *fill)
{
    struct zepi_recording *recording = recorder->recording;
    struct zepi_transfer own = *fill;
    void *values;
    zepi_result_t result =
        zepi_fill_make_values(recording->context, recording->device, fill, &values);
    if (result == ZEPI_SUCCESS && values)
        result = zepi_recording_keep(recording, values);
    own.from = values;
    return result == ZEPI_SUCCESS ? record_transfer(recorder, &own) : result;
}

// ---- Launches ----

// Updates of `command` are to change the list; NULL: no update does.
static zepi_result_t record_with_instance(const struct recorder *recorder,
                                          const struct zepi_graph_command *command,
                                          const struct zepi_launch *launch)
{
    struct zepi_kernel_instance *instance;
    struct zepi_recording *recording = recorder->recording;
    zepi_result_t result =
        zepi_recording_get_instance(recording, zepi_launch_device_kernel(launch), &instance);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_instance_prepare(instance, recording->device, launch);
    if (result == ZEPI_NOTHING_TO_LAUNCH)
        return record_barrier_command(recorder);
    if (result == ZEPI_SUCCESS && recording->is_mutable && command && command->is_updatable)
        result = zepi_mutable_launch_identify(recording, command);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count(ZEPI_STAT_LAUNCHES);
    if (launch->flags & ZEPI_LAUNCH_COOPERATIVE)
        return ZEPI_ZE(zeCommandListAppendLaunchCooperativeKernel, recorder->list, instance->ze,
                       &instance->group_count, recorder->signal, recorder->wait_count,
                       recorder->waits);
    return ZEPI_ZE(zeCommandListAppendLaunchKernel, recorder->list, instance->ze,
                   &instance->group_count, recorder->signal, recorder->wait_count, recorder->waits);
}

// Specialization constants that reach the kernel through memory, which the recording keeps.
static zepi_result_t record_emulated_launch(const struct recorder *recorder,
                                            const struct zepi_launch *launch)
{
    struct zepi_emulation emulation;
    zepi_result_t result = zepi_emulation_init(&emulation, recorder->recording->context, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_recording_keep(recorder->recording, emulation.values);
    if (result == ZEPI_SUCCESS)
        result = record_with_instance(recorder, NULL, &emulation.launch);
    zepi_emulation_finish_launch(&emulation);
    return result;
}

static zepi_result_t record_launch(const struct recorder *recorder,
                                   const struct zepi_graph_command *command)
{
    const struct zepi_launch *launch =
        &recorder->recording->commands[command->number].launch->launch;
    return zepi_launch_is_emulated(launch) ? record_emulated_launch(recorder, launch)
                                           : record_with_instance(recorder, command, launch);
}

static zepi_result_t record_command(const struct recorder *recorder,
                                    const struct zepi_graph_command *command)
{
    if (command->kind == ZEPI_COMMAND_LAUNCH)
        return record_launch(recorder, command);
    if (!command->transfer)
        return record_barrier_command(recorder);
    const struct zepi_transfer *transfer = &command->transfer->transfer;
    return command->kind == ZEPI_COMMAND_FILL ? record_fill(recorder, transfer)
                                              : record_transfer(recorder, transfer);
}

// ---- Buffers that move ----

// Lists those among the buffers that a command uses.
static zepi_result_t recording_add_moves(struct zepi_recording *recording, size_t count,
                                         const struct zepi_arg_use *uses)
{
    for (size_t i = 0; i < count; i++) {
        if (!uses[i].part.buffer || uses[i].part.buffer->fixed)
            continue;
        const struct zepi_arg_use **moves = zepi_grow(recording->moves, recording->move_count,
                                                      &recording->move_capacity, sizeof(moves[0]));
        if (!moves)
            return zepi_fail_no_memory();
        recording->moves = moves;
        moves[recording->move_count++] = &uses[i];
    }
    return ZEPI_SUCCESS;
}

// ---- Lists ----

// The next list to record to.
static zepi_result_t recording_open_list(struct zepi_recording *recording, uint32_t index,
                                         ze_command_list_handle_t *out_list)
{
    if (index == recording->own_count) {
        const zepi_result_t result =
            zepi_closed_list_take(recording->context, recording->device,
                                  zepi_recording_extension(recording), &recording->own[index]);
        if (result != ZEPI_SUCCESS)
            return result;
        recording->own_count++;
    }
    *out_list = recording->own[index]->ze;
    return ZEPI_SUCCESS;
}

static zepi_result_t recording_append_barrier(ze_command_list_handle_t list)
{
    return ZEPI_ZE(zeCommandListAppendBarrier, list, NULL, 0, NULL);
}

static void recording_add_list(struct zepi_recording *recording, ze_command_list_handle_t list)
{
    recording->lists[recording->list_count++] =
        zepi_ze_appends_by_driver(&recording->device->platform->optional)
            ? zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, list)
            : list;
}

static zepi_result_t recording_close_list(struct zepi_recording *recording,
                                          ze_command_list_handle_t list)
{
    const zepi_result_t result = ZEPI_ZE(zeCommandListClose, list);
    if (result == ZEPI_SUCCESS)
        recording_add_list(recording, list);
    return result;
}

// All commands before it, then the host's, then all after it.
static zepi_result_t recording_add_native(struct zepi_recording *recording,
                                          const struct zepi_graph_command *command,
                                          uint32_t *next_list, ze_command_list_handle_t *list)
{
    zepi_result_t result = recording_append_barrier(*list);
    if (result == ZEPI_SUCCESS)
        result = recording_close_list(recording, *list);
    if (result != ZEPI_SUCCESS)
        return result;
    recording_add_list(recording, command->native->ze);
    result = recording_open_list(recording, (*next_list)++, list);
    return result == ZEPI_SUCCESS ? recording_append_barrier(*list) : result;
}

// After everything else: the next execution finds the events as this one did.
static zepi_result_t recording_reset_events(const struct zepi_recording *recording,
                                            ze_command_list_handle_t list)
{
    zepi_result_t result = recording->pool ? recording_append_barrier(list) : ZEPI_SUCCESS;
    for (size_t i = 0; i < recording->command_count && result == ZEPI_SUCCESS; i++) {
        if (recording->commands[i].event)
            result = ZEPI_ZE(zeCommandListAppendEventReset, list, recording->commands[i].event);
    }
    return result;
}

// Records a command. It waits for those that it names and no barrier before it has waited for.
// `since`: the first command behind the last barrier of a native one.
static zepi_result_t recording_record_command(struct zepi_recording *recording,
                                              const struct zepi_graph_command *command,
                                              size_t since, struct recorder *recorder)
{
    const bool is_in_order = recording->graph_commands->is_in_order;
    const struct zepi_launch_record *record = recording->commands[command->number].launch;
    zepi_result_t result = ZEPI_SUCCESS;
    if (command->transfer)
        result = recording_add_moves(recording, 2, command->transfer->memory);
    else if (record)
        result = recording_add_moves(recording, record->launch.use_count, record->launch.uses);
    if (result == ZEPI_SUCCESS && is_in_order && command->number > since)
        result = recording_append_barrier(recorder->list);
    if (result != ZEPI_SUCCESS)
        return result;
    recorder->signal = recording->commands[command->number].event;
    recorder->wait_count = 0;
    for (uint32_t i = 0; i < command->wait_count && !is_in_order; i++) {
        if (command->waits[i] >= since)
            recorder->waits[recorder->wait_count++] = recording->commands[command->waits[i]].event;
    }
    return record_command(recorder, command);
}

static zepi_result_t record_commands(struct zepi_recording *recording)
{
    const struct zepi_graph_commands *commands = recording->graph_commands;
    struct recorder recorder = {.recording = recording, .waits = recording->waits};
    uint32_t next_list = 0;
    size_t since = 0;
    recording->list_count = 0;
    recording->move_count = 0;
    zepi_result_t result = recording_open_list(recording, next_list++, &recorder.list);
    if (result == ZEPI_SUCCESS && recording->is_mutable)
        recording->mutable_list =
            zepi_mutable_handle(recording->device, ZEL_HANDLE_COMMAND_LIST, recorder.list);
    if (result == ZEPI_SUCCESS)
        result = recording_add_moves(recording, commands->kept_count, commands->kept);
    for (size_t i = 0; i < commands->count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_graph_command *command = commands->list[i];
        if (command->kind == ZEPI_COMMAND_NATIVE) {
            result = recording_add_native(recording, command, &next_list, &recorder.list);
            since = i + 1;
        } else {
            result = recording_record_command(recording, command, since, &recorder);
        }
    }
    if (result == ZEPI_SUCCESS)
        result = recording_reset_events(recording, recorder.list);
    if (result == ZEPI_SUCCESS)
        result = recording_close_list(recording, recorder.list);
    return result;
}

// ---- All commands ----

// Whether a kernel may be refused in a mutable list alone (quirk mutable-refuses-implicit). Nothing
// in the graph's lists is mutable then.
static bool recording_is_refused(const struct zepi_recording *recording, zepi_result_t result)
{
    return recording->is_mutable && result != ZEPI_SUCCESS &&
           result != ZEPI_ERROR_OUT_OF_HOST_MEMORY && result != ZEPI_ERROR_OUT_OF_DEVICE_MEMORY &&
           result != ZEPI_ERROR_DEVICE_LOST;
}

// Holds the launches as they are: updates may replace them while the lists use them. Returns their
// version.
static uint64_t recording_hold_launches(struct zepi_recording *recording)
{
    struct zepi_graph *graph = recording->graph;
    const uint64_t usm_version = zepi_usm_version();
    zepi_mutex_lock(&graph->mutex);
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed);
    for (size_t i = 0; i < recording->command_count; i++) {
        struct zepi_recorded_command *recorded = &recording->commands[i];
        recorded->launch = zepi_launch_record_retain(graph->commands.list[i]->launch);
        recorded->usm_version = usm_version;
        recorded->mutable_id = 0;
    }
    zepi_mutex_unlock(&graph->mutex);
    return version;
}

zepi_result_t zepi_record_graph(struct zepi_recording *recording)
{
    if (recording->version != 0)
        zepi_recording_clear(recording);
    const uint64_t version = recording_hold_launches(recording);
    zepi_result_t result = record_commands(recording);
    if (recording_is_refused(recording, result)) {
        recording->is_mutable = false;
        zepi_recording_destroy_lists(recording);
        result = record_commands(recording);
    }
    if (result != ZEPI_SUCCESS) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_recording_clear(recording);
        zepi_error_restore(&error);
        return result;
    }
    recording->version = version;
    return ZEPI_SUCCESS;
}
