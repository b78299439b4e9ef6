// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_TRACE_H
#define DRM_SHIM_TRACE_H

#include <stddef.h>

// The trace (DRM_SHIM_TRACE): one line for each thing that engines do, in the order in which they
// do it. README.md has the format. All functions are thread-safe and do nothing without a trace.

// Writes a line: a sequence number, then the text.
#define shim_trace(...) shim_trace_with(NULL, 0, __VA_ARGS__)

// As above, with bytes in hexadecimal behind the text: " NAME HEX" for each part.
struct shim_trace_bytes {
    const char *name;
    const void *bytes; // NULL: none, written as "-"
    size_t size;
};
void shim_trace_with(const struct shim_trace_bytes *parts, size_t count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
