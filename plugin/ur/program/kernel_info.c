// SPDX-License-Identifier: MIT
#include "core/alloc.h"
#include "launch/device_kernel.h"
#include "ur/info.h"
#include "ur/program/kernel.h"

#include <stdio.h>

static ur_result_t get_attributes(void *kernel, const struct zepi_ur_info *info)
{
    const ze_kernel_properties_t *properties =
        &zepi_ur_kernel_any_device_kernel(kernel)->properties;
    char text[128] = "";
    if (properties->requiredGroupSizeX > 0)
        snprintf(text, sizeof(text), "reqd_work_group_size(%u,%u,%u)",
                 properties->requiredGroupSizeX, properties->requiredGroupSizeY,
                 properties->requiredGroupSizeZ);
    if (properties->requiredSubgroupSize > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%sintel_reqd_sub_group_size(%u)", text[0] ? " " : "",
                 properties->requiredSubgroupSize);
    return zepi_ur_info_return_string(info, text);
}

// One number for each device that the kernel has code for.
static ur_result_t get_spill_sizes(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_kernel *kernel = object;
    const uint32_t device_count = kernel->context->device_count;
    uint32_t count = 0;
    uint32_t *sizes = zepi_allocate(device_count, sizeof(*sizes));
    if (!sizes)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < device_count; i++) {
        const struct zepi_target *target = &kernel->devices[i].target;
        if (target->device_kernel)
            sizes[count++] = zepi_device_kernel_of(target->device_kernel)->properties.spillMemSize;
    }
    const ur_result_t result = zepi_ur_info_return(info, sizes, count * sizeof(*sizes));
    zepi_free(sizes);
    return result;
}

static uint64_t get_register_count(void *kernel)
{
    return zepi_ur_kernel_any_device_kernel(kernel)->register_count;
}

static uint64_t get_argument_count(void *kernel)
{
    return zepi_ur_kernel_any_device_kernel(kernel)->argument_count;
}

static const struct zepi_ur_query kernel_queries[] = {
    {ZEPI_UR_MEMBER(KERNEL_INFO_FUNCTION_NAME, TEXT, zepi_kernel, name)},
    {ZEPI_UR_NUMBER(KERNEL_INFO_NUM_ARGS, U32, get_argument_count)},
    {ZEPI_UR_REFERENCES(KERNEL_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_MEMBER(KERNEL_INFO_CONTEXT, BYTES, zepi_kernel, context)},
    {ZEPI_UR_MEMBER(KERNEL_INFO_PROGRAM, BYTES, zepi_kernel, front_end)},
    {ZEPI_UR_VALUE(KERNEL_INFO_ATTRIBUTES, get_attributes)},
    {ZEPI_UR_NUMBER(KERNEL_INFO_NUM_REGS, U32_OR_NONE, get_register_count)},
    {ZEPI_UR_VALUE(KERNEL_INFO_SPILL_MEM_SIZE, get_spill_sizes)},
};

ZEPI_UR_DEFINE_GET_INFO(Kernel, , kernel, zepi_ur_check_kernel, kernel_queries,
                        KERNEL_INFO_SPILL_MEM_SIZE)

// The kernel on a device of its context.
static ur_result_t kernel_on_device(ur_kernel_handle_t handle, ur_device_handle_t device,
                                    struct zepi_device_kernel **out_device_kernel)
{
    uint32_t index;
    ur_result_t result;
    if ((result = zepi_ur_check_kernel(handle)) ||
        (result = zepi_ur_check_device_in(zepi_ur_kernel(handle)->context, device, &index)))
        return result;
    return zepi_ur_result(
        zepi_kernel_get_device_kernel(zepi_ur_kernel(handle), index, out_device_kernel));
}

struct group_sizes {
    size_t global[3], required[3], most, slm, multiple, private;
};

static const struct zepi_ur_query group_queries[] = {
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_GLOBAL_WORK_SIZE, BYTES, group_sizes, global)},
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_WORK_GROUP_SIZE, SIZE, group_sizes, most)},
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE, BYTES, group_sizes, required)},
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_LOCAL_MEM_SIZE, SIZE, group_sizes, slm)},
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, SIZE, group_sizes,
                    multiple)},
    {ZEPI_UR_MEMBER(KERNEL_GROUP_INFO_PRIVATE_MEM_SIZE, SIZE, group_sizes, private)},
};

ur_result_t zepi_urKernelGetGroupInfo(ur_kernel_handle_t hKernel, ur_device_handle_t hDevice,
                                      ur_kernel_group_info_t query, size_t value_size, void *value,
                                      size_t *out_size)
{
    struct group_sizes sizes = {.most = 0};
    struct zepi_device_kernel *device_kernel;
    const ur_result_t result = kernel_on_device(hKernel, hDevice, &device_kernel);
    if (result == UR_RESULT_SUCCESS) {
        const ze_device_compute_properties_t *compute = &zepi_ur_device(hDevice)->compute;
        const ze_kernel_properties_t *own = &device_kernel->properties;
        sizes = (struct group_sizes){
            .global = {(size_t)compute->maxGroupSizeX * compute->maxGroupCountX,
                       (size_t)compute->maxGroupSizeY * compute->maxGroupCountY,
                       (size_t)compute->maxGroupSizeZ * compute->maxGroupCountZ},
            .required = {own->requiredGroupSizeX, own->requiredGroupSizeY, own->requiredGroupSizeZ},
            .most = compute->maxTotalGroupSize,
            .slm = own->localMemSize,
            .multiple = device_kernel->preferred_multiple,
            .private = own->privateMemSize};
    }
    return zepi_ur_get_info(result, &sizes, ZEPI_UR_ROWS(group_queries), query,
                            UR_KERNEL_GROUP_INFO_COMPILE_MAX_LINEAR_WORK_GROUP_SIZE, value_size,
                            value, out_size);
}

#define SUB_GROUP(name, member)                                                                    \
    ZEPI_UR_MEMBER(KERNEL_SUB_GROUP_INFO_##name, U32, zepi_device_kernel, properties.member)
static const struct zepi_ur_query sub_group_queries[] = {
    {SUB_GROUP(MAX_SUB_GROUP_SIZE, maxSubgroupSize)},
    {SUB_GROUP(MAX_NUM_SUB_GROUPS, maxNumSubgroups)},
    {SUB_GROUP(COMPILE_NUM_SUB_GROUPS, requiredNumSubGroups)},
    {SUB_GROUP(SUB_GROUP_SIZE_INTEL, requiredSubgroupSize)},
};

ur_result_t zepi_urKernelGetSubGroupInfo(ur_kernel_handle_t hKernel, ur_device_handle_t hDevice,
                                         ur_kernel_sub_group_info_t query, size_t value_size,
                                         void *value, size_t *out_size)
{
    struct zepi_device_kernel *device_kernel = NULL;
    const ur_result_t result = kernel_on_device(hKernel, hDevice, &device_kernel);
    return zepi_ur_get_info(result, device_kernel, ZEPI_UR_ROWS(sub_group_queries), query,
                            UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL, value_size, value,
                            out_size);
}
