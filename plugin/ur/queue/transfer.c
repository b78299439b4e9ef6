// SPDX-License-Identifier: MIT
#include "ur/queue/transfer.h"

#include "copy/copy.h"
#include "queue/command/barrier.h"

// ---- Checks ----

static ur_result_t check_end(const struct zepi_context *context, const struct zepi_ur_end *end)
{
    return end->is_buffer ? zepi_ur_check_buffer(end->buffer, context) : UR_RESULT_SUCCESS;
}

static ur_result_t check_bytes(struct zepi_context *context, const struct zepi_ur_end *end,
                               size_t size)
{
    if (!end->name)
        return UR_RESULT_SUCCESS;
    return end->is_buffer ? zepi_ur_check_buffer_range(zepi_ur_mem(end->buffer), end->offset, size)
                          : zepi_ur_check_range(context, end->memory, size, end->name);
}

static ur_result_t read_rect(struct zepi_context *context, const struct zepi_ur_end *end,
                             ur_rect_region_t region, struct zepi_layout *out_layout)
{
    const struct zepi_ur_rect *rect = &end->rect;
    const zepi_rect_t own = {.origin_bytes = {rect->origin.x, rect->origin.y, rect->origin.z},
                             .row_pitch_bytes = rect->row_pitch,
                             .slice_pitch_bytes = rect->slice_pitch};
    const size_t box[3] = {region.width, region.height, region.depth};
    const size_t row = rect->row_pitch ? rect->row_pitch : region.width;
    size_t size;
    const ur_result_t result = zepi_ur_result_of_range(
        end->is_buffer
            ? zepi_check_rect("buffer", &own, box, zepi_ur_mem(end->buffer)->size_bytes, out_layout,
                              &size)
            : zepi_check_rect_in_memory(context, end->name, end->memory, &own, box, out_layout));
    if (result != UR_RESULT_SUCCESS)
        return result;
    // Unified Runtime's own rule.
    return rect->slice_pitch % row == 0
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "a slice pitch of %zu bytes, expected a multiple of the row pitch "
                                "of %zu",
                                rect->slice_pitch, row);
}

static ur_result_t read_rects(struct zepi_context *context, struct zepi_ur_transfer *transfer)
{
    const struct zepi_ur_end *to = &transfer->to;
    struct zepi_layout *to_layout = &transfer->core.to_layout;
    // The end of a buffer is known; that of memory may not be.
    ur_result_t result =
        to->is_buffer ? read_rect(context, to, transfer->region, to_layout) : UR_RESULT_SUCCESS;
    result =
        result ? result
               : read_rect(context, &transfer->from, transfer->region, &transfer->core.from_layout);
    return result || to->is_buffer ? result : read_rect(context, to, transfer->region, to_layout);
}

ur_result_t zepi_ur_check_pattern(const void *pattern, size_t pattern_size, size_t size)
{
    const ur_result_t result = zepi_ur_check_pointer(pattern, "pPattern");
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (size == 0 || pattern_size == 0 || pattern_size > size || size % pattern_size != 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "%zu bytes to fill with a pattern of %zu, expected a multiple", size,
                              pattern_size);
    return UR_RESULT_SUCCESS;
}

// The core's advices are these flags without the first one, in the same order. Further flags are
// hints without a counterpart.
static uint32_t advice_bits(ur_usm_advice_flags_t advice)
{
    static_assert(UR_USM_ADVICE_FLAG_SET_READ_MOSTLY >> 1 == 1 << ZEPI_ADVICE_SET_READ_MOSTLY &&
                      UR_USM_ADVICE_FLAG_BIAS_UNCACHED >> 1 == 1 << ZEPI_ADVICE_BIAS_UNCACHED,
                  "both have eight advices from read-mostly to uncached");
    return (advice >> 1) & ((2u << ZEPI_ADVICE_BIAS_UNCACHED) - 1);
}

static ur_result_t read_hint(struct zepi_ur_transfer *transfer)
{
    const uint32_t flags = transfer->flags;
    if (transfer->core.head.kind == ZEPI_COMMAND_ADVISE) {
        transfer->core.advice = advice_bits(flags);
        return zepi_ur_check_flags(flags, UR_USM_ADVICE_FLAGS_MASK);
    }
    // Level Zero moves memory to devices only.
    if (flags & UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST)
        transfer->core.head.kind = ZEPI_COMMAND_MARKER;
    return zepi_ur_check_flags(flags, UR_USM_MIGRATION_FLAGS_MASK);
}

// Of a fill. Rows without gaps, and a single one, are filled as bytes, of any number.
static bool has_rows(const struct zepi_ur_transfer *transfer)
{
    const size_t pitch = transfer->to.rect.row_pitch, width = transfer->region.width;
    return pitch > 0 && pitch != width && (transfer->region.height != 1 || pitch < width);
}

ur_result_t zepi_ur_transfer_read(struct zepi_context *context, struct zepi_ur_transfer *transfer)
{
    const struct zepi_transfer *core = &transfer->core;
    const size_t size = core->size_bytes;
    ur_result_t result;
    if ((result = check_end(context, &transfer->from)) ||
        (result = check_end(context, &transfer->to)))
        return result;
    if (core->head.kind == ZEPI_COMMAND_COPY_RECT)
        return read_rects(context, transfer);
    if ((result = check_bytes(context, &transfer->from, size)) ||
        (result = has_rows(transfer) ? read_rect(context, &transfer->to, transfer->region,
                                                 &transfer->core.to_layout)
                                     : check_bytes(context, &transfer->to, size)))
        return result;
    if (core->head.kind == ZEPI_COMMAND_FILL)
        return zepi_ur_check_pattern(core->pattern, core->pattern_size_bytes, size);
    // A buffer has ranges of 0 bytes.
    if (size == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a copy of 0 bytes");
    return core->head.kind == ZEPI_COMMAND_COPY ? UR_RESULT_SUCCESS : read_hint(transfer);
}

// ---- Commands of a queue ----

// Brings `size` bytes of a buffer, or all of it, to the queue's device.
static zepi_result_t use_end(struct zepi_buffer_uses *uses, const struct zepi_ur_end *end,
                             size_t size, enum zepi_buffer_access access, void **out_address)
{
    const struct zepi_ur_mem *mem = zepi_ur_mem(end->buffer);
    *out_address = end->memory;
    if (!end->is_buffer)
        return ZEPI_SUCCESS;
    const struct zepi_buffer_part part =
        zepi_ur_buffer_part(mem, end->offset, size > 0 ? size : mem->size_bytes);
    return zepi_buffer_use(uses, &part, access, ZEPI_BUFFER_ON_DEVICE, out_address);
}

static zepi_result_t enqueue_core(struct zepi_queue *queue, const struct zepi_transfer *core,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    switch (core->head.kind) {
    case ZEPI_COMMAND_COPY:
        return zepi_queue_copy(queue, core->to, core->from, core->size_bytes, wait, out_event);
    case ZEPI_COMMAND_MARKER:
        return zepi_queue_marker(queue, wait, out_event);
    default:
        return zepi_queue_transfer(queue, core, wait, out_event);
    }
}

static void hold_end(struct zepi_queue *queue, const struct zepi_ur_end *end)
{
    if (end->is_buffer)
        zepi_ur_hold_foreign(queue, zepi_ur_mem(end->buffer));
}

ur_result_t zepi_ur_enqueue_transfer(struct zepi_ur_command *command,
                                     struct zepi_ur_transfer *transfer, ur_command_t type)
{
    struct zepi_buffer_uses uses;
    struct zepi_transfer *core = &transfer->core;
    const size_t size = core->size_bytes; // 0: a rectangle
    void *from;
    ur_result_t result;
    if ((result = zepi_ur_command_begin(command)) ||
        (result = zepi_ur_transfer_read(command->queue->context, transfer)))
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_end(&uses, &transfer->from, size, ZEPI_BUFFER_READ, &from);
    core->from = from;
    if (done == ZEPI_SUCCESS)
        done = use_end(&uses, &transfer->to, size, ZEPI_BUFFER_WRITE, &core->to);
    if (done == ZEPI_SUCCESS)
        done = enqueue_core(command->queue, core, uses.wait, zepi_ur_command_event(command));
    zepi_buffer_uses_finish(&uses);
    if (done == ZEPI_SUCCESS) {
        hold_end(command->queue, &transfer->from);
        hold_end(command->queue, &transfer->to);
    }
    return zepi_ur_command_end(command, done, type);
}
