// SPDX-License-Identifier: MIT
#include "memory/value_buffer.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"

#define PIECE_BYTES 256
#define BLOCK_PIECES 64

struct zepi_value_block {
    struct zepi_value_block *next;
    void *memory;
    struct zepi_value_buffer pieces[BLOCK_PIECES];
};

void zepi_value_buffers_init(struct zepi_value_buffers *buffers)
{
    pthread_mutex_init(&buffers->mutex, NULL);
}

void zepi_value_buffers_finish(struct zepi_value_buffers *buffers, struct zepi_context *context)
{
    while (buffers->blocks) {
        struct zepi_value_block *block = buffers->blocks;
        buffers->blocks = block->next;
        zepi_ze.zeMemFree(context->ze, block->memory);
        zepi_free(block);
    }
    pthread_mutex_destroy(&buffers->mutex);
}

static zepi_result_t allocate(const struct zepi_context *context, size_t size_bytes,
                              void **out_memory)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    return ZEPI_ZE(zeMemAllocHost, context->ze, &desc, size_bytes, PIECE_BYTES, out_memory);
}

static zepi_result_t add_block(struct zepi_context *context, struct zepi_value_buffer **out_buffer)
{
    struct zepi_value_buffers *buffers = &context->value_buffers;
    struct zepi_value_block *block = zepi_allocate(1, sizeof(*block));
    if (!block)
        return zepi_fail_no_memory();
    const zepi_result_t result =
        allocate(context, (size_t)PIECE_BYTES * BLOCK_PIECES, &block->memory);
    if (result != ZEPI_SUCCESS) {
        zepi_free(block);
        return result;
    }
    for (size_t i = 0; i < BLOCK_PIECES; i++)
        block->pieces[i] =
            (struct zepi_value_buffer){.context = context,
                                       .next = &block->pieces[i] + 1,
                                       .memory = (char *)block->memory + i * PIECE_BYTES};
    pthread_mutex_lock(&buffers->mutex);
    block->next = buffers->blocks;
    buffers->blocks = block;
    block->pieces[BLOCK_PIECES - 1].next = buffers->free;
    buffers->free = &block->pieces[1];
    pthread_mutex_unlock(&buffers->mutex);
    *out_buffer = &block->pieces[0];
    return ZEPI_SUCCESS;
}

static zepi_result_t allocate_own(struct zepi_context *context, size_t size_bytes,
                                  struct zepi_value_buffer **out_buffer)
{
    struct zepi_value_buffer *buffer = zepi_allocate(1, sizeof(*buffer));
    if (!buffer)
        return zepi_fail_no_memory();
    buffer->context = context;
    buffer->is_own = true;
    const zepi_result_t result = allocate(context, size_bytes, &buffer->memory);
    if (result != ZEPI_SUCCESS) {
        zepi_free(buffer);
        return result;
    }
    *out_buffer = buffer;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_value_buffer_take(struct zepi_context *context, size_t size_bytes,
                                     struct zepi_value_buffer **out_buffer)
{
    struct zepi_value_buffers *buffers = &context->value_buffers;
    if (size_bytes > PIECE_BYTES)
        return allocate_own(context, size_bytes, out_buffer);
    pthread_mutex_lock(&buffers->mutex);
    struct zepi_value_buffer *buffer = buffers->free;
    if (buffer)
        buffers->free = buffer->next;
    pthread_mutex_unlock(&buffers->mutex);
    if (!buffer)
        return add_block(context, out_buffer);
    *out_buffer = buffer;
    return ZEPI_SUCCESS;
}

static void give(struct zepi_retired *retired)
{
    struct zepi_value_buffer *buffer = (struct zepi_value_buffer *)retired;
    struct zepi_context *context = buffer->context;
    if (buffer->is_own) {
        zepi_ze.zeMemFree(context->ze, buffer->memory);
        zepi_free(buffer);
        return;
    }
    pthread_mutex_lock(&context->value_buffers.mutex);
    buffer->next = context->value_buffers.free;
    context->value_buffers.free = buffer;
    pthread_mutex_unlock(&context->value_buffers.mutex);
}

void zepi_value_buffer_retire(struct zepi_value_buffer *buffer)
{
    buffer->retired.weight = ZEPI_RETIRE_WEIGHT_EVENT;
    buffer->retired.destroy = give;
    zepi_retire_later(&buffer->context->retire, &buffer->retired);
}
