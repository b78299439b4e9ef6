// SPDX-License-Identifier: MIT
#include "graph/follow.h"

#include "device/device.h"
#include "device/platform.h"
#include "launch/kernel_instance.h"
#include "launch/work_size.h"
#include "memory/usm_table.h"
#include "ze/ze.h"

// ---- Descriptions of changes ----

// Changes of launches in a list, which the driver gets in as few calls as there is room for here.
#define MOST_ARGUMENTS 16
#define MOST_SIZES 4
struct changes {
    struct zepi_recording *recording; // borrowed
    bool is_same_memory;              // none was freed since the launch was put into the list
    const void **end;                 // of their chain, which begins in `commands`
    uint32_t argument_count;
    uint32_t size_count;
    struct zepi_ze_number commands;
    struct zepi_ze_mutable_argument_desc arguments[MOST_ARGUMENTS];
    struct {
        struct zepi_ze_mutable_triple_desc group;
        struct zepi_ze_mutable_triple_desc offset;
        struct zepi_ze_mutable_group_count_desc count;
        ze_group_count_t counts;
    } sizes[MOST_SIZES];
};

static const struct zepi_ze_optional *changes_optional(const struct changes *changes)
{
    return &changes->recording->uses.device->platform->optional;
}

static void changes_begin(struct changes *changes)
{
    changes->end = &changes->commands.next;
    changes->argument_count = 0;
    changes->size_count = 0;
}

static void changes_init(struct changes *changes, struct zepi_recording *recording)
{
    changes->recording = recording;
    changes->commands = (struct zepi_ze_number){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_DESC};
    changes_begin(changes);
}

static void changes_link(struct changes *changes, const void *desc, const void **next)
{
    *changes->end = desc;
    changes->end = next;
}

// The driver gets those that are described.
static bool changes_flush(struct changes *changes)
{
    if (changes->end == &changes->commands.next)
        return true;
    *changes->end = NULL;
    changes_begin(changes);
    return changes_optional(changes)->update_mutable_commands(
               changes->recording->mutable_list, &changes->commands) == ZE_RESULT_SUCCESS;
}

static bool changes_add_argument(struct changes *changes, uint64_t id, uint32_t index,
                                 const struct zepi_arg *arg)
{
    if (arg->kind == ZEPI_ARG_IMAGE || arg->kind == ZEPI_ARG_SAMPLER ||
        (changes->argument_count == MOST_ARGUMENTS && !changes_flush(changes)))
        return false;
    struct zepi_ze_mutable_argument_desc *desc = &changes->arguments[changes->argument_count++];
    desc->stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ARGUMENT_DESC;
    desc->id = id;
    desc->index = index;
    desc->size_bytes = arg->size_bytes;
    desc->value = zepi_arg_value(arg);
    changes_link(changes, desc, &desc->next);
    return true;
}

static bool has_offset(const struct zepi_launch *launch)
{
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        if (launch->global_offset[i] > 0)
            return true;
    }
    return false;
}

// `old`: with which the list was recorded.
static __attribute__((noinline)) bool changes_add_sizes(struct changes *changes, uint64_t id,
                                                        const struct zepi_launch *old,
                                                        const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    struct zepi_kernel_instance *instance;
    struct zepi_recorded_uses *uses = &changes->recording->uses;
    struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    if (zepi_recorded_uses_get_instance(uses, device_kernel, &instance) != ZEPI_SUCCESS ||
        zepi_work_size_init(&size, device_kernel, uses->device, instance->ze, launch) !=
            ZEPI_SUCCESS ||
        size.is_empty)
        return false;
    if (changes->size_count == MOST_SIZES && !changes_flush(changes))
        return false;
    __typeof__(&changes->sizes[0]) sizes = &changes->sizes[changes->size_count++];
    sizes->group = (struct zepi_ze_mutable_triple_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_DESC, .id = id};
    memcpy(sizes->group.xyz, size.group, sizeof(size.group));
    changes_link(changes, &sizes->group, &sizes->group.next);
    sizes->counts = size.count;
    sizes->count = (struct zepi_ze_mutable_group_count_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_DESC,
        .id = id,
        .counts = &sizes->counts};
    changes_link(changes, &sizes->count, &sizes->count.next);
    sizes->offset = (struct zepi_ze_mutable_triple_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_OFFSET_DESC, .id = id};
    memcpy(sizes->offset.xyz, size.offset, sizeof(size.offset));
    if (!(uses->device->mutable_flags & ZEPI_ZE_MUTABLE_OFFSET))
        return !has_offset(old) && !has_offset(launch);
    changes_link(changes, &sizes->offset, &sizes->offset.next);
    return true;
}

// ---- Launches ----

// Changes the kernel in the list to the launch's, if the list knows it.
static __attribute__((noinline)) bool change_kernel(const struct changes *changes, uint64_t id,
                                                    const struct zepi_graph_command *command,
                                                    const struct zepi_launch *launch)
{
    struct zepi_recorded_uses *uses = &changes->recording->uses;
    const struct zepi_device *device = uses->device;
    struct zepi_kernel_instance *instance;
    if (command->kernel_count < 2 || !(device->mutable_flags & ZEPI_ZE_MUTABLE_KERNEL) ||
        zepi_recorded_uses_get_instance(uses, zepi_launch_device_kernel(launch), &instance) !=
            ZEPI_SUCCESS)
        return false;
    ze_kernel_handle_t kernel = zepi_mutable_handle(device, ZEL_HANDLE_KERNEL, instance->ze);
    return changes_optional(changes)->update_command_kernels(changes->recording->mutable_list, 1,
                                                             &id, &kernel) == ZE_RESULT_SUCCESS;
}

// Whether the list has an argument of these words already. Both launches keep the objects behind
// handles.
static bool is_same_argument(const struct changes *changes, const struct zepi_arg *arg,
                             const struct zepi_kernel_argument *declared)
{
    return arg->kind == ZEPI_ARG_IMAGE || arg->kind == ZEPI_ARG_SAMPLER ||
           (changes->is_same_memory && zepi_arg_is_comparable(arg, declared));
}

// `old`: of the list's kernel.
static bool change_arguments(struct changes *changes, uint64_t id, const struct zepi_launch *old,
                             const struct zepi_launch *launch)
{
    const struct zepi_kernel_argument *declared = zepi_launch_device_kernel(launch)->arguments;
    const bool has_other_kernel = launch->target.device_kernel != old->target.device_kernel;
    const struct zepi_arg *args = launch->args;
    const struct zepi_arg *before = old->args;
    const uint32_t count = launch->arg_count;
    for (uint32_t i = 0; i < count; i++) {
        // Another kernel has nothing set.
        if (!has_other_kernel && args[i].payload == before[i].payload &&
            args[i].head == before[i].head && is_same_argument(changes, &args[i], &declared[i]))
            continue;
        if (!changes_add_argument(changes, id, i, &args[i]))
            return false;
    }
    return (!has_other_kernel && zepi_launch_has_same_sizes(old, launch)) ||
           changes_add_sizes(changes, id, old, launch);
}

// `record`: that the list was recorded with.
static bool change_launch(struct changes *changes, const struct zepi_launch_record *record)
{
    const struct zepi_recorded_uses *uses = &changes->recording->uses;
    const struct zepi_graph_command *command = record->command;
    const uint32_t number = command->number;
    const struct zepi_launch *old = &record->launch;
    const struct zepi_launch *launch = &uses->launches[number]->launch;
    const uint64_t id = changes->recording->mutable_ids[number];
    const uint64_t version = zepi_usm_version();
    changes->is_same_memory = uses->usm_versions[number] == version;
    uses->usm_versions[number] = version;
    // Buffers that move are brought to the device by the recording, which would have to know.
    if (id == 0 || launch->flags != old->flags || zepi_launch_has_moving_buffers(launch) ||
        zepi_launch_has_moving_buffers(old))
        return false;
    return (launch->target.device_kernel == old->target.device_kernel ||
            change_kernel(changes, id, command, launch)) &&
           change_arguments(changes, id, old, launch);
}

// ---- Recordings ----

// With the graph's mutex: holds the launches that updates have changed since, and lists the records
// of before. Returns their number.
static uint32_t take_launches(const struct zepi_graph *graph, struct zepi_recording *recording)
{
    uint32_t count = 0;
    for (const struct zepi_graph_command *dirty = graph->dirty;
         dirty && dirty->dirty_version > recording->version; dirty = dirty->next_dirty) {
        struct zepi_launch_record **launch = &recording->uses.launches[dirty->number];
        recording->replaced[count++] = *launch;
        *launch = zepi_launch_record_retain(dirty->launch);
    }
    return count;
}

static bool change_launches(struct zepi_recording *recording, uint32_t count)
{
    struct changes changes;
    changes_init(&changes, recording);
    for (uint32_t i = 0; i < count; i++) {
        if (!change_launch(&changes, recording->replaced[i]))
            return false;
    }
    return changes_flush(&changes) &&
           zepi_ze.zeCommandListClose(recording->own[0]) == ZE_RESULT_SUCCESS;
}

bool zepi_graph_follow(struct zepi_graph *graph, struct zepi_recording *recording)
{
    if (!recording->is_mutable || zepi_recording_wait_for_run(recording) != ZEPI_SUCCESS) {
        zepi_recording_clear(recording);
        return false;
    }
    zepi_mutex_lock(&graph->mutex);
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed);
    const uint32_t count = take_launches(graph, recording);
    zepi_mutex_unlock(&graph->mutex);
    const bool is_done = change_launches(recording, count);
    if (is_done)
        recording->version = version;
    else
        zepi_recording_clear(recording);
    // Instances go before the kernels that they are of.
    for (uint32_t i = 0; i < count; i++)
        zepi_launch_record_release(recording->replaced[i]);
    return is_done;
}

void zepi_graph_follow_all(struct zepi_graph *graph)
{
    // Acquire: the launches of that version. A later one is seen by the next call.
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_acquire);
    uint64_t oldest = version;
    for (uint32_t i = 0; i < graph->recording_count; i++) {
        struct zepi_recording *recording = graph->recordings[i];
        if (recording->version == 0 || recording->version >= version)
            continue;
        if (zepi_recording_ask_idle(recording) != ZEPI_SUCCESS)
            oldest = recording->version < oldest ? recording->version : oldest;
        else
            zepi_graph_follow(graph, recording);
    }
    graph->oldest_version = oldest;
}

void zepi_graph_try_follow(struct zepi_graph *graph)
{
    if (!zepi_mutex_try_lock(&graph->submit_mutex))
        return;
    zepi_graph_follow_all(graph);
    zepi_mutex_unlock(&graph->submit_mutex);
}
