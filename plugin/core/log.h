// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_LOG_H
#define ZEPI_CORE_LOG_H

#include "core/options.h"

#include <stdatomic.h>

// Lines for people, to stderr as ZEPI_LOG asks, and to a host that wants them. Nothing is formatted
// that was not asked for.

// The level that the host asked for.
extern _Atomic(enum zepi_log_level) zepi_log_host_level;

// Also hands each line up to `level` to `write`, which must be thread-safe; NULL ends that. A line
// that is being written at this moment may still reach the old one.
typedef void zepi_log_host_fn(enum zepi_log_level level, const char *line);
void zepi_log_set_host(zepi_log_host_fn *write, enum zepi_log_level level);

void zepi_log_write(enum zepi_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// Makes text from outside, such as names of kernels, fit for a terminal and for a file of lines:
// control characters, and bytes that are no character of UTF-8, become '?'. Characters in `allowed`
// stay. The length does not change.
void zepi_make_printable(char *text, const char *allowed);

#define zepi_log(level, ...)                                                                       \
    ((level) <= zepi_options()->log_level ||                                                       \
             (level) <= atomic_load_explicit(&zepi_log_host_level, memory_order_relaxed)           \
         ? zepi_log_write(level, __VA_ARGS__)                                                      \
         : (void)0)

#endif
