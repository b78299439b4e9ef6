// SPDX-License-Identifier: MIT
#include "checks/check.h"

__extension__ typedef unsigned __int128 wide;

static bool fail(struct zepi_fault *out_fault, enum zepi_fault_kind kind)
{
    out_fault->kind = kind;
    return false;
}

zepi_result_t zepi_fault_fail(const struct zepi_fault *fault)
{
    const zepi_result_t size = ZEPI_ERROR_INVALID_SIZE;
    const char *what = fault->what;
    const size_t has = fault->has, wanted = fault->wanted;
    switch (fault->kind) {
    case ZEPI_FAULT_NO_LIST:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %zu",
                         wanted);
    case ZEPI_FAULT_EVENT:
        return zepi_fail_object(fault->object, &zepi_event_type);
    case ZEPI_FAULT_PLATFORM:
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "an event of the wait list is of another platform than the queue");
    case ZEPI_FAULT_NULL:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s is NULL", what);
    case ZEPI_FAULT_EMPTY:
        return zepi_fail(size, "%s is 0 bytes, expected some", what);
    case ZEPI_FAULT_END:
        if (!fault->object)
            return zepi_fail(size, "the rectangle reaches past the end of %s of %zu bytes", what,
                             has);
        return zepi_fail(size, "%s is %zu bytes from %p on, its allocation has %zu there", what,
                         wanted, fault->object, has);
    case ZEPI_FAULT_WRAP:
        return zepi_fail(size, "%s is %zu bytes from %p on, which reach past the end of memory",
                         what, wanted, fault->object);
    case ZEPI_FAULT_ROW_PITCH:
        return zepi_fail(
            size, "%s: the row pitch is %zu bytes, expected at least %zu, the region's width", what,
            has, wanted);
    case ZEPI_FAULT_SLICE_PITCH:
        return zepi_fail(size,
                         "%s: the slice pitch is %zu bytes, expected at least %zu, the row pitch "
                         "times the region's height",
                         what, has, wanted);
    case ZEPI_FAULT_IMAGE:
        return zepi_fail(size, "a region of %zu pixels in a dimension in which the image has %zu",
                         wanted, has);
    case ZEPI_FAULT_TOO_LARGE:
    case ZEPI_FAULT_32_BITS:
        return zepi_fail(size, "%s: the rectangle is beyond %d bits", what,
                         fault->kind == ZEPI_FAULT_TOO_LARGE ? 64 : 32);
    case ZEPI_FAULT_ROW_32_BITS:
        return zepi_fail(size, "%s: a row pitch of %zu bytes is beyond 32 bits", what, has);
    case ZEPI_FAULT_SLICE_32_BITS:
        return zepi_fail(size,
                         "%s: a slice pitch of %zu bytes is beyond 32 bits: copy single slices "
                         "from where they begin",
                         what, has);
    }
    return ZEPI_ERROR_UNKNOWN;
}

bool zepi_check_events(const struct zepi_context *context, zepi_wait_list_t wait,
                       struct zepi_fault *out_fault)
{
    *out_fault = (struct zepi_fault){.kind = ZEPI_FAULT_NO_LIST, .wanted = wait.count};
    if (!wait.events)
        return false;
    for (uint32_t i = 0; i < wait.count; i++) {
        const struct zepi_event *event = wait.events[i];
        const bool is_event = zepi_object_is(event, &zepi_event_type);
        if (is_event && event->context->platform == context->platform)
            continue;
        out_fault->object = event;
        return fail(out_fault, is_event ? ZEPI_FAULT_PLATFORM : ZEPI_FAULT_EVENT);
    }
    return true;
}

bool zepi_check_any_range(struct zepi_context *context, const char *what, const void *memory,
                          size_t size_bytes, struct zepi_fault *out_fault)
{
    *out_fault = (struct zepi_fault){.what = what, .object = memory, .wanted = size_bytes};
    if (!memory || size_bytes == 0)
        return fail(out_fault, memory ? ZEPI_FAULT_EMPTY : ZEPI_FAULT_NULL);
    out_fault->has = zepi_usm_room(context, memory, size_bytes);
    if (size_bytes > out_fault->has)
        return fail(out_fault, ZEPI_FAULT_END);
    return size_bytes <= UINTPTR_MAX - (uintptr_t)memory || fail(out_fault, ZEPI_FAULT_WRAP);
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

bool zepi_check_rect(const char *what, const zepi_rect_t *rect, const size_t region[3],
                     size_t capacity, struct zepi_layout *out_layout, size_t *out_size_bytes,
                     struct zepi_fault *out_fault)
{
    const size_t *origin = rect->origin_bytes;
    const size_t row = rect->row_pitch_bytes ? rect->row_pitch_bytes : region[0];
    const wide least = (wide)row * region[1];
    const wide slice = rect->slice_pitch_bytes ? rect->slice_pitch_bytes : least;
    const bool is_single = region[2] == 1 && origin[2] == 0;
    *out_fault = (struct zepi_fault){.what = what, .wanted = region[0], .has = row};
    if (region[0] == 0 || region[1] == 0 || region[2] == 0)
        return fail(out_fault, ZEPI_FAULT_EMPTY);
    if (row < region[0])
        return fail(out_fault, ZEPI_FAULT_ROW_PITCH);
    const wide end = end_of(origin, region, row, slice);
    if (end > capacity) {
        out_fault->has = capacity;
        return fail(out_fault, capacity == SIZE_MAX ? ZEPI_FAULT_TOO_LARGE : ZEPI_FAULT_END);
    }
    if (row > UINT32_MAX)
        return fail(out_fault, ZEPI_FAULT_ROW_32_BITS);
    out_fault->wanted = (size_t)least;
    out_fault->has = (size_t)slice;
    if (slice < least)
        return fail(out_fault, ZEPI_FAULT_SLICE_PITCH);
    if (slice > UINT32_MAX && !is_single)
        return fail(out_fault, ZEPI_FAULT_SLICE_32_BITS);
    for (int i = 0; i < 3; i++) {
        if (origin[i] > UINT32_MAX || region[i] > UINT32_MAX)
            return fail(out_fault, ZEPI_FAULT_32_BITS);
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
    return true;
}
