// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_CHARACTERS_H
#define ZEPI_CORE_CHARACTERS_H

#include <stddef.h>

// Text from outside, such as names of kernels, of which nothing is known. Any thread.

// The bytes of the character of UTF-8 that the text begins with; 0: it begins with none. The text
// ends with a zero, which is a character of one byte.
size_t zepi_character_bytes(const char *text);

// Makes text fit for a terminal and for a file of lines: control characters, and bytes that are no
// character, become '?'. Characters in `allowed` stay. The length does not change.
void zepi_make_printable(char *text, const char *allowed);

#endif
