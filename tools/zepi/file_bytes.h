// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_FILE_BYTES_H
#define ZEPI_TOOL_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

// Files that the command line names.

struct file_bytes {
    unsigned char *bytes; // owned, free(); terminated by a zero that is not counted
    size_t size_bytes;
};

// "-" is standard input. Prints an error on stderr.
bool file_read(const char *path, struct file_bytes *out_file);
// Whether a later file_write() of this path is likely to work: of a command that works long before
// it.
bool file_check_output(const char *path);
// "-" is standard output.
bool file_write(const char *path, const void *bytes, size_t size_bytes);
// Copies a file to stderr, as far as it can be read.
void file_show(const char *path);

#endif
