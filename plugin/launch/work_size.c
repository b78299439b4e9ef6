// SPDX-License-Identifier: MIT
#include "launch/work_size.h"

#include "device/device.h"
#include "device/platform.h"
#include "launch/device_kernel.h"
#include "ze/ze.h"

static zepi_result_t check_group_size(const struct zepi_device_kernel *device_kernel,
                                      const struct zepi_device *device, uint32_t work_dim,
                                      const uint32_t group[3])
{
    const ze_device_compute_properties_t *compute = &device->compute;
    const ze_kernel_properties_t *properties = &device_kernel->properties;
    const uint32_t *most = &compute->maxGroupSizeX;
    static_assert(offsetof(ze_device_compute_properties_t, maxGroupSizeZ) ==
                      offsetof(ze_device_compute_properties_t, maxGroupSizeX) + 2 * sizeof(*most),
                  "one after another");
    const uint64_t total = (uint64_t)group[0] * group[1] * group[2];
    if (properties->requiredGroupSizeX > 0 &&
        (group[0] != properties->requiredGroupSizeX || group[1] != properties->requiredGroupSizeY ||
         group[2] != properties->requiredGroupSizeZ))
        return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                               "the group size is %u x %u x %u, kernel '%s' requires %u x %u x %u",
                               group[0], group[1], group[2], device_kernel->name,
                               properties->requiredGroupSizeX, properties->requiredGroupSizeY,
                               properties->requiredGroupSizeZ);
    // Quirk no-limits: 0 limits nothing.
    if (compute->maxTotalGroupSize > 0 && total > compute->maxTotalGroupSize)
        return zepi_fail_about(
            ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
            "a group of %u x %u x %u has %llu work-items, the device takes at most %u", group[0],
            group[1], group[2], (unsigned long long)total, compute->maxTotalGroupSize);
    for (uint32_t i = 0; i < work_dim; i++) {
        if (most[i] > 0 && group[i] > most[i])
            return zepi_fail_about(
                ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                "the group size is %u in dimension %u, the device takes at most %u", group[i], i,
                most[i]);
    }
    return ZEPI_SUCCESS;
}

// A global size as the driver takes it for a suggestion, in 32 bits. A larger one stands for its
// largest divisor in the range of group sizes: what divides that divides the size, too.
static uint32_t suggestion_size(size_t global, const struct zepi_device *device)
{
    const uint32_t most = device->compute.maxTotalGroupSize;
    uint32_t divisor = most > 0 ? most : 1;
    if (global <= UINT32_MAX)
        return (uint32_t)global;
    while (global % divisor != 0)
        divisor--;
    return divisor;
}

static zepi_result_t suggest_group_size(uint32_t group[3],
                                        const struct zepi_device_kernel *device_kernel,
                                        const struct zepi_device *device, ze_kernel_handle_t ze,
                                        uint32_t work_dim, const size_t *global_size)
{
    const ze_kernel_properties_t *properties = &device_kernel->properties;
    size_t global[3] = {1, 1, 1};
    memcpy(global, global_size, work_dim * sizeof(global[0]));
    if (properties->requiredGroupSizeX > 0) {
        group[0] = properties->requiredGroupSizeX;
        group[1] = properties->requiredGroupSizeY;
        group[2] = properties->requiredGroupSizeZ;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSuggestGroupSize, ze, suggestion_size(global[0], device),
                suggestion_size(global[1], device), suggestion_size(global[2], device), &group[0],
                &group[1], &group[2]);
    for (int i = 0; i < 3; i++) {
        // Quirk useless-suggestions: one that does not divide is of no use.
        if (group[i] == 0 || global[i] % group[i] != 0)
            group[i] = 1;
    }
    return result;
}

static zepi_result_t count_groups(struct zepi_work_size *size, uint32_t work_dim,
                                  const size_t *global_size)
{
    uint32_t *counts = &size->count.groupCountX;
    static_assert(sizeof(size->count) == 3 * sizeof(*counts), "one count a dimension");
    for (uint32_t i = 0; i < work_dim; i++) {
        const size_t count = global_size[i] / size->group[i];
        if (global_size[i] % size->group[i] != 0)
            return zepi_fail_about(
                ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                "the global size %zu in dimension %u is no multiple of the group size "
                "%u",
                global_size[i], i, size->group[i]);
        if (count > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                             "the global size %zu in dimension %u makes %zu groups of %u, beyond "
                             "32 bits",
                             global_size[i], i, count, size->group[i]);
        counts[i] = (uint32_t)count;
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_work_size_init(struct zepi_work_size *size,
                                  const struct zepi_device_kernel *device_kernel,
                                  const struct zepi_device *device, ze_kernel_handle_t ze,
                                  uint32_t work_dim, const size_t *global_size,
                                  const size_t *group_size)
{
    uint32_t zeros = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    assert(work_dim >= 1 && work_dim <= 3);
    *size = (struct zepi_work_size){.group = {1, 1, 1}, .count = {1, 1, 1}};
    for (uint32_t i = 0; i < work_dim; i++) {
        if (group_size[i] > UINT32_MAX)
            return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                                   "the group size in dimension %u is %zu, beyond 32 bits", i,
                                   group_size[i]);
        size->group[i] = (uint32_t)group_size[i];
        size->is_empty = size->is_empty || global_size[i] == 0;
        zeros += group_size[i] == 0;
    }
    if (zeros > 0 && zeros < work_dim)
        return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                               "the group size is 0 in %u of %u dimensions; expected all, for a "
                               "suggestion, or none",
                               zeros, work_dim);
    if (size->is_empty || (zeros > 0 && !ze && device_kernel->properties.requiredGroupSizeX == 0))
        return ZEPI_SUCCESS;
    if (zeros > 0)
        result = suggest_group_size(size->group, device_kernel, device, ze, work_dim, global_size);
    if (result == ZEPI_SUCCESS)
        result = check_group_size(device_kernel, device, work_dim, size->group);
    return result == ZEPI_SUCCESS ? count_groups(size, work_dim, global_size) : result;
}

zepi_result_t zepi_work_offset_init(uint32_t offset[3], const struct zepi_device *device,
                                    uint32_t work_dim, const size_t *global_offset)
{
    memset(offset, 0, 3 * sizeof(offset[0]));
    for (uint32_t i = 0; i < work_dim; i++) {
        if (global_offset[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the global offset %zu is beyond 32 bits",
                             global_offset[i]);
        offset[i] = (uint32_t)global_offset[i];
    }
    if ((offset[0] | offset[1] | offset[2]) != 0 && !device->platform->optional.has_global_offset)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the driver lacks the extension for global offsets");
    return ZEPI_SUCCESS;
}
