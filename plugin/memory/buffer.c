// SPDX-License-Identifier: MIT
#include "memory/buffer.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "memory/usm.h"
#include "queue/copy.h"
#include "queue/queue.h"

#include <string.h>

// What outlives the object until commands are over.
struct zepi_buffer_place {
    struct zepi_retired retired;
    struct zepi_context *context; // borrowed: it ends what is retired before it goes
    void *memory;                 // NULL: none to free
};

static void place_destroy(struct zepi_retired *retired)
{
    struct zepi_buffer_place *place = (struct zepi_buffer_place *)retired;
    if (place->memory)
        zepi_usm_give(place->context, place->memory);
    zepi_free(place);
}

static void buffer_destroy(void *object)
{
    struct zepi_buffer *buffer = object;
    if (buffer->place)
        zepi_retire_later(&buffer->context->retire, &buffer->place->retired);
    zepi_release(buffer->context);
}

ZEPI_DEFINE_TYPE(buffer, buffer_destroy);

static zepi_usm_kind_t kind_for(const struct zepi_context *context)
{
    const bool is_apart = context->device_count == 1 && !(context->devices[0]->properties.flags &
                                                          ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
    return is_apart ? ZEPI_USM_DEVICE : ZEPI_USM_HOST;
}

// Through a queue for this copy alone.
static zepi_result_t copy_to_device(struct zepi_buffer *buffer, const void *data)
{
    zepi_queue_t queue;
    struct zepi_context *context = buffer->context;
    zepi_result_t result =
        zepi_queue_create(context, context->devices[0], ZEPI_QUEUE_IN_ORDER, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_queue_copy(queue, buffer->memory, data, buffer->size_bytes,
                             (zepi_wait_list_t){NULL, 0}, NULL);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_wait(queue);
    zepi_release(queue);
    return result;
}

static zepi_result_t fill(struct zepi_buffer *buffer, const void *data)
{
    if (!data)
        return ZEPI_SUCCESS;
    if (buffer->kind == ZEPI_USM_DEVICE)
        return copy_to_device(buffer, data);
    memcpy(buffer->memory, data, buffer->size_bytes);
    return ZEPI_SUCCESS;
}

// The more memory waits to be freed, the sooner somebody looks.
static uint32_t weight_of(size_t size_bytes)
{
    const size_t weight = ZEPI_RETIRE_WEIGHT_HANDLE + (size_bytes >> 16);
    return weight < ZEPI_RETIRE_LIMIT ? (uint32_t)weight : ZEPI_RETIRE_LIMIT - 1;
}

static zepi_result_t allocate(struct zepi_buffer *buffer)
{
    void *memory;
    struct zepi_device *device =
        buffer->kind == ZEPI_USM_DEVICE ? buffer->context->devices[0] : NULL;
    const zepi_result_t result =
        zepi_usm_allocate(buffer->context, device, buffer->kind, buffer->size_bytes, 0, &memory);
    if (result == ZEPI_SUCCESS)
        buffer->memory = buffer->place->memory = memory;
    buffer->place->retired.weight = weight_of(buffer->size_bytes);
    return result;
}

static struct zepi_buffer *create(struct zepi_context *context)
{
    struct zepi_buffer *buffer = zepi_object_create(&zepi_buffer_type);
    if (!buffer)
        return NULL;
    buffer->context = zepi_retain(context);
    buffer->place = zepi_allocate(1, sizeof(*buffer->place));
    if (!buffer->place) {
        zepi_fail_no_memory();
        zepi_release(buffer);
        return NULL;
    }
    buffer->place->context = context;
    buffer->place->retired.weight = ZEPI_RETIRE_WEIGHT_HANDLE;
    buffer->place->retired.destroy = place_destroy;
    return buffer;
}

zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer)
{
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_buffer)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the buffer is NULL");
    if (size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "a buffer of 0 bytes");
    struct zepi_buffer *buffer = create(context);
    if (!buffer)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    buffer->size_bytes = size_bytes;
    buffer->kind = kind_for(context);
    result = allocate(buffer);
    if (result == ZEPI_SUCCESS)
        result = fill(buffer, host_data);
    if (result != ZEPI_SUCCESS) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_release(buffer);
        zepi_error_restore(&error);
        return result;
    }
    *out_buffer = buffer;
    return ZEPI_SUCCESS;
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
    struct zepi_buffer *buffer = create(context);
    if (!buffer)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    buffer->memory = memory;
    buffer->place->memory = ownership == ZEPI_OWNERSHIP_TRANSFER ? memory : NULL;
    buffer->kind = info.kind;
    buffer->size_bytes = info.size_bytes - (size_t)((char *)memory - (char *)info.base);
    *out_buffer = buffer;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes)
{
    uint32_t index;
    zepi_result_t result = zepi_check_object(buffer, &zepi_buffer_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_context_check_device(buffer->context, device, &index);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_address)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the address is NULL");
    *out_address = buffer->memory;
    if (out_size_bytes)
        *out_size_bytes = buffer->size_bytes;
    return ZEPI_SUCCESS;
}
