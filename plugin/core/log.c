// SPDX-License-Identifier: MIT
#include "core/log.h"

#include "core/mutex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

// The bytes of the character of UTF-8 that the text begins with; 0: it begins with none. The text
// ends with a zero, which is a character of one byte.
static size_t character_bytes(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char lead = bytes[0];
    const size_t count = lead < 0x80                   ? 1
                         : lead >= 0xc2 && lead < 0xe0 ? 2
                         : lead >= 0xe0 && lead < 0xf0 ? 3
                         : lead >= 0xf0 && lead < 0xf5 ? 4
                                                       : 0;
    for (size_t i = 1; i < count; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    }
    // Longer than necessary, surrogates, and beyond the last character.
    if ((lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xed && bytes[1] > 0x9f) ||
        (lead == 0xf0 && bytes[1] < 0x90) || (lead == 0xf4 && bytes[1] > 0x8f))
        return 0;
    return count;
}

static bool is_control(const char *character)
{
    const unsigned char *bytes = (const unsigned char *)character;
    // The second set, U+0080 to U+009F, has two bytes.
    return bytes[0] < ' ' || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

void zepi_make_printable(char *text, const char *allowed)
{
    while (*text) {
        const size_t count = character_bytes(text);
        const size_t length = count > 0 ? count : 1;
        if (count == 0 || (is_control(text) && !strchr(allowed, *text)))
            memset(text, '?', length);
        text += length;
    }
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
