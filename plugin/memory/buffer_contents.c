// SPDX-License-Identifier: MIT
#include "memory/buffer_contents.h"

#include "core/alloc.h"

#include <assert.h>
#include <string.h>

#define FIRST_CAPACITY 4
// A change cuts at most two ranges in two.
#define CUTS 2
// Past so many ranges a written location takes over its whole ranges, in which it has the bytes
// anyway: small writes do not make the list grow.
#define FINE_RANGES 64

bool zepi_buffer_contents_init(struct zepi_buffer_contents *contents, size_t size_bytes,
                               uint64_t locations)
{
    contents->ranges = zepi_allocate(FIRST_CAPACITY, sizeof(contents->ranges[0]));
    if (!contents->ranges)
        return false;
    contents->capacity = FIRST_CAPACITY;
    contents->ranges[0] = (struct zepi_buffer_range){size_bytes, locations};
    contents->count = 1;
    return true;
}

void zepi_buffer_contents_finish(struct zepi_buffer_contents *contents)
{
    zepi_free(contents->ranges);
    *contents = (struct zepi_buffer_contents){0};
}

// Makes room for a change. False without memory.
static bool contents_reserve(struct zepi_buffer_contents *contents)
{
    if (contents->count + CUTS <= contents->capacity)
        return true;
    struct zepi_buffer_range *ranges =
        zepi_allocate((size_t)contents->capacity * 2, sizeof(ranges[0]));
    if (!ranges)
        return false;
    memcpy(ranges, contents->ranges, contents->count * sizeof(ranges[0]));
    zepi_free(contents->ranges);
    contents->ranges = ranges;
    contents->capacity *= 2;
    return true;
}

static size_t range_begin(const struct zepi_buffer_contents *contents, uint32_t index)
{
    return index > 0 ? contents->ranges[index - 1].end_bytes : 0;
}

// The range with the byte.
static uint32_t contents_find_range(const struct zepi_buffer_contents *contents, size_t at_bytes)
{
    uint32_t index = 0;
    while (index + 1 < contents->count && contents->ranges[index].end_bytes <= at_bytes)
        index++;
    return index;
}

bool zepi_buffer_contents_find_stale(const struct zepi_buffer_contents *contents, uint32_t location,
                                     size_t begin_bytes, size_t end_bytes,
                                     struct zepi_buffer_stale_range *out_range)
{
    for (uint32_t i = contents_find_range(contents, begin_bytes);
         i < contents->count && range_begin(contents, i) < end_bytes; i++) {
        const struct zepi_buffer_range *range = &contents->ranges[i];
        if (range->locations == 0 || (range->locations & ZEPI_BUFFER_LOCATION(location)))
            continue;
        const size_t begin = range_begin(contents, i);
        out_range->begin_bytes = begin > begin_bytes ? begin : begin_bytes;
        out_range->end_bytes = range->end_bytes < end_bytes ? range->end_bytes : end_bytes;
        out_range->locations = range->locations;
        return true;
    }
    return false;
}

// Makes a range begin at the byte.
static void contents_cut_at(struct zepi_buffer_contents *contents, size_t at_bytes)
{
    const uint32_t index = contents_find_range(contents, at_bytes);
    struct zepi_buffer_range *range = &contents->ranges[index];
    if (at_bytes >= range->end_bytes || range_begin(contents, index) == at_bytes)
        return;
    assert(contents->count < contents->capacity);
    memmove(range + 1, range, (contents->count - index) * sizeof(*range));
    range->end_bytes = at_bytes;
    contents->count++;
}

// Neighbours that are alike become one.
static void contents_join_equal(struct zepi_buffer_contents *contents)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < contents->count; i++) {
        if (contents->ranges[i].locations != contents->ranges[kept].locations)
            kept++;
        contents->ranges[kept] = contents->ranges[i];
    }
    contents->count = kept + 1;
}

static bool contents_change(struct zepi_buffer_contents *contents, size_t begin_bytes,
                            size_t end_bytes, uint64_t kept_places, uint64_t new_places)
{
    if (begin_bytes >= end_bytes)
        return true;
    if (!contents_reserve(contents))
        return false;
    contents_cut_at(contents, begin_bytes);
    contents_cut_at(contents, end_bytes);
    for (uint32_t i = contents_find_range(contents, begin_bytes);
         i < contents->count && range_begin(contents, i) < end_bytes; i++)
        contents->ranges[i].locations = (contents->ranges[i].locations & kept_places) | new_places;
    contents_join_equal(contents);
    return true;
}

bool zepi_buffer_contents_add(struct zepi_buffer_contents *contents, uint32_t location,
                              size_t begin_bytes, size_t end_bytes)
{
    return contents_change(contents, begin_bytes, end_bytes, UINT64_MAX,
                           ZEPI_BUFFER_LOCATION(location));
}

bool zepi_buffer_contents_set(struct zepi_buffer_contents *contents, uint32_t location,
                              size_t begin_bytes, size_t end_bytes)
{
    if (contents->count > FINE_RANGES && begin_bytes < end_bytes) {
        const uint32_t first = contents_find_range(contents, begin_bytes);
        const uint32_t last = contents_find_range(contents, end_bytes - 1);
        if (contents->ranges[first].locations & ZEPI_BUFFER_LOCATION(location))
            begin_bytes = range_begin(contents, first);
        if (contents->ranges[last].locations & ZEPI_BUFFER_LOCATION(location))
            end_bytes = contents->ranges[last].end_bytes;
    }
    return contents_change(contents, begin_bytes, end_bytes, 0, ZEPI_BUFFER_LOCATION(location));
}
