// SPDX-License-Identifier: MIT
#include "spans.h"

#include <stdlib.h>
#include <string.h>

void shim_spans_finish(struct shim_spans *spans)
{
    free(spans->items);
    *spans = (struct shim_spans){0};
}

// The index of the first span that ends after `address`.
static size_t lower_bound(const struct shim_spans *spans, uint64_t address)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct shim_span *shim_spans_find(const struct shim_spans *spans, uint64_t address)
{
    const size_t i = lower_bound(spans, address);
    return i < spans->count && spans->items[i].start <= address ? &spans->items[i] : NULL;
}

static bool reserve(struct shim_spans *spans, size_t more)
{
    if (spans->capacity - spans->count >= more)
        return true;
    const size_t capacity = spans->capacity == 0 ? 64 : spans->capacity * 2;
    struct shim_span *items = realloc(spans->items, capacity * sizeof(*items));
    if (items == NULL)
        return false;
    spans->items = items;
    spans->capacity = capacity;
    return true;
}

static void insert_at(struct shim_spans *spans, size_t i, struct shim_span span)
{
    memmove(spans->items + i + 1, spans->items + i, (spans->count - i) * sizeof(span));
    spans->items[i] = span;
    spans->count++;
}

static void remove_reserved(struct shim_spans *spans, uint64_t start, uint64_t end)
{
    size_t first = lower_bound(spans, start);
    if (first < spans->count && spans->items[first].start < start) {
        struct shim_span *front = &spans->items[first++];
        const struct shim_span rest = {.start = end,
                                       .end = front->end,
                                       .value = front->value + (end - front->start),
                                       .is_same = front->is_same};
        front->end = start;
        if (rest.start < rest.end) {
            insert_at(spans, first, rest);
            return;
        }
    }
    size_t last = first;
    while (last < spans->count && spans->items[last].end <= end)
        last++;
    if (last < spans->count && spans->items[last].start < end) {
        spans->items[last].value += end - spans->items[last].start;
        spans->items[last].start = end;
    }
    memmove(spans->items + first, spans->items + last,
            (spans->count - last) * sizeof(*spans->items));
    spans->count -= last - first;
}

bool shim_spans_remove(struct shim_spans *spans, uint64_t start, uint64_t end)
{
    if (start >= end)
        return true;
    if (!reserve(spans, 1))
        return false;
    remove_reserved(spans, start, end);
    return true;
}

bool shim_spans_insert(struct shim_spans *spans, struct shim_span span)
{
    if (span.start >= span.end)
        return true;
    if (!reserve(spans, 2))
        return false;
    remove_reserved(spans, span.start, span.end);
    insert_at(spans, lower_bound(spans, span.start), span);
    return true;
}
