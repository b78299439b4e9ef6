// SPDX-License-Identifier: MIT
#include "log.h"

#include "control.h"
#include "options.h"
#include "trace.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_FAILED 86 // of a process with errors, with DRM_SHIM_STRICT=1

static _Atomic uint64_t error_count;

static void write_line(const char *text)
{
    char line[1024];
    int length = snprintf(line, sizeof(line), "drm_shim: %s\n", text);
    if (length >= (int)sizeof(line)) {
        length = (int)sizeof(line);
        line[length - 1] = '\n';
    }
    // One write, so that lines of several threads do not mix. A failure cannot be reported
    // anywhere.
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

void shim_error(const char *format, ...)
{
    char text[960];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    atomic_fetch_add(&error_count, 1);
    write_line(text);
    shim_trace("error %s", text);
}

uint64_t drm_shim_errors(void)
{
    return atomic_load(&error_count);
}

// The library is loaded before the program's others, so this runs after their destructors.
__attribute__((destructor)) static void report_errors(void)
{
    const uint64_t count = drm_shim_errors();
    if (count == 0 || !shim_options()->fails_at_exit)
        return;
    char text[96];
    snprintf(text, sizeof(text), "errors: %llu; the process fails for them (DRM_SHIM_STRICT)",
             (unsigned long long)count);
    write_line(text);
    _exit(EXIT_FAILED);
}
