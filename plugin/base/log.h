// SPDX-License-Identifier: MIT
#ifndef ZEPI_BASE_LOG_H
#define ZEPI_BASE_LOG_H

#include "base/options.h"

// Lines for people, to stderr, as ZEPI_LOG asks. Nothing is formatted that is not asked for.

void zepi_log_write(enum zepi_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#define zepi_log(level, ...)                                                                       \
    ((level) <= zepi_options()->log_level ? zepi_log_write(level, __VA_ARGS__) : (void)0)

#endif
