// SPDX-License-Identifier: MIT
#include "graph/mutable_launch.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "launch/kernel_instance.h"
#include "launch/work_size.h"
#include "memory/buffer.h"
#include "ze/ze.h"

const struct zepi_ze_mutable_flags_desc zepi_mutable_list_desc = {
    .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_LIST_DESC};

#define NEEDED_FLAGS                                                                               \
    (ZEPI_ZE_MUTABLE_ARGUMENTS | ZEPI_ZE_MUTABLE_GROUP_COUNT | ZEPI_ZE_MUTABLE_GROUP_SIZE)

static const struct zepi_ze_optional *mutable_optional_of(const struct zepi_device *device)
{
    return &device->platform->optional;
}

bool zepi_mutable_launch_is_offered(const struct zepi_device *device)
{
    return (device->mutable_flags & NEEDED_FLAGS) == NEEDED_FLAGS;
}

// A handle as the functions for mutable lists take it.
static void *mutable_handle(const struct zepi_device *device, zel_handle_type_t type, void *handle)
{
    return mutable_optional_of(device)->is_mutable_lists_drivers
               ? zepi_ze_driver_handle(type, handle)
               : handle;
}

// ---- Recording ----

// NULL: the kernel has no code for the device, or there is no memory.
static struct zepi_kernel_instance *get_instance_of(struct zepi_recorded_uses *uses,
                                                    const struct zepi_kernel *kernel)
{
    struct zepi_kernel_instance *instance;
    struct zepi_build_result *pool = kernel->device_kernels[uses->device_index];
    return pool && zepi_recorded_uses_get_instance(uses, zepi_device_kernel_of(pool), &instance) ==
                       ZEPI_SUCCESS
               ? instance
               : NULL;
}

// All kernels that the command may be of, each once. NULL: one is of no use here.
static ze_kernel_handle_t *list_kernels(struct zepi_recorded_uses *uses,
                                        const struct zepi_graph_command *command,
                                        uint32_t *out_count)
{
    ze_kernel_handle_t *kernels = zepi_allocate(command->kernel_count, sizeof(kernels[0]));
    uint32_t count = 0;
    for (uint32_t i = 0; kernels && i < command->kernel_count; i++) {
        const struct zepi_kernel_instance *instance = get_instance_of(uses, command->kernels[i]);
        if (!instance) {
            zepi_free(kernels);
            return NULL;
        }
        ze_kernel_handle_t ze = mutable_handle(uses->device, ZEL_HANDLE_KERNEL, instance->ze);
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

zepi_result_t zepi_mutable_launch_identify(struct zepi_recorded_uses *uses,
                                           ze_command_list_handle_t list,
                                           const struct zepi_graph_command *command,
                                           uint64_t *out_id)
{
    const uint32_t flags = uses->device->mutable_flags;
    struct zepi_ze_mutable_flags_desc desc = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ID_DESC,
        .flags = NEEDED_FLAGS | (flags & ZEPI_ZE_MUTABLE_OFFSET)};
    ze_kernel_handle_t *kernels = NULL;
    uint32_t kernel_count = 0;
    *out_id = 0;
    for (uint32_t i = 0; i < command->kernel_count; i++) {
        // Their constants are arguments that the host knows nothing of.
        if (command->kernels[i]->is_emulated)
            return ZEPI_SUCCESS;
    }
    if (command->kernel_count > 1 && (flags & ZEPI_ZE_MUTABLE_KERNEL))
        kernels = list_kernels(uses, command, &kernel_count);
    if (kernel_count > 0)
        desc.flags |= ZEPI_ZE_MUTABLE_KERNEL;
    uint64_t id;
    const ze_result_t ze =
        mutable_optional_of(uses->device)
            ->get_next_command_id(mutable_handle(uses->device, ZEL_HANDLE_COMMAND_LIST, list),
                                  &desc, kernel_count, kernels, &id);
    zepi_free(kernels);
    if (ze == ZE_RESULT_SUCCESS)
        *out_id = id;
    return zepi_check_ze(ze, "zeCommandListGetNextCommandIdWithKernelsExp");
}

// ---- Changes ----

// Changes of launches in lists, which the driver gets in as few calls as there is room for here.
#define MOST_ARGUMENTS 16
#define MOST_SIZES 4
struct changes {
    struct zepi_recorded_uses *uses; // borrowed
    ze_command_list_handle_t list;   // borrowed: of the changes at hand; NULL: none was open yet
    const void **end;                // of their chain, which begins in `commands`
    uint32_t argument_count;
    uint32_t size_count;
    struct zepi_ze_mutable_flags_desc commands;
    struct zepi_ze_mutable_argument_desc arguments[MOST_ARGUMENTS];
    struct {
        struct zepi_ze_mutable_triple_desc group;
        struct zepi_ze_mutable_triple_desc offset;
        struct zepi_ze_mutable_group_count_desc count;
        ze_group_count_t counts;
    } sizes[MOST_SIZES];
};

static void changes_begin(struct changes *changes, struct zepi_recorded_uses *uses)
{
    changes->uses = uses;
    changes->list = NULL;
    changes->end = &changes->commands.next;
    changes->argument_count = 0;
    changes->size_count = 0;
    changes->commands = (struct zepi_ze_mutable_flags_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_DESC};
}

static void changes_link(struct changes *changes, const void *desc, const void **next)
{
    *changes->end = desc;
    changes->end = next;
}

// The driver gets those that are described.
static bool changes_flush(struct changes *changes)
{
    const struct zepi_device *device = changes->uses->device;
    if (changes->end == &changes->commands.next)
        return true;
    *changes->end = NULL;
    changes->end = &changes->commands.next;
    changes->argument_count = 0;
    changes->size_count = 0;
    return mutable_optional_of(device)->update_mutable_commands(
               mutable_handle(device, ZEL_HANDLE_COMMAND_LIST, changes->list),
               &changes->commands) == ZE_RESULT_SUCCESS;
}

// The list is closed again.
static bool changes_end(struct changes *changes)
{
    return !changes->list || (changes_flush(changes) &&
                              zepi_ze.zeCommandListClose(changes->list) == ZE_RESULT_SUCCESS);
}

static bool changes_add_argument(struct changes *changes, uint64_t id, uint32_t index,
                                 const struct zepi_graph_launch *launch)
{
    const zepi_argument_t *argument = &launch->arguments[index];
    // Objects that are no memory stand as values with a reference of their own: images, samplers.
    if (launch->has_objects && launch->memory[index].object && !launch->memory[index].part.buffer)
        return false;
    if (changes->argument_count == MOST_ARGUMENTS && !changes_flush(changes))
        return false;
    struct zepi_ze_mutable_argument_desc *desc = &changes->arguments[changes->argument_count++];
    desc->stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ARGUMENT_DESC;
    desc->id = id;
    desc->index = index;
    if (argument->kind == ZEPI_ARGUMENT_POINTER) {
        desc->size_bytes = sizeof(argument->value);
        desc->value = &argument->value;
    } else if (argument->kind == ZEPI_ARGUMENT_BUFFER) {
        const struct zepi_buffer *buffer = argument->value;
        if (!buffer->fixed)
            return false;
        desc->size_bytes = sizeof(buffer->fixed);
        desc->value = &buffer->fixed;
    } else {
        desc->size_bytes = argument->size_bytes;
        desc->value = argument->value;
    }
    changes_link(changes, desc, &desc->next);
    return true;
}

static bool has_offset(const zepi_launch_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->work_dim; i++) {
        if (desc->global_offset[i] > 0)
            return true;
    }
    return false;
}

static bool changes_add_offset(struct changes *changes, struct zepi_ze_mutable_triple_desc *offset,
                               const zepi_launch_desc_t *desc, uint64_t changed)
{
    for (uint32_t i = 0; i < desc->work_dim; i++) {
        if (desc->global_offset[i] > UINT32_MAX)
            return false;
        offset->xyz[i] = (uint32_t)desc->global_offset[i];
    }
    if (!(changes->uses->device->mutable_flags & ZEPI_ZE_MUTABLE_OFFSET))
        return !(changed & ZEPI_GRAPH_CHANGED_OFFSET) && !has_offset(desc);
    changes_link(changes, offset, &offset->next);
    return true;
}

static __attribute__((noinline)) bool changes_add_sizes(struct changes *changes, uint64_t id,
                                                        const struct zepi_graph_launch *launch,
                                                        uint64_t changed)
{
    struct zepi_work_size size;
    struct zepi_recorded_uses *uses = changes->uses;
    const zepi_launch_desc_t *desc = &launch->desc;
    const struct zepi_device_kernel *device_kernel =
        zepi_device_kernel_of(launch->kernel->device_kernels[uses->device_index]);
    const struct zepi_kernel_instance *instance = get_instance_of(uses, launch->kernel);
    if (!instance ||
        zepi_work_size_init(&size, device_kernel, uses->device, instance->ze, desc->work_dim,
                            desc->global_size, desc->group_size) != ZEPI_SUCCESS ||
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
    return changes_add_offset(changes, &sizes->offset, desc, changed);
}

// To the command's kernel, which is one that the list knows of. Each of its arguments has a value.
static __attribute__((noinline)) bool change_kernel(struct zepi_recorded_uses *uses,
                                                    ze_command_list_handle_t list, uint64_t id,
                                                    const struct zepi_kernel *old,
                                                    const struct zepi_graph_command *command)
{
    const struct zepi_device *device = uses->device;
    const struct zepi_graph_launch *launch = command->launch;
    const struct zepi_build_result *to = launch->kernel->device_kernels[uses->device_index];
    if (to == old->device_kernels[uses->device_index])
        return true;
    const struct zepi_kernel_instance *instance = get_instance_of(uses, launch->kernel);
    if (!instance || command->kernel_count < 2 ||
        !(device->mutable_flags & ZEPI_ZE_MUTABLE_KERNEL) ||
        launch->desc.argument_count != zepi_device_kernel_of(to)->argument_count)
        return false;
    ze_kernel_handle_t kernel = mutable_handle(device, ZEL_HANDLE_KERNEL, instance->ze);
    return mutable_optional_of(device)->update_command_kernels(
               mutable_handle(device, ZEL_HANDLE_COMMAND_LIST, list), 1, &id, &kernel) ==
           ZE_RESULT_SUCCESS;
}

// The command was recorded with the launch `old`.
static bool change_launch(struct changes *changes, ze_command_list_handle_t list, uint64_t id,
                          const struct zepi_graph_launch *old,
                          const struct zepi_graph_command *command)
{
    const struct zepi_graph_launch *launch = command->launch;
    uint64_t changed = command->changes;
    // Buffers that move are brought to the device by the recording, which would have to know.
    if (old != launch && (launch->moves || old->moves || launch->desc.flags != old->desc.flags))
        return false;
    if (changes->list && changes->list != list && !changes_end(changes))
        return false;
    changes->list = list;
    if (changed & ZEPI_GRAPH_CHANGED_KERNEL) {
        if (!change_kernel(changes->uses, list, id, old->kernel, command))
            return false;
        // Another kernel has nothing set.
        changed = UINT64_MAX;
    }
    for (uint32_t i = zepi_graph_next_changed(changed, 0); i < launch->desc.argument_count;
         i = zepi_graph_next_changed(changed, i + 1)) {
        if (!changes_add_argument(changes, id, i, launch))
            return false;
    }
    return !(changed & ZEPI_GRAPH_CHANGED_SIZES) || changes_add_sizes(changes, id, launch, changed);
}

bool zepi_mutable_launches_update(struct zepi_recorded_uses *uses,
                                  const struct zepi_mutable_command *commands,
                                  const ze_command_list_handle_t *lists,
                                  const struct zepi_graph_command *changed, uint64_t since)
{
    struct changes changes;
    changes_begin(&changes, uses);
    for (; changed && changed->changed_version > since; changed = changed->next) {
        const struct zepi_mutable_command *command = &commands[changed->number];
        struct zepi_graph_launch **launch = &uses->launches[changed->number];
        if (command->id == 0 ||
            !change_launch(&changes, lists[command->list], command->id, *launch, changed))
            return false;
        if (*launch != changed->launch) {
            zepi_graph_launch_release(*launch);
            *launch = zepi_graph_launch_retain(changed->launch);
        }
    }
    return changes_end(&changes);
}
