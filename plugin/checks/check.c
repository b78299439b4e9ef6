// SPDX-License-Identifier: MIT
#include "checks/check.h"

__extension__ typedef unsigned __int128 wide;

zepi_result_t zepi_check_events(const struct zepi_context *context, zepi_wait_list_t wait)
{
    if (!wait.events)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %u",
                         wait.count);
    for (uint32_t i = 0; i < wait.count; i++) {
        const struct zepi_event *event = wait.events[i];
        const zepi_result_t result = zepi_check_object(event, &zepi_event_type);
        if (result != ZEPI_SUCCESS)
            return result;
        if (event->context->platform != context->platform)
            return zepi_fail_about(
                ZEPI_SUBJECT_CONTEXT, ZEPI_ERROR_INVALID_OBJECT,
                "an event of the wait list is of another platform than the queue");
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_check_any_range(struct zepi_context *context, const char *name,
                                   const void *memory, size_t size_bytes)
{
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", name);
    if (size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s is 0 bytes, expected some", name);
    const size_t room = zepi_usm_room(context, memory, size_bytes);
    if (size_bytes > room)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s is %zu bytes from %p on, its allocation has %zu there", name,
                         size_bytes, memory, room);
    if (size_bytes > UINTPTR_MAX - (uintptr_t)memory)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s is %zu bytes from %p on, which reach past the end of memory", name,
                         size_bytes, memory);
    return ZEPI_SUCCESS;
}

// From the memory's begin to the end of the rectangle; 2^64 for all that is more than a size holds.
static wide end_of(const size_t origin[3], const size_t region[3], size_t row, wide slice)
{
    const wide rows = (wide)origin[1] + region[1] - 1, slices = (wide)origin[2] + region[2] - 1;
    const wide beyond = (wide)SIZE_MAX + 1;
    // No product passes 128 bits.
    if (slice > SIZE_MAX || rows > SIZE_MAX || slices > SIZE_MAX || rows * row > SIZE_MAX ||
        slices * slice > SIZE_MAX)
        return beyond;
    const wide end = (wide)origin[0] + region[0] + rows * row + slices * slice;
    return end > SIZE_MAX ? beyond : end;
}

// Rows and slices do not overlap. Level Zero has 32 bits for each pitch that is used.
static zepi_result_t check_pitches(const char *name, size_t row, size_t least_row, size_t slice,
                                   size_t least_slice, bool is_slice_used)
{
    if (row < least_row)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch is %zu bytes, expected at least %zu, the region's "
                         "width",
                         name, row, least_row);
    if (row > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch of %zu bytes is beyond 32 bits", name, row);
    if (slice < least_slice)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch is %zu bytes, expected at least %zu, the row pitch "
                         "times the region's height",
                         name, slice, least_slice);
    if (slice > UINT32_MAX && is_slice_used)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch of %zu bytes is beyond 32 bits: copy single slices "
                         "from where they begin",
                         name, slice);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_check_rect(const char *name, const zepi_rect_t *rect, const size_t region[3],
                              size_t capacity, struct zepi_layout *out_layout,
                              size_t *out_size_bytes)
{
    const size_t *origin = rect->origin_bytes;
    const size_t row = rect->row_pitch_bytes ? rect->row_pitch_bytes : region[0];
    const wide least = (wide)row * region[1];
    const wide slice = rect->slice_pitch_bytes ? rect->slice_pitch_bytes : least;
    const bool is_single = region[2] == 1 && origin[2] == 0;
    if (region[0] == 0 || region[1] == 0 || region[2] == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s is 0 bytes, expected some", name);
    const wide end = end_of(origin, region, row, slice);
    if (end > capacity && capacity < SIZE_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the rectangle reaches past the end of the %s of %zu bytes", name,
                         capacity);
    if (end > SIZE_MAX || least > SIZE_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is too large", name);
    const zepi_result_t result =
        check_pitches(name, row, region[0], (size_t)slice, (size_t)least, !is_single);
    if (result != ZEPI_SUCCESS)
        return result;
    for (int i = 0; i < 3; i++) {
        if (origin[i] > UINT32_MAX || region[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is beyond 32 bits", name);
    }
    out_layout->region = (ze_copy_region_t){
        .originX = (uint32_t)origin[0],
        .originY = (uint32_t)origin[1],
        .originZ = (uint32_t)origin[2],
        .width = (uint32_t)region[0],
        .height = (uint32_t)region[1],
        .depth = (uint32_t)region[2],
    };
    out_layout->row_pitch_bytes = (uint32_t)row;
    out_layout->slice_pitch_bytes = is_single ? 0 : (uint32_t)slice;
    *out_size_bytes = (size_t)end;
    return ZEPI_SUCCESS;
}
