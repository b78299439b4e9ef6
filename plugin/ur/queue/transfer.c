// SPDX-License-Identifier: MIT
#include "ur/queue/transfer.h"

static zepi_rect_t rect_of(const struct zepi_ur_rect *rect)
{
    return (zepi_rect_t){.origin_bytes = {rect->origin.x, rect->origin.y, rect->origin.z},
                         .row_pitch_bytes = rect->row_pitch,
                         .slice_pitch_bytes = rect->slice_pitch};
}

// Unified Runtime's own rule.
static ur_result_t check_slice_pitch(const struct zepi_ur_rect *rect, ur_rect_region_t region)
{
    const size_t row = rect->row_pitch ? rect->row_pitch : region.width;
    return rect->slice_pitch % row == 0
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "a slice pitch of %zu bytes, expected a multiple of the row pitch "
                                "of %zu",
                                rect->slice_pitch, row);
}

ur_result_t zepi_ur_read_buffer_rect(const struct zepi_ur_mem *mem, const struct zepi_ur_rect *rect,
                                     ur_rect_region_t region, struct zepi_layout *out_layout)
{
    const zepi_rect_t own = rect_of(rect);
    const size_t box[3] = {region.width, region.height, region.depth};
    struct zepi_fault fault;
    size_t size;
    return zepi_check_rect("the buffer", &own, box, mem->size_bytes, out_layout, &size, &fault)
               ? check_slice_pitch(rect, region)
               : zepi_ur_fail_check(&fault);
}

ur_result_t zepi_ur_read_memory_rect(struct zepi_context *context, const char *name,
                                     const void *memory, const struct zepi_ur_rect *rect,
                                     ur_rect_region_t region, struct zepi_layout *out_layout)
{
    const zepi_rect_t own = rect_of(rect);
    const size_t box[3] = {region.width, region.height, region.depth};
    struct zepi_fault fault;
    return zepi_check_rect_in_memory(context, name, memory, &own, box, out_layout, &fault)
               ? check_slice_pitch(rect, region)
               : zepi_ur_fail_check(&fault);
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
