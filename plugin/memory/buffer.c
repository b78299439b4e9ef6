// SPDX-License-Identifier: MIT
#include "memory/buffer.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "ze/ze.h"

#include <string.h>

void zepi_buffer_copies_release(struct zepi_buffer_copy *copies)
{
    while (copies) {
        struct zepi_buffer_copy *next = copies->next;
        zepi_release(copies->event);
        zepi_free(copies);
        copies = next;
    }
}

static void buffer_destroy(void *object)
{
    struct zepi_buffer *buffer = object;
    if (buffer->is_owned)
        zepi_usm_put(buffer->context, buffer->fixed);
    for (uint32_t i = 0; i < buffer->location_count; i++) {
        zepi_buffer_copies_release(buffer->locations[i].copies);
        if (buffer->locations[i].memory && i != ZEPI_LOCATION_HOST)
            zepi_usm_put(buffer->context, buffer->locations[i].memory);
    }
    zepi_free(buffer->locations);
    zepi_buffer_contents_finish(&buffer->contents);
    zepi_release(buffer->context);
}

ZEPI_DEFINE_TYPE(buffer, buffer_destroy);

static bool has_memory_apart(const struct zepi_device *device)
{
    return !(device->properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
}

// Whether devices of the context have memory of their own that a buffer would move between.
static bool context_has_locations(const struct zepi_context *context)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < context->device_count; i++)
        count += has_memory_apart(context->devices[i]);
    return count > 0 && context->device_count > 1 &&
           context->device_count <= ZEPI_LOCATION_MAXIMUM - ZEPI_LOCATION_DEVICES;
}

static struct zepi_buffer *buffer_create_empty(struct zepi_context *context, size_t size_bytes)
{
    struct zepi_buffer *buffer = zepi_object_create(&zepi_buffer_type);
    if (!buffer)
        return NULL;
    buffer->context = zepi_retain(context);
    buffer->size_bytes = size_bytes;
    return buffer;
}

static zepi_result_t buffer_init_fixed(struct zepi_buffer *buffer, const void *data)
{
    struct zepi_context *context = buffer->context;
    struct zepi_device *device = context->device_count == 1 && has_memory_apart(context->devices[0])
                                     ? context->devices[0]
                                     : NULL;
    buffer->kind = device ? ZEPI_USM_DEVICE : ZEPI_USM_HOST;
    const zepi_result_t result =
        zepi_usm_allocate(context, device, buffer->kind, buffer->size_bytes, &buffer->fixed);
    buffer->is_owned = result == ZEPI_SUCCESS;
    if (result != ZEPI_SUCCESS || !data)
        return result;
    if (device)
        return (*zepi_usm_write_of(context))(context, device, buffer->fixed, data,
                                             buffer->size_bytes);
    memcpy(buffer->fixed, data, buffer->size_bytes);
    return ZEPI_SUCCESS;
}

static zepi_result_t buffer_init_moving(struct zepi_buffer *buffer, void *host_memory,
                                        const void *data)
{
    const uint32_t device_count = buffer->context->device_count;
    const uint32_t count =
        ZEPI_LOCATION_DEVICES +
        (device_count <= ZEPI_LOCATION_MAXIMUM - ZEPI_LOCATION_DEVICES ? device_count : 0);
    buffer->locations = zepi_allocate(count, sizeof(buffer->locations[0]));
    if (!buffer->locations)
        return zepi_fail_no_memory();
    buffer->location_count = count;
    buffer->locations[ZEPI_LOCATION_HOST].memory = host_memory;
    const uint64_t locations = host_memory ? ZEPI_BUFFER_LOCATION(ZEPI_LOCATION_HOST)
                               : data      ? ZEPI_BUFFER_LOCATION(ZEPI_LOCATION_SHARED)
                                           : 0;
    if (!zepi_buffer_contents_init(&buffer->contents, buffer->size_bytes, locations))
        return zepi_fail_no_memory();
    if (!data)
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_buffer_need_location(buffer, ZEPI_LOCATION_SHARED);
    if (result == ZEPI_SUCCESS)
        memcpy(buffer->locations[ZEPI_LOCATION_SHARED].memory, data, buffer->size_bytes);
    return result;
}

zepi_result_t zepi_buffer_create(struct zepi_context *context, size_t size_bytes, void *host_memory,
                                 const void *data, zepi_buffer_t *out_buffer)
{
    struct zepi_buffer *buffer = buffer_create_empty(context, size_bytes);
    if (!buffer)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const zepi_result_t result = host_memory || context_has_locations(context)
                                     ? buffer_init_moving(buffer, host_memory, data)
                                     : buffer_init_fixed(buffer, data);
    if (result == ZEPI_SUCCESS)
        *out_buffer = buffer;
    else
        zepi_release(buffer);
    return result;
}

zepi_result_t zepi_buffer_create_from_native(struct zepi_context *context, void *memory,
                                             zepi_ownership_t ownership, zepi_buffer_t *out_buffer)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    const zepi_result_t result = zepi_usm_get_info(context, memory, &info);
    if (result != ZEPI_SUCCESS)
        return result;
    if (info.kind == ZEPI_USM_UNKNOWN)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is no memory of the context", memory);
    struct zepi_buffer *buffer = buffer_create_empty(
        context, info.size_bytes - (size_t)((char *)memory - (char *)info.base));
    if (!buffer)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    buffer->fixed = memory;
    buffer->is_owned = ownership == ZEPI_OWNERSHIP_TRANSFER;
    buffer->kind = info.kind;
    *out_buffer = buffer;
    return ZEPI_SUCCESS;
}

uint32_t zepi_buffer_location_of(const struct zepi_buffer *buffer, const struct zepi_device *device)
{
    const uint32_t location =
        ZEPI_LOCATION_DEVICES + zepi_context_device_index(buffer->context, device);
    return has_memory_apart(device) && location < buffer->location_count ? location
                                                                         : ZEPI_LOCATION_SHARED;
}

zepi_result_t zepi_buffer_need_location(struct zepi_buffer *buffer, uint32_t location)
{
    void *memory;
    struct zepi_context *context = buffer->context;
    zepi_mutex_lock(&buffer->mutex);
    const bool is_there = buffer->locations[location].memory != NULL;
    zepi_mutex_unlock(&buffer->mutex);
    if (is_there)
        return ZEPI_SUCCESS;
    const bool is_device = location >= ZEPI_LOCATION_DEVICES;
    const zepi_result_t result = zepi_usm_allocate(
        context, is_device ? context->devices[location - ZEPI_LOCATION_DEVICES] : NULL,
        is_device ? ZEPI_USM_DEVICE : ZEPI_USM_HOST, buffer->size_bytes, &memory);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&buffer->mutex);
    // Another thread may have been faster.
    const bool is_spare = buffer->locations[location].memory != NULL;
    if (!is_spare)
        buffer->locations[location].memory = memory;
    zepi_mutex_unlock(&buffer->mutex);
    if (is_spare)
        zepi_usm_put(context, memory);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_buffer_get_location(struct zepi_buffer *buffer, const struct zepi_device *device,
                                       void **out_address)
{
    *out_address = buffer->fixed;
    if (buffer->fixed)
        return ZEPI_SUCCESS;
    const uint32_t location = zepi_buffer_location_of(buffer, device);
    const zepi_result_t result = zepi_buffer_need_location(buffer, location);
    if (result == ZEPI_SUCCESS)
        *out_address = buffer->locations[location].memory;
    return result;
}
