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

#define INLINE_CHANGES 16

// What becomes of one launch: a chain of descriptions, which the driver follows.
struct launch_changes {
    uint64_t id;
    const void **end; // of the chain
    struct zepi_ze_mutable_flags_desc commands;
    struct zepi_ze_mutable_triple_desc group_size;
    struct zepi_ze_mutable_triple_desc offset;
    struct zepi_ze_mutable_group_count_desc group_count;
    ze_group_count_t counts;
    struct zepi_ze_mutable_argument_desc *arguments; // owned, unless it is the one below
    struct zepi_ze_mutable_argument_desc inline_arguments[INLINE_CHANGES];
};

static void launch_changes_add(struct launch_changes *changes, const void *desc, const void **next)
{
    *changes->end = desc;
    changes->end = next;
}

static bool change_argument(struct launch_changes *changes, uint32_t index,
                            const struct zepi_graph_launch *launch)
{
    const zepi_argument_t *argument = &launch->arguments[index];
    struct zepi_ze_mutable_argument_desc *desc = &changes->arguments[index];
    *desc = (struct zepi_ze_mutable_argument_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ARGUMENT_DESC,
        .id = changes->id,
        .index = index,
        .size_bytes = argument->size_bytes,
        .value = argument->value};
    // Objects that are no memory stand as values with a reference of their own: images, samplers.
    if (launch->memory[index].object && !launch->memory[index].part.buffer)
        return false;
    if (argument->kind == ZEPI_ARGUMENT_BUFFER) {
        const struct zepi_buffer *buffer = argument->value;
        desc->size_bytes = sizeof(buffer->fixed);
        desc->value = &buffer->fixed;
    } else if (argument->kind == ZEPI_ARGUMENT_POINTER) {
        desc->size_bytes = sizeof(argument->value);
        desc->value = &argument->value;
    }
    launch_changes_add(changes, desc, &desc->next);
    return true;
}

static bool change_arguments(struct launch_changes *changes, uint64_t changed,
                             const struct zepi_graph_launch *launch)
{
    const uint32_t count = launch->desc.argument_count;
    if (count > INLINE_CHANGES)
        changes->arguments = zepi_allocate(count, sizeof(changes->arguments[0]));
    if (!changes->arguments)
        return false;
    for (uint32_t i = zepi_graph_next_changed(changed, 0); i < count;
         i = zepi_graph_next_changed(changed, i + 1)) {
        if (!change_argument(changes, i, launch))
            return false;
    }
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

static bool change_offset(struct launch_changes *changes, const struct zepi_device *device,
                          const zepi_launch_desc_t *old, const zepi_launch_desc_t *desc)
{
    uint32_t *offset = changes->offset.xyz;
    changes->offset = (struct zepi_ze_mutable_triple_desc){0};
    for (uint32_t i = 0; i < desc->work_dim; i++) {
        if (desc->global_offset[i] > UINT32_MAX)
            return false;
        offset[i] = (uint32_t)desc->global_offset[i];
    }
    if (!(device->mutable_flags & ZEPI_ZE_MUTABLE_OFFSET))
        return !has_offset(old) && !has_offset(desc);
    changes->offset.stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_OFFSET_DESC;
    changes->offset.id = changes->id;
    launch_changes_add(changes, &changes->offset, &changes->offset.next);
    return true;
}

static __attribute__((noinline)) bool change_sizes(struct launch_changes *changes,
                                                   struct zepi_recorded_uses *uses,
                                                   const zepi_launch_desc_t *old,
                                                   const struct zepi_graph_launch *launch)
{
    struct zepi_work_size size;
    const zepi_launch_desc_t *desc = &launch->desc;
    const struct zepi_device_kernel *device_kernel =
        zepi_device_kernel_of(launch->kernel->device_kernels[uses->device_index]);
    const struct zepi_kernel_instance *instance = get_instance_of(uses, launch->kernel);
    if (!instance ||
        zepi_work_size_init(&size, device_kernel, uses->device, instance->ze, desc->work_dim,
                            desc->global_size, desc->group_size) != ZEPI_SUCCESS ||
        size.is_empty)
        return false;
    changes->group_size = (struct zepi_ze_mutable_triple_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_DESC,
        .id = changes->id};
    memcpy(changes->group_size.xyz, size.group, sizeof(size.group));
    launch_changes_add(changes, &changes->group_size, &changes->group_size.next);
    changes->counts = size.count;
    changes->group_count = (struct zepi_ze_mutable_group_count_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_DESC,
        .id = changes->id,
        .counts = &changes->counts};
    launch_changes_add(changes, &changes->group_count, &changes->group_count.next);
    return change_offset(changes, uses->device, old, desc);
}

// To the launch's kernel, of as many arguments as that has. *changed becomes all that is to be set
// with another one.
static bool change_kernel(struct zepi_recorded_uses *uses, ze_command_list_handle_t list,
                          uint64_t id, const struct zepi_graph_launch *old,
                          const struct zepi_graph_launch *launch, uint64_t *changed)
{
    const struct zepi_device *device = uses->device;
    const struct zepi_build_result *to = launch->kernel->device_kernels[uses->device_index];
    if (to == old->kernel->device_kernels[uses->device_index])
        return true;
    const struct zepi_kernel_instance *instance = get_instance_of(uses, launch->kernel);
    if (!instance || !(device->mutable_flags & ZEPI_ZE_MUTABLE_KERNEL) ||
        launch->desc.argument_count != zepi_device_kernel_of(to)->argument_count)
        return false;
    ze_kernel_handle_t kernel = mutable_handle(device, ZEL_HANDLE_KERNEL, instance->ze);
    *changed = UINT64_MAX;
    return mutable_optional_of(device)->update_command_kernels(
               mutable_handle(device, ZEL_HANDLE_COMMAND_LIST, list), 1, &id, &kernel) ==
           ZE_RESULT_SUCCESS;
}

bool zepi_mutable_launch_change(struct zepi_recorded_uses *uses, ze_command_list_handle_t list,
                                uint64_t id, const struct zepi_graph_launch *old,
                                const struct zepi_graph_launch *launch, uint64_t changed)
{
    const struct zepi_device *device = uses->device;
    struct launch_changes changes;
    // Buffers that move are brought to the device by the recording, which would have to know.
    if (old->desc.flags != launch->desc.flags || old->moves || launch->moves)
        return false;
    if ((changed & ZEPI_GRAPH_CHANGED_KERNEL) &&
        !change_kernel(uses, list, id, old, launch, &changed))
        return false;
    changes.id = id;
    changes.commands = (struct zepi_ze_mutable_flags_desc){
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_DESC};
    changes.end = &changes.commands.next;
    changes.arguments = changes.inline_arguments;
    bool is_changed =
        change_arguments(&changes, changed, launch) &&
        (!(changed & ZEPI_GRAPH_CHANGED_SIZES) || change_sizes(&changes, uses, &old->desc, launch));
    *changes.end = NULL;
    if (is_changed)
        is_changed = mutable_optional_of(device)->update_mutable_commands(
                         mutable_handle(device, ZEL_HANDLE_COMMAND_LIST, list),
                         &changes.commands) == ZE_RESULT_SUCCESS;
    if (changes.arguments != changes.inline_arguments)
        zepi_free(changes.arguments);
    return is_changed;
}
