// SPDX-License-Identifier: MIT
#include "launch/work_size.h"

#include "device/device.h"
#include "device/platform.h"
#include "launch/launch_record.h"
#include "ze/ze.h"

static zepi_result_t check_group_size(const struct zepi_device_kernel *device_kernel,
                                      const struct zepi_device *device, const uint32_t group[3])
{
    const uint32_t most = device->compute.maxTotalGroupSize;
    const ze_kernel_properties_t *properties = &device_kernel->properties;
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
    if (most > 0 && total > most)
        return zepi_fail_about(
            ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
            "a group of %u x %u x %u has %llu work-items, the device takes at most %u", group[0],
            group[1], group[2], (unsigned long long)total, most);
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

static zepi_result_t set_group_count(struct zepi_work_size *size, const struct zepi_device *device,
                                     uint32_t dimension, size_t global)
{
    const uint32_t *most = &device->compute.maxGroupSizeX;
    uint32_t *counts = &size->count.groupCountX;
    static_assert(offsetof(ze_device_compute_properties_t, maxGroupSizeZ) ==
                      offsetof(ze_device_compute_properties_t, maxGroupSizeX) + 2 * sizeof(*most),
                  "one after another");
    static_assert(sizeof(size->count) == 3 * sizeof(*counts), "one count a dimension");
    const uint32_t group = size->group[dimension];
    const size_t count = global / group;
    // Quirk no-limits: 0 limits nothing.
    if (most[dimension] > 0 && group > most[dimension])
        return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                               "the group size is %u in dimension %u, the device takes at most %u",
                               group, dimension, most[dimension]);
    if (global % group != 0)
        return zepi_fail_about(
            ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
            "the global size %zu in dimension %u is no multiple of the group size %u", global,
            dimension, group);
    if (count > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the global size %zu in dimension %u makes %zu groups of %u, beyond 32 "
                         "bits",
                         global, dimension, count, group);
    counts[dimension] = (uint32_t)count;
    return ZEPI_SUCCESS;
}

static zepi_result_t set_offset(struct zepi_work_size *size, const struct zepi_device *device,
                                uint32_t dimension, size_t offset)
{
    if (offset > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the global offset %zu is beyond 32 bits",
                         offset);
    if (offset > 0 && !device->platform->optional.has_global_offset)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the driver lacks the extension for global offsets");
    size->offset[dimension] = (uint32_t)offset;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_work_size_init(struct zepi_work_size *size,
                                  const struct zepi_device_kernel *device_kernel,
                                  const struct zepi_device *device, ze_kernel_handle_t ze,
                                  const struct zepi_launch *launch)
{
    const uint32_t work_dim = launch->work_dim;
    uint32_t zeros = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    assert(work_dim >= 1 && work_dim <= 3);
    *size = (struct zepi_work_size){.group = {1, 1, 1}, .count = {1, 1, 1}};
    for (uint32_t i = 0; i < work_dim; i++) {
        const size_t group = launch->group_size[i];
        if (group > UINT32_MAX)
            return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                                   "the group size in dimension %u is %zu, beyond 32 bits", i,
                                   group);
        size->group[i] = (uint32_t)group;
        size->is_empty = size->is_empty || launch->global_size[i] == 0;
        zeros += group == 0;
    }
    if (zeros > 0 && zeros < work_dim)
        return zepi_fail_about(ZEPI_SUBJECT_GROUP_SIZE, ZEPI_ERROR_INVALID_SIZE,
                               "the group size is 0 in %u of %u dimensions; expected all, for a "
                               "suggestion, or none",
                               zeros, work_dim);
    if (size->is_empty)
        return ZEPI_SUCCESS;
    // A size that is suggested later is right.
    const bool is_known = zeros == 0 || ze || device_kernel->properties.requiredGroupSizeX > 0;
    if (zeros > 0 && is_known)
        result = suggest_group_size(size->group, device_kernel, device, ze, work_dim,
                                    launch->global_size);
    if (result == ZEPI_SUCCESS && is_known)
        result = check_group_size(device_kernel, device, size->group);
    // A required size has three dimensions, and may exceed the 1 of one that the launch lacks.
    for (uint32_t i = 0; i < 3 && result == ZEPI_SUCCESS && is_known; i++)
        result = set_group_count(size, device, i, i < work_dim ? launch->global_size[i] : 1);
    for (uint32_t i = 0; i < work_dim && result == ZEPI_SUCCESS; i++)
        result = set_offset(size, device, i, launch->global_offset[i]);
    return result;
}
