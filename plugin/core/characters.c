// SPDX-License-Identifier: MIT
#include "core/characters.h"

#include <stdbool.h>
#include <string.h>

size_t zepi_character_bytes(const char *text)
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
        const size_t count = zepi_character_bytes(text);
        const size_t length = count > 0 ? count : 1;
        if (count == 0 || (is_control(text) && !strchr(allowed, *text)))
            memset(text, '?', length);
        text += length;
    }
}
