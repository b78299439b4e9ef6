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
#include "ze/ze.h"

const struct zepi_ze_number zepi_mutable_list_desc = {
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
    return mutable_optional_of(device)->get_next_command_id_is_drivers
               ? zepi_ze_driver_handle(type, handle)
               : handle;
}

// ---- Recording ----

// NULL: the kernel has no code for the device, or there is no memory.
static struct zepi_kernel_instance *get_instance_of(struct zepi_recorded_uses *uses,
                                                    const struct zepi_build_result *kernel)
{
    struct zepi_kernel_instance *instance;
    return kernel && zepi_recorded_uses_get_instance(uses, zepi_device_kernel_of(kernel),
                                                     &instance) == ZEPI_SUCCESS
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
        const struct zepi_kernel_instance *instance =
            get_instance_of(uses, command->kernels[i]->device_kernels[uses->device_index]);
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
    struct zepi_ze_number desc = {.stype =
                                      (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ID_DESC,
                                  .value = NEEDED_FLAGS | (flags & ZEPI_ZE_MUTABLE_OFFSET)};
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
        desc.value |= ZEPI_ZE_MUTABLE_KERNEL;
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

// Changes of launches in a list, which the driver gets in as few calls as there is room for here.
#define MOST_ARGUMENTS 16
#define MOST_SIZES 4
struct changes {
    struct zepi_recorded_uses *uses; // borrowed
    ze_command_list_handle_t list;   // borrowed
    const void **end;                // of their chain, which begins in `commands`
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

static void changes_begin(struct changes *changes, struct zepi_recorded_uses *uses,
                          ze_command_list_handle_t list)
{
    changes->uses = uses;
    changes->list = list;
    changes->end = &changes->commands.next;
    changes->argument_count = 0;
    changes->size_count = 0;
    changes->commands = (struct zepi_ze_number){
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
    return changes_flush(changes) && zepi_ze.zeCommandListClose(changes->list) == ZE_RESULT_SUCCESS;
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
    struct zepi_recorded_uses *uses = changes->uses;
    const struct zepi_kernel_instance *instance =
        get_instance_of(uses, launch->target.device_kernel);
    if (!instance ||
        zepi_work_size_init(&size, zepi_launch_device_kernel(launch), uses->device, instance->ze,
                            launch) != ZEPI_SUCCESS ||
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

// Changes the kernel in the list to that of the command, if the list knows it.
static __attribute__((noinline)) bool change_kernel(const struct changes *changes, uint64_t id,
                                                    const struct zepi_graph_command *command)
{
    struct zepi_recorded_uses *uses = changes->uses;
    const struct zepi_device *device = uses->device;
    const struct zepi_kernel_instance *instance =
        get_instance_of(uses, uses->launches[command->number]->launch.target.device_kernel);
    if (!instance || command->kernel_count < 2 || !(device->mutable_flags & ZEPI_ZE_MUTABLE_KERNEL))
        return false;
    ze_kernel_handle_t kernel = mutable_handle(device, ZEL_HANDLE_KERNEL, instance->ze);
    return mutable_optional_of(device)->update_command_kernels(
               mutable_handle(device, ZEL_HANDLE_COMMAND_LIST, changes->list), 1, &id, &kernel) ==
           ZE_RESULT_SUCCESS;
}

// Whether an argument is the one that the list has, with the same kernel. Both launches keep the
// objects behind handles. `is_same_memory`: none was freed since the
// launch was put there.
static bool is_same_argument(const struct zepi_device_kernel *device_kernel, uint32_t index,
                             bool is_same_memory, const struct zepi_arg *old,
                             const struct zepi_arg *arg)
{
    return arg->head == old->head && arg->payload == old->payload &&
           (arg->kind == ZEPI_ARG_IMAGE || arg->kind == ZEPI_ARG_SAMPLER ||
            (is_same_memory && zepi_arg_is_comparable(arg, &device_kernel->arguments[index])));
}

static bool change_launch(struct changes *changes, uint64_t id, bool is_same_memory,
                          const struct zepi_mutable_change *change)
{
    const struct zepi_graph_command *command = change->command;
    const struct zepi_launch *old = &change->old->launch;
    const struct zepi_launch *launch = &changes->uses->launches[command->number]->launch;
    const struct zepi_device_kernel *device_kernel = zepi_launch_device_kernel(launch);
    const bool has_other_kernel = launch->target.device_kernel != old->target.device_kernel;
    // Buffers that move are brought to the device by the recording, which would have to know.
    if (launch->flags != old->flags || zepi_launch_has_moving_buffers(launch) ||
        zepi_launch_has_moving_buffers(old))
        return false;
    // Another kernel has nothing set.
    if (has_other_kernel && !change_kernel(changes, id, command))
        return false;
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        const struct zepi_arg *arg = &launch->args[i];
        if (!has_other_kernel &&
            is_same_argument(device_kernel, i, is_same_memory, &old->args[i], arg))
            continue;
        if (!changes_add_argument(changes, id, i, arg))
            return false;
    }
    return (!has_other_kernel && zepi_launch_has_same_sizes(old, launch)) ||
           changes_add_sizes(changes, id, old, launch);
}

bool zepi_mutable_launches_update(struct zepi_recorded_uses *uses, ze_command_list_handle_t list,
                                  const uint64_t *ids, uint32_t count,
                                  const struct zepi_mutable_change *changed)
{
    struct changes changes;
    const uint64_t version = zepi_usm_version();
    changes_begin(&changes, uses, list);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = changed[i].command->number;
        const bool is_same_memory = uses->usm_versions[number] == version;
        uses->usm_versions[number] = version;
        if (ids[number] == 0 || !change_launch(&changes, ids[number], is_same_memory, &changed[i]))
            return false;
    }
    return changes_end(&changes);
}
