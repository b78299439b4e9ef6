// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_SPANS_H
#define DRM_SHIM_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A range of addresses with values: `value` belongs to the first address, and the value of each
// further one is larger by its distance.
struct shim_span {
    uint64_t start, end;
    uint64_t value;
    bool is_same; // address space: the CPU finds the memory at the same address
};

// Spans that do not overlap, sorted by address. A zeroed struct is an empty set. Not thread-safe.
struct shim_spans {
    struct shim_span *items; // owned
    size_t count, capacity;
};

void shim_spans_finish(struct shim_spans *spans);

// The span that `address` lies in; NULL if it lies in none. Borrowed until the next change.
const struct shim_span *shim_spans_find(const struct shim_spans *spans, uint64_t address);

// Replaces spans that were there. False without memory; then nothing has changed.
bool shim_spans_insert(struct shim_spans *spans, struct shim_span span);

// Cuts a range out; spans that reach over an end of it keep the rest. False without memory (a span
// may be cut in two); then nothing has changed.
bool shim_spans_remove(struct shim_spans *spans, uint64_t start, uint64_t end);

#endif
