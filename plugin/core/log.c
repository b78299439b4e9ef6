// SPDX-License-Identifier: MIT
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Atomic(enum zepi_log_level) zepi_log_host_level;

static _Atomic(zepi_log_host_fn *) host_write; // NULL: no host wants lines

void zepi_log_set_host(zepi_log_host_fn *write, enum zepi_log_level level)
{
    // Release: what the function needs is there.
    atomic_store_explicit(&host_write, write, memory_order_release);
    // Relaxed: a line more or less.
    atomic_store_explicit(&zepi_log_host_level, level, memory_order_relaxed);
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
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    // Names of kernels and words of a driver are in it.
    zepi_make_printable(line, "\n\t");
    if (level <= zepi_options()->log_level)
        fprintf(stderr, "zepi: %s: %s\n", names[level], line);
    zepi_log_host_fn *write = atomic_load_explicit(&host_write, memory_order_acquire);
    if (write && level <= atomic_load_explicit(&zepi_log_host_level, memory_order_relaxed))
        write(level, line);
}
