// SPDX-License-Identifier: MIT
#include "graph/recorder.h"

#include "copy/copy.h"
#include "copy/fill.h"
#include "core/stats.h"
#include "device/context.h"
#include "graph/mutable_launch.h"
#include "launch/emulation.h"
#include "launch/kernel.h"
#include "launch/kernel_instance.h"
#include "memory/usm.h"
#include "ze/ze.h"

static zepi_result_t record_barrier_command(const struct zepi_recorder *recorder)
{
    return ZEPI_ZE(zeCommandListAppendBarrier, recorder->list, recorder->signal,
                   recorder->wait_count, recorder->waits);
}

static zepi_result_t record_wait_for_all(const struct zepi_recorder *recorder)
{
    return ZEPI_ZE(zeCommandListAppendBarrier, recorder->list, NULL, 0, NULL);
}

// ---- Copies, fills and hints ----

static zepi_result_t record_transfer(const struct zepi_recorder *recorder,
                                     const struct zepi_transfer *transfer)
{
    return zepi_append_transfer(recorder->list, recorder->uses->device, transfer, recorder->signal,
                                recorder->wait_count, recorder->waits);
}

// A pattern that the driver has no command for: copies of the bytes that are filled already.
static zepi_result_t record_fill_by_copies(const struct zepi_recorder *recorder,
                                           const struct zepi_transfer *fill)
{
    struct zepi_recorded_uses *uses = recorder->uses;
    char *to = fill->to;
    const size_t pattern_size = fill->pattern_size_bytes;
    void *pattern;
    zepi_result_t result =
        zepi_usm_allocate(uses->context, NULL, ZEPI_USM_HOST, pattern_size, 0, &pattern);
    if (result != ZEPI_SUCCESS)
        return result;
    memcpy(pattern, fill->pattern, pattern_size);
    result = zepi_recorded_uses_keep(uses, pattern);
    // The first one waits, a barrier after the last one signals.
    struct zepi_recorder copy = *recorder;
    copy.signal = NULL;
    for (size_t done = 0; done < fill->size_bytes && result == ZEPI_SUCCESS;) {
        const size_t ready = done == 0 ? pattern_size : done;
        const size_t left = fill->size_bytes - done;
        const size_t size = ready < left ? ready : left;
        const struct zepi_transfer transfer = {.head.kind = ZEPI_COMMAND_COPY,
                                               .to = to + done,
                                               .from = done == 0 ? pattern : to,
                                               .size_bytes = size};
        result = record_transfer(&copy, &transfer);
        if (result == ZEPI_SUCCESS)
            result = record_wait_for_all(&copy);
        copy.wait_count = 0;
        copy.waits = NULL;
        done += size;
    }
    copy.signal = recorder->signal;
    return result == ZEPI_SUCCESS && copy.signal ? record_barrier_command(&copy) : result;
}

// ---- Launches ----

// `command`: whose updates are to change the list; NULL: none does.
static zepi_result_t record_with_instance(const struct zepi_recorder *recorder,
                                          const struct zepi_graph_command *command,
                                          const struct zepi_launch *launch)
{
    struct zepi_kernel_instance *instance;
    zepi_result_t result = zepi_recorded_uses_get_instance(
        recorder->uses, zepi_launch_device_kernel(launch), &instance);
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_instance_prepare(instance, recorder->uses->device, launch);
    if (result == ZEPI_NOTHING_TO_LAUNCH)
        return record_barrier_command(recorder);
    if (result == ZEPI_SUCCESS && recorder->out_id && command && command->is_updatable)
        result = zepi_mutable_launch_identify(recorder->uses, recorder->mutable_list, command,
                                              recorder->out_id);
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
static zepi_result_t record_emulated_launch(const struct zepi_recorder *recorder,
                                            const struct zepi_launch *launch)
{
    struct zepi_emulation emulation;
    zepi_result_t result = zepi_emulation_init(&emulation, recorder->uses->context, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_recorded_uses_keep(recorder->uses, emulation.values);
    if (result == ZEPI_SUCCESS)
        result = record_with_instance(recorder, NULL, &emulation.launch);
    zepi_emulation_finish_launch(&emulation);
    return result;
}

static zepi_result_t record_launch(const struct zepi_recorder *recorder,
                                   const struct zepi_graph_command *command)
{
    const struct zepi_launch *launch = &recorder->uses->launches[command->number]->launch;
    return zepi_launch_is_emulated(launch) ? record_emulated_launch(recorder, launch)
                                           : record_with_instance(recorder, command, launch);
}

zepi_result_t zepi_record_command(const struct zepi_recorder *recorder,
                                  const struct zepi_graph_command *command)
{
    if (command->kind == ZEPI_COMMAND_LAUNCH)
        return record_launch(recorder, command);
    if (!command->transfer)
        return record_barrier_command(recorder);
    const struct zepi_transfer *transfer = &command->transfer->transfer;
    return command->kind == ZEPI_COMMAND_FILL &&
                   !zepi_has_fill_command(recorder->uses->device, transfer->pattern_size_bytes)
               ? record_fill_by_copies(recorder, transfer)
               : record_transfer(recorder, transfer);
}
