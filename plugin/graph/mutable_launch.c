// SPDX-License-Identifier: MIT
#include "graph/mutable_launch.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "launch/kernel.h"
#include "launch/kernel_instance.h"

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

void *zepi_mutable_handle(const struct zepi_device *device, zel_handle_type_t type, void *handle)
{
    return mutable_optional_of(device)->get_next_command_id_is_drivers
               ? zepi_ze_driver_handle(type, handle)
               : handle;
}

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
        ze_kernel_handle_t ze = zepi_mutable_handle(uses->device, ZEL_HANDLE_KERNEL, instance->ze);
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
    const ze_result_t ze = mutable_optional_of(uses->device)
                               ->get_next_command_id(list, &desc, kernel_count, kernels, &id);
    zepi_free(kernels);
    if (ze == ZE_RESULT_SUCCESS)
        *out_id = id;
    return zepi_check_ze(ze, "zeCommandListGetNextCommandIdWithKernelsExp");
}
