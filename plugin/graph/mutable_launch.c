// SPDX-License-Identifier: MIT
#include "graph/mutable_launch.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "launch/kernel.h"
#include "launch/kernel_instance.h"
#include "launch/work_size.h"
#include "memory/usm_table.h"
#include "ze/ze_optional.h"

static const struct zepi_ze_optional *mutable_optional_of(const struct zepi_device *device)
{
    return &device->platform->optional;
}

void *zepi_mutable_handle(const struct zepi_device *device, zel_handle_type_t type, void *handle)
{
    return mutable_optional_of(device)->get_next_command_id_is_drivers
               ? zepi_ze_driver_handle(type, handle)
               : handle;
}

// ---- Recording ----

// All kernels that the command may be of, each once. NULL: one has no code for the device, or there
// is no memory.
static ze_kernel_handle_t *list_kernels(struct zepi_recording *recording,
                                        const struct zepi_graph_command *command,
                                        uint32_t *out_count)
{
    ze_kernel_handle_t *kernels = zepi_allocate(command->kernel_count, sizeof(kernels[0]));
    uint32_t count = 0;
    for (uint32_t i = 0; kernels && i < command->kernel_count; i++) {
        const struct zepi_build_result *kernel =
            command->kernels[i]->devices[recording->graph->device_index].target.device_kernel;
        struct zepi_kernel_instance *instance;
        if (!kernel || zepi_recording_get_instance(recording, zepi_device_kernel_of(kernel),
                                                   &instance) != ZEPI_SUCCESS) {
            zepi_free(kernels);
            return NULL;
        }
        ze_kernel_handle_t ze =
            zepi_mutable_handle(recording->device, ZEL_HANDLE_KERNEL, instance->ze);
        uint32_t at = 0;
        while (at < count && kernels[at] != ze)
            at++;
        kernels[at] = ze;
        if (at == count)
            count++;
    }
    *out_count = count;
    return kernels;
}

zepi_result_t zepi_mutable_launch_identify(struct zepi_recording *recording,
                                           const struct zepi_graph_command *command)
{
    const uint32_t flags = recording->device->mutable_flags;
    struct zepi_ze_number desc = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ID_DESC,
        .value = ZEPI_ZE_MUTABLE_NEEDED | (flags & ZEPI_ZE_MUTABLE_OFFSET)};
    ze_kernel_handle_t *kernels = NULL;
    uint32_t kernel_count = 0;
    for (uint32_t i = 0; i < command->kernel_count; i++) {
        // Their constants are arguments that the host knows nothing of.
        if (command->kernels[i]->devices[recording->graph->device_index].target.image)
            return ZEPI_SUCCESS;
    }
    if (command->kernel_count > 1 && (flags & ZEPI_ZE_MUTABLE_KERNEL))
        kernels = list_kernels(recording, command, &kernel_count);
    if (kernel_count > 0)
        desc.value |= ZEPI_ZE_MUTABLE_KERNEL;
    uint64_t id;
    const ze_result_t ze =
        mutable_optional_of(recording->device)
            ->get_next_command_id(recording->mutable_list, &desc, kernel_count, kernels, &id);
    zepi_free(kernels);
    if (ze == ZE_RESULT_SUCCESS)
        recording->commands[command->number].mutable_id = id;
    return zepi_check_ze(ze, "zeCommandListGetNextCommandIdWithKernelsExp");
}

// ---- Descriptions of changes ----

// Sizes of a launch.
struct size_change {
    struct zepi_ze_mutable_triple_desc group;
    struct zepi_ze_mutable_triple_desc offset;
    struct zepi_ze_mutable_group_count_desc count;
    ze_group_count_t counts;
};

// Changes of launches in a list, which the driver gets in as few calls as there is room for here.
#define MOST_ARGUMENTS 16
#define MOST_SIZES 4
struct changes {
    struct zepi_recording *recording;               // borrowed
    struct zepi_ze_number commands;                 // begins the chain of those below
    struct zepi_ze_mutable_argument_desc *argument; // the next one, as is `size`
    struct size_change *size;
    struct zepi_ze_mutable_argument_desc arguments[MOST_ARGUMENTS];
    struct size_change sizes[MOST_SIZES];
};

static void changes_begin(struct changes *changes)
{
    changes->commands.next = NULL;
    changes->argument = changes->arguments;
    changes->size = changes->sizes;
}

static void changes_init(struct changes *changes, struct zepi_recording *recording)
{
    changes->recording = recording;
    changes->commands.stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_DESC;
    changes->commands.value = 0;
    changes_begin(changes);
}

// The chain begins with the description that was linked last.
static void changes_link(struct changes *changes, const void *desc, const void **next)
{
    *next = changes->commands.next;
    changes->commands.next = desc;
}

// The driver gets those that are described.
static inline bool changes_apply(const struct changes *changes)
{
    const struct zepi_recording *recording = changes->recording;
    return !changes->commands.next ||
           mutable_optional_of(recording->device)
                   ->update_mutable_commands(recording->mutable_list, &changes->commands) ==
               ZE_RESULT_SUCCESS;
}

// Makes room for others.
static __attribute__((noinline)) bool changes_flush(struct changes *changes)
{
    const bool is_done = changes_apply(changes);
    changes_begin(changes);
    return is_done;
}

static bool changes_add_argument(struct changes *changes, uint64_t id, uint32_t index,
                                 const struct zepi_arg *arg)
{
    if (arg->kind == ZEPI_ARG_IMAGE || arg->kind == ZEPI_ARG_SAMPLER ||
        (changes->argument == changes->arguments + MOST_ARGUMENTS && !changes_flush(changes)))
        return false;
    struct zepi_ze_mutable_argument_desc *desc = changes->argument++;
    desc->stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ARGUMENT_DESC;
    desc->id = id;
    desc->index = index;
    desc->size_bytes = arg->size_bytes;
    desc->value = zepi_arg_value(arg);
    changes_link(changes, desc, &desc->next);
    return true;
}

// `old`: with which the list was recorded.
static __attribute__((noinline)) bool changes_add_sizes(struct changes *changes, uint64_t id,
                                                        const struct zepi_launch *old,
                                                        const struct zepi_launch *launch)
{
    struct zepi_work_size size;
    struct zepi_kernel_instance *instance;
    const struct zepi_device *device = changes->recording->device;
    struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    const bool has_offset = device->mutable_flags & ZEPI_ZE_MUTABLE_OFFSET;
    if (zepi_recording_get_instance(changes->recording, device_kernel, &instance) != ZEPI_SUCCESS ||
        zepi_work_size_init(&size, device_kernel, device, instance->ze, launch) != ZEPI_SUCCESS ||
        size.is_empty)
        return false;
    if (!has_offset &&
        !(zepi_sizes_are_equal(old->work_dim, old->global_offset, zepi_no_sizes) &&
          zepi_sizes_are_equal(launch->work_dim, launch->global_offset, zepi_no_sizes)))
        return false;
    if (changes->size == changes->sizes + MOST_SIZES && !changes_flush(changes))
        return false;
    struct size_change *sizes = changes->size++;
    sizes->offset = (struct zepi_ze_mutable_triple_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_OFFSET_DESC, .id = id};
    memcpy(sizes->offset.xyz, size.offset, sizeof(size.offset));
    if (has_offset)
        changes_link(changes, &sizes->offset, &sizes->offset.next);
    sizes->counts = size.count;
    sizes->count = (struct zepi_ze_mutable_group_count_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_DESC,
        .id = id,
        .counts = &sizes->counts};
    changes_link(changes, &sizes->count, &sizes->count.next);
    // Ahead of the count in the chain.
    sizes->group = (struct zepi_ze_mutable_triple_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_DESC, .id = id};
    memcpy(sizes->group.xyz, size.group, sizeof(size.group));
    changes_link(changes, &sizes->group, &sizes->group.next);
    return true;
}

// ---- Changes of launches ----

// Changes the kernel in the list to the launch's, if the list knows it.
static __attribute__((noinline)) bool change_kernel(const struct changes *changes, uint64_t id,
                                                    const struct zepi_graph_command *command,
                                                    const struct zepi_launch *launch)
{
    struct zepi_recording *recording = changes->recording;
    const struct zepi_device *device = recording->device;
    struct zepi_kernel_instance *instance;
    if (command->kernel_count < 2 || !(device->mutable_flags & ZEPI_ZE_MUTABLE_KERNEL) ||
        zepi_recording_get_instance(recording, zepi_launch_device_kernel(launch), &instance) !=
            ZEPI_SUCCESS)
        return false;
    ze_kernel_handle_t kernel = zepi_mutable_handle(device, ZEL_HANDLE_KERNEL, instance->ze);
    return mutable_optional_of(device)->update_command_kernels(recording->mutable_list, 1, &id,
                                                               &kernel) == ZE_RESULT_SUCCESS;
}

// Whether the list, whose kernel stays, has this argument already. Both launches keep the objects
// behind handles.
static bool is_same_argument(const struct zepi_arg *old, const struct zepi_arg *arg,
                             const struct zepi_kernel_argument *declared, bool is_same_memory)
{
    if (arg->payload != old->payload || arg->head != old->head)
        return false;
    // A value of fewer bytes than an address has.
    if (arg->head < sizeof(void *))
        return true;
    return arg->kind == ZEPI_ARG_IMAGE || arg->kind == ZEPI_ARG_SAMPLER ||
           (is_same_memory && zepi_arg_is_comparable(arg, declared));
}

// Describes what differs between the launch that was put into the list and that of now.
static bool change_launch(struct changes *changes, struct zepi_recorded_command *recorded)
{
    struct zepi_recording *recording = changes->recording;
    const struct zepi_launch *old = &recorded->replaced->launch;
    const struct zepi_launch *launch = &recorded->launch->launch;
    const struct zepi_kernel_argument *declared = zepi_launch_device_kernel(launch)->arguments;
    const uint64_t id = recorded->mutable_id;
    const uint64_t usm_version = zepi_usm_version();
    // None was freed since.
    const bool is_same_memory = recorded->usm_version == usm_version;
    // Another kernel has nothing set.
    const bool is_same_kernel = launch->target.device_kernel == old->target.device_kernel;
    recorded->usm_version = usm_version;
    // Buffers that move are brought to the device by the recording, which would have to know.
    if (id == 0 || launch->flags != old->flags ||
        (launch->use_count + old->use_count > 0 &&
         (zepi_launch_has_moving_buffers(launch) || zepi_launch_has_moving_buffers(old))))
        return false;
    if (!is_same_kernel &&
        !change_kernel(changes, id, recording->graph_commands->list[recorded - recording->commands],
                       launch))
        return false;
    const struct zepi_arg *args = launch->args;
    const struct zepi_arg *old_args = old->args;
    const uint32_t count = launch->arg_count;
    for (uint32_t i = 0; i < count; i++) {
        if (is_same_kernel &&
            is_same_argument(&old_args[i], &args[i], &declared[i], is_same_memory))
            continue;
        if (!changes_add_argument(changes, id, i, &args[i]))
            return false;
    }
    return (is_same_kernel &&
            zepi_launch_record_has_sizes_of(recorded->launch, recorded->replaced)) ||
           changes_add_sizes(changes, id, old, launch);
}

// With the graph's mutex: holds the launches that updates have changed since. Returns the list of
// their commands.
static struct zepi_recorded_command *take_launches(struct zepi_recording *recording)
{
    struct zepi_recorded_command *first = NULL;
    for (const struct zepi_graph_command *dirty = recording->graph->dirty;
         dirty && dirty->dirty_version > recording->version; dirty = dirty->next_dirty) {
        struct zepi_recorded_command *recorded = &recording->commands[dirty->number];
        recorded->replaced = recorded->launch;
        recorded->launch = zepi_launch_record_retain(dirty->launch);
        recorded->next_replaced = first;
        first = recorded;
    }
    return first;
}

void zepi_mutable_launch_follow(struct zepi_recording *recording)
{
    struct zepi_graph *graph = recording->graph;
    struct changes changes;
    if (!recording->is_mutable || zepi_recording_wait_for_run(recording) != ZEPI_SUCCESS) {
        zepi_recording_clear(recording);
        return;
    }
    zepi_mutex_lock(&graph->mutex);
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed);
    struct zepi_recorded_command *first = take_launches(recording);
    zepi_mutex_unlock(&graph->mutex);
    bool is_done = true;
    changes_init(&changes, recording);
    for (struct zepi_recorded_command *recorded = first; recorded && is_done;
         recorded = recorded->next_replaced)
        is_done = change_launch(&changes, recorded);
    if (is_done && changes_apply(&changes) &&
        zepi_ze.zeCommandListClose(recording->own[0]->ze) == ZE_RESULT_SUCCESS)
        recording->version = version;
    else
        zepi_recording_clear(recording);
    // Instances go before the kernels that they are of.
    for (; first; first = first->next_replaced)
        zepi_launch_record_release(first->replaced);
}
