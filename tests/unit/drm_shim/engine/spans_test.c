// SPDX-License-Identifier: MIT
#include "memory/spans.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES 512

static bool is_as_expected(const struct shim_spans *spans, const uint64_t expected[ADDRESSES])
{
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const struct shim_span *span = shim_spans_find(spans, address);
        const uint64_t value = span == NULL ? 0 : span->value + (address - span->start);
        if (value != expected[address])
            return false;
    }
    for (size_t i = 0; i < spans->count; i++)
        if (spans->items[i].start >= spans->items[i].end ||
            (i > 0 && spans->items[i - 1].end > spans->items[i].start))
            return false;
    return true;
}

Test(spans, know_what_lies_at_each_address_after_any_changes)
{
    static uint64_t expected[ADDRESSES];
    struct shim_spans spans = {0};
    srand(7);
    for (uint64_t round = 1; round <= 4000; round++) {
        const uint64_t start = (uint64_t)rand() % ADDRESSES;
        const uint64_t size = (uint64_t)rand() % (ADDRESSES - start + 1);
        const bool inserts = rand() % 2;
        const uint64_t value = round * 100000;
        for (uint64_t i = 0; i < size; i++)
            expected[start + i] = inserts ? value + i : 0;
        cr_assert(inserts ? shim_spans_insert(&spans, (struct shim_span){.start = start,
                                                                         .end = start + size,
                                                                         .value = value})
                          : shim_spans_remove(&spans, start, start + size));
        cr_assert(is_as_expected(&spans, expected), "round %u", (unsigned)round);
    }
    shim_spans_finish(&spans);
}
