// SPDX-License-Identifier: MIT
#include "core/log.h"

#include "core/characters.h"
#include "core/mutex.h"

#include <stdarg.h>
#include <stdio.h>

_Atomic(enum zepi_log_level) zepi_log_host_level;

// Guards the host's function and data, which belong together; nothing is called under it.
static struct zepi_mutex mutex;
static void (*host_write)(void *data, enum zepi_log_level level, const char *line);
static void *host_data;

void zepi_log_set_host(void (*write)(void *data, enum zepi_log_level level, const char *line),
                       void *data, enum zepi_log_level level)
{
    zepi_mutex_lock(&mutex);
    host_write = write;
    host_data = data;
    // Relaxed: a line more or less.
    atomic_store_explicit(&zepi_log_host_level, write ? level : ZEPI_LOG_OFF, memory_order_relaxed);
    zepi_mutex_unlock(&mutex);
}

void zepi_log_set_host_level(enum zepi_log_level level)
{
    zepi_mutex_lock(&mutex);
    if (host_write)
        atomic_store_explicit(&zepi_log_host_level, level, memory_order_relaxed);
    zepi_mutex_unlock(&mutex);
}

void zepi_log_write(enum zepi_log_level level, const char *format, ...)
{
    static const char *const names[] = {"", "error", "error", "info", "debug"};
    char line[1024];
    void (*write)(void *data, enum zepi_log_level level, const char *line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    // Names of kernels and words of a driver are in it.
    zepi_make_printable(line, "\n\t");
    if (level <= zepi_options()->log_level)
        fprintf(stderr, "zepi: %s: %s\n", names[level], line);
    if (level > atomic_load_explicit(&zepi_log_host_level, memory_order_relaxed))
        return;
    zepi_mutex_lock(&mutex);
    write = host_write;
    void *data = host_data;
    zepi_mutex_unlock(&mutex);
    // Not under the lock: the host may log, or set another function, from here.
    if (write)
        write(data, level, line);
}
