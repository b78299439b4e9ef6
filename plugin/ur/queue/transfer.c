// SPDX-License-Identifier: MIT
#include "ur/queue/transfer.h"

static ur_result_t check_end(const struct zepi_context *context, const struct zepi_ur_end *end)
{
    return end->name ? UR_RESULT_SUCCESS : zepi_ur_check_buffer(end->buffer, context);
}

ur_result_t zepi_ur_check_ends(const struct zepi_context *context, const struct zepi_ur_end *to,
                               const struct zepi_ur_end *from)
{
    const ur_result_t result = check_end(context, from);
    return result ? result : check_end(context, to);
}

static ur_result_t check_bytes(struct zepi_context *context, const struct zepi_ur_end *end,
                               size_t size)
{
    return end->name ? zepi_ur_check_range(context, end->memory, size, end->name)
                     : zepi_ur_check_buffer_range(zepi_ur_mem(end->buffer), end->offset, size);
}

ur_result_t zepi_ur_check_bytes(struct zepi_context *context, const struct zepi_ur_end *to,
                                const struct zepi_ur_end *from, size_t size)
{
    const ur_result_t result = check_bytes(context, from, size);
    return result ? result : check_bytes(context, to, size);
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
        end->name
            ? zepi_check_rect_in_memory(context, end->name, end->memory, &own, box, out_layout)
            : zepi_check_rect("buffer", &own, box, zepi_ur_mem(end->buffer)->size_bytes, out_layout,
                              &size));
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

ur_result_t zepi_ur_read_rects(struct zepi_context *context, const struct zepi_ur_end *to,
                               const struct zepi_ur_end *from, ur_rect_region_t region,
                               struct zepi_transfer *out_transfer)
{
    struct zepi_layout *to_layout = &out_transfer->to_layout;
    struct zepi_layout *from_layout = &out_transfer->from_layout;
    // The end of a buffer is known; that of memory may not be.
    ur_result_t result = to->name ? UR_RESULT_SUCCESS : read_rect(context, to, region, to_layout);
    result = result ? result : read_rect(context, from, region, from_layout);
    return result || !to->name ? result : read_rect(context, to, region, to_layout);
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

uint32_t zepi_ur_advice_bits(ur_usm_advice_flags_t advice)
{
    static const struct {
        ur_usm_advice_flags_t ur;
        zepi_advice_t zepi;
    } table[] = {
        {UR_USM_ADVICE_FLAG_SET_READ_MOSTLY, ZEPI_ADVICE_SET_READ_MOSTLY},
        {UR_USM_ADVICE_FLAG_CLEAR_READ_MOSTLY, ZEPI_ADVICE_CLEAR_READ_MOSTLY},
        {UR_USM_ADVICE_FLAG_SET_PREFERRED_LOCATION, ZEPI_ADVICE_SET_PREFERRED_LOCATION},
        {UR_USM_ADVICE_FLAG_CLEAR_PREFERRED_LOCATION, ZEPI_ADVICE_CLEAR_PREFERRED_LOCATION},
        {UR_USM_ADVICE_FLAG_SET_NON_ATOMIC_MOSTLY, ZEPI_ADVICE_SET_NON_ATOMIC_MOSTLY},
        {UR_USM_ADVICE_FLAG_CLEAR_NON_ATOMIC_MOSTLY, ZEPI_ADVICE_CLEAR_NON_ATOMIC_MOSTLY},
        {UR_USM_ADVICE_FLAG_BIAS_CACHED, ZEPI_ADVICE_BIAS_CACHED},
        {UR_USM_ADVICE_FLAG_BIAS_UNCACHED, ZEPI_ADVICE_BIAS_UNCACHED},
    };
    uint32_t bits = 0;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        bits |= advice & table[i].ur ? 1u << table[i].zepi : 0;
    return bits;
}
