// SPDX-License-Identifier: MIT
#include "trace.h"

#include "options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the variables below
static uint64_t sequence;
static int trace_fd = -1;

static pthread_once_t trace_once = PTHREAD_ONCE_INIT;

static void open_trace(void)
{
    const char *path = shim_options()->trace;
    // Not by open(), which this library replaces.
    if (path != NULL && path[0] != '\0')
        trace_fd = (int)syscall(SYS_openat, AT_FDCWD, path,
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static bool trace_is_on(void)
{
    pthread_once(&trace_once, open_trace);
    return trace_fd >= 0;
}

static void append_bytes(FILE *line, const struct shim_trace_bytes *part)
{
    const unsigned char *bytes = part->bytes;
    fprintf(line, " %s ", part->name);
    if (bytes == NULL || part->size == 0)
        fputc('-', line);
    for (size_t i = 0; bytes != NULL && i < part->size; i++)
        fprintf(line, "%02x", bytes[i]);
}

void shim_trace_with(const struct shim_trace_bytes *parts, size_t count, const char *format, ...)
{
    if (!trace_is_on())
        return;
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (line == NULL)
        return;
    // The number and the line's place in the file agree: both under one lock.
    pthread_mutex_lock(&trace_mutex);
    fprintf(line, "%" PRIu64 " ", ++sequence);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(line, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < count; i++)
        append_bytes(line, &parts[i]);
    fputc('\n', line);
    if (fclose(line) == 0 && write(trace_fd, text, size) < 0)
        sequence--; // the line is lost; the next one takes its number
    pthread_mutex_unlock(&trace_mutex);
    free(text);
}
