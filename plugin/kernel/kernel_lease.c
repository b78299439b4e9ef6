// SPDX-License-Identifier: MIT
#include "kernel/kernel_lease.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "kernel/arguments.h"
#include "kernel/kernel_pool.h"
#include "memory/buffer.h"

struct zepi_kernel_lease zepi_no_lease = {
    .last_sizes = &zepi_no_lease.sizes[0],
    .sizes[0].counts = UINT64_MAX, // no right launch has as many arguments
    .unrolled_count = ZEPI_LEASE_UNROLLED + 1,
};

void zepi_kernel_lease_free(struct zepi_kernel_lease *lease)
{
    zepi_ze.zeKernelDestroy(lease->ze);
    zepi_free(lease);
}

static struct zepi_kernel_lease *allocate(const struct zepi_kernel_pool *pool)
{
    const uint32_t count = pool->argument_count;
    struct zepi_kernel_lease *lease = zepi_allocate(
        1, sizeof(*lease) + count * (sizeof(lease->arguments[0]) + sizeof(lease->pointers[0]) +
                                     sizeof(lease->words[0])));
    if (!lease)
        return NULL;
    lease->argument_count = count;
    lease->pointers = (void **)&lease->arguments[count];
    lease->words = (uintptr_t *)&lease->pointers[count];
    for (uint32_t i = 0; i < count; i++)
        lease->arguments[i] =
            (struct zepi_argument_memo){.target = &lease->unused, .least = UINTPTR_MAX};
    lease->unrolled_count = ZEPI_LEASE_UNROLLED + 1;
    // No right launch has as many arguments.
    for (uint32_t i = 0; i < ZEPI_LEASE_SIZES; i++)
        lease->sizes[i].counts = UINT64_MAX;
    lease->last_sizes = &lease->sizes[0];
    return lease;
}

zepi_result_t zepi_kernel_lease_create(const struct zepi_kernel_pool *pool,
                                       struct zepi_kernel_lease **out_lease)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = pool->name};
    const ze_kernel_indirect_access_flags_t access = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    struct zepi_kernel_lease *lease = allocate(pool);
    if (!lease)
        return zepi_fail_no_memory();
    zepi_result_t result = ZEPI_ZE(zeKernelCreate, pool->module, &desc, &lease->ze);
    if (result != ZEPI_SUCCESS) {
        zepi_free(lease);
        return result;
    }
    // Pointers that lie in memory, or in structures passed by value, are followed, too.
    result = ZEPI_ZE(zeKernelSetIndirectAccess, lease->ze, access);
    if (result != ZEPI_SUCCESS) {
        zepi_kernel_lease_free(lease);
        return result;
    }
    lease->context = zepi_code_of(pool->code)->context;
    lease->device = zepi_code_of(pool->code)->device;
    lease->driver_ze = lease->ze;
    if (zepi_code_of(pool->code)->context->platform->optional.is_launch_drivers)
        lease->driver_ze = zepi_ze_driver_handle(ZEL_HANDLE_KERNEL, lease->ze);
    *out_lease = lease;
    return ZEPI_SUCCESS;
}

// ---- What a launch looks like ----

// A buffer's handle is looked at in each launch: it may have been released since.
static bool take_buffer(struct zepi_kernel_lease *lease, uint32_t index,
                        const zepi_argument_t *argument)
{
    const struct zepi_buffer *buffer = argument->value;
    if (argument->kind != ZEPI_ARGUMENT_BUFFER || !zepi_object_is(buffer, &zepi_buffer_type) ||
        buffer->context != lease->context)
        return false;
    // A buffer that moves has been brought to the device: its place there has memory.
    lease->words[index] =
        (uintptr_t)(buffer->fixed
                        ? buffer->fixed
                        : buffer->places[zepi_buffer_place_of(buffer, lease->device)].memory);
    return true;
}

// All of them, of which there are as many as the kernel has.
static bool take_values(struct zepi_kernel_lease *lease, const zepi_argument_t *arguments)
{
    zepi_pair differs = {0, 0};
    for (uint32_t i = 0; i < lease->argument_count; i++) {
        const struct zepi_argument_memo *memo = &lease->arguments[i];
        if (memo->is_buffer && !take_buffer(lease, i, &arguments[i]))
            return false;
        if (!zepi_argument_take_value(memo, ZEPI_ARGUMENT_LIST(arguments), i, &differs) ||
            (memo->is_local && arguments[i].value))
            return false;
    }
    return (differs[0] | differs[1]) == 0;
}

bool zepi_kernel_lease_matches_any(struct zepi_kernel_lease *lease, const zepi_launch_desc_t *desc)
{
    return zepi_launch_sizes_match(lease->last_sizes, desc) &&
           (desc->arguments || desc->argument_count == 0) && take_values(lease, desc->arguments);
}

static void note_argument(struct zepi_kernel_lease *lease, uint32_t index,
                          const zepi_argument_t *argument)
{
    struct zepi_argument_memo *memo = &lease->arguments[index];
    memo->head = *(const zepi_loose_pair *)argument;
    memo->is_local = argument->kind == ZEPI_ARGUMENT_LOCAL;
    memo->least = argument->kind == ZEPI_ARGUMENT_VALUE;
    memo->is_buffer = argument->kind == ZEPI_ARGUMENT_BUFFER;
    memo->size_bytes = argument->kind == ZEPI_ARGUMENT_POINTER || memo->is_buffer
                           ? (uint32_t)sizeof(void *)
                           : (uint32_t)argument->size_bytes;
    memo->indexed = (zepi_pair){(uint64_t)argument->kind | (uint64_t)index << 32, memo->size_bytes};
    switch (argument->kind) {
    case ZEPI_ARGUMENT_VALUE:
        memo->target = (uintptr_t *)&lease->pointers[index];
        break;
    case ZEPI_ARGUMENT_LOCAL:
        lease->pointers[index] = &lease->words[index];
        lease->words[index] = argument->size_bytes;
        memo->target = &lease->unused;
        lease->takeable_count = ZEPI_LEASE_UNROLLED + 1;
        break;
    case ZEPI_ARGUMENT_BUFFER:
        lease->pointers[index] = &lease->words[index];
        memo->target = &lease->unused;
        lease->takeable_count = ZEPI_LEASE_UNROLLED + 1;
        break;
    default:
        lease->pointers[index] = &lease->words[index];
        memo->target = &lease->words[index];
    }
}

static zepi_result_t check_arguments(struct zepi_kernel_lease *lease,
                                     const struct zepi_kernel_pool *pool,
                                     const struct zepi_device *device,
                                     const zepi_launch_desc_t *desc)
{
    const zepi_result_t result =
        zepi_arguments_check(pool, device, desc->argument_count, desc->arguments);
    if (result != ZEPI_SUCCESS)
        return result;
    if (take_values(lease, desc->arguments))
        return ZEPI_SUCCESS;
    for (uint32_t i = 0; i < desc->argument_count; i++) {
        if (desc->arguments[i].size_bytes > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "argument %u has %zu bytes", i,
                             desc->arguments[i].size_bytes);
    }
    lease->is_state_known = false;
    lease->takeable_count = lease->argument_count <= ZEPI_LEASE_UNROLLED ? lease->argument_count
                                                                         : ZEPI_LEASE_UNROLLED + 1;
    for (uint32_t i = 0; i < desc->argument_count; i++)
        note_argument(lease, i, &desc->arguments[i]);
    take_values(lease, desc->arguments);
    return ZEPI_SUCCESS;
}

static void note_sizes(struct zepi_kernel_lease *lease, const zepi_launch_desc_t *desc,
                       const struct zepi_work_size *size)
{
    struct zepi_launch_sizes *sizes = &lease->sizes[lease->next_sizes];
    lease->next_sizes = (lease->next_sizes + 1) % ZEPI_LEASE_SIZES;
    memcpy(&sizes->counts, &desc->argument_count, sizeof(sizes->counts));
    for (uint32_t i = 0; i < desc->work_dim; i++) {
        sizes->global[i] = desc->global_size[i];
        sizes->group[i] = desc->group_size[i];
        sizes->offset[i] = desc->global_offset[i];
    }
    sizes->has_more = desc->work_dim > 1;
    sizes->size = *size;
    lease->last_sizes = sizes;
}

static zepi_result_t check_sizes(struct zepi_kernel_lease *lease,
                                 const struct zepi_kernel_pool *pool,
                                 const struct zepi_device *device, const zepi_launch_desc_t *desc,
                                 bool *out_is_empty)
{
    struct zepi_work_size size;
    *out_is_empty = false;
    for (uint32_t i = 0; i < ZEPI_LEASE_SIZES; i++) {
        if (zepi_launch_sizes_match(&lease->sizes[i], desc)) {
            lease->last_sizes = &lease->sizes[i];
            return ZEPI_SUCCESS;
        }
    }
    const zepi_result_t result = zepi_work_size_init(&size, pool, device, lease->ze, desc->work_dim,
                                                     desc->global_size, desc->group_size);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_is_empty = size.is_empty;
    if (!size.is_empty)
        note_sizes(lease, desc, &size);
    return ZEPI_SUCCESS;
}

// The offset is no argument of a launch: it stays on the ze_kernel.
static zepi_result_t set_offset(struct zepi_kernel_lease *lease, const struct zepi_device *device,
                                const zepi_launch_desc_t *desc)
{
    uint32_t offset[3] = {0};
    for (uint32_t i = 0; i < desc->work_dim; i++) {
        if (desc->global_offset[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the global offset %zu is beyond 32 bits",
                             desc->global_offset[i]);
        offset[i] = (uint32_t)desc->global_offset[i];
    }
    if (memcmp(offset, lease->offset, sizeof(offset)) == 0)
        return ZEPI_SUCCESS;
    if (!device->platform->optional.has_global_offset)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the driver lacks the extension for global offsets");
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGlobalOffsetExp, lease->ze, offset[0], offset[1], offset[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(lease->offset, offset, sizeof(offset));
    return result;
}

zepi_result_t zepi_kernel_lease_check(struct zepi_kernel_lease *lease,
                                      const struct zepi_kernel_pool *pool,
                                      const struct zepi_device *device,
                                      const zepi_launch_desc_t *desc, bool *out_is_empty)
{
    zepi_result_t result = check_arguments(lease, pool, device, desc);
    if (result == ZEPI_SUCCESS)
        result = check_sizes(lease, pool, device, desc, out_is_empty);
    if (result == ZEPI_SUCCESS && !*out_is_empty)
        result = set_offset(lease, device, desc);
    lease->unrolled_count = lease->takeable_count;
    if (result == ZEPI_SUCCESS)
        return ZEPI_SUCCESS;
    // The next launch is not found right by this one, whatever it says.
    lease->last_sizes->counts = UINT64_MAX;
    lease->unrolled_count = ZEPI_LEASE_UNROLLED + 1;
    return result;
}

// ---- What is set on the ze_kernel ----

static zepi_result_t set_group_size(struct zepi_kernel_lease *lease)
{
    const uint32_t *group = lease->last_sizes->size.group;
    if (lease->is_state_known && memcmp(group, lease->group_size, sizeof(lease->group_size)) == 0)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        ZEPI_ZE(zeKernelSetGroupSize, lease->ze, group[0], group[1], group[2]);
    if (result == ZEPI_SUCCESS)
        memcpy(lease->group_size, group, sizeof(lease->group_size));
    return result;
}

// Without a call; values of odd sizes, of which there are few, by one.
static inline uint64_t read_value(const void *value, uint32_t size_bytes)
{
    uint64_t wide = 0;
    uint32_t narrow;
    switch (size_bytes) {
    case sizeof(wide):
        memcpy(&wide, value, sizeof(wide));
        return wide;
    case sizeof(narrow):
        memcpy(&narrow, value, sizeof(narrow));
        return narrow;
    default:
        memcpy(&wide, value, size_bytes);
        return wide;
    }
}

zepi_result_t zepi_kernel_lease_set_state(struct zepi_kernel_lease *lease)
{
    const bool is_known = lease->is_state_known;
    zepi_result_t result = set_group_size(lease);
    for (uint32_t i = 0; i < lease->argument_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_argument_memo *memo = &lease->arguments[i];
        const bool is_comparable = memo->size_bytes <= sizeof(memo->set_value) || memo->is_local;
        const uint64_t value = memo->is_local  ? 0
                               : is_comparable ? read_value(lease->pointers[i], memo->size_bytes)
                                               : 0;
        if (is_known && is_comparable && value == memo->set_value)
            continue;
        result = ZEPI_ZE(zeKernelSetArgumentValue, lease->ze, i, memo->size_bytes,
                         memo->is_local ? NULL : lease->pointers[i]);
        memo->set_value = value;
        if (result != ZEPI_SUCCESS)
            zepi_error_append(", for argument %u of %u bytes", i, memo->size_bytes);
    }
    lease->is_state_known = result == ZEPI_SUCCESS;
    return result;
}
