// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void zepi_log_write(enum zepi_log_level level, const char *format, ...)
{
    static const char *const names[] = {"", "error", "info", "debug"};
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "zepi: %s: %s\n", names[level], line);
}
