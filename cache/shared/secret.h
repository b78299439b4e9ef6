// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SECRET_H
#define ZEPI_CACHE_SHARED_SECRET_H

#include <stddef.h>
#include <stdint.h>

// The contents of a file that others must not read: a key or a password.
struct zepi_shared_secret {
    uint8_t bytes[1024];
    size_t size; // 0: there is none
};

// Reads all of the file. It must be a plain one of the effective user or of root; its group may
// read it at the most, other users may not. Returns NULL, or the reason of a refusal: a static
// text, the end of a sentence.
const char *zepi_shared_secret_read(const char *path, struct zepi_shared_secret *out_secret);

// For passwords: the end of the line is none of it.
void zepi_shared_secret_cut_line(struct zepi_shared_secret *secret);

// Leaves no trace in memory.
void zepi_shared_secret_finish(struct zepi_shared_secret *secret);

#endif
