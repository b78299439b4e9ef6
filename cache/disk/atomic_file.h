// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_ATOMIC_FILE_H
#define ZEPI_CACHE_DISK_ATOMIC_FILE_H

#include "cache/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Files that appear whole or not at all, in a folder given by its descriptor. A writer makes a file
// under a temporary name of its own, locks it (flock), fills it and renames it. If the
// writer dies, the kernel drops the lock: a temporary file that can be locked has no writer,
// whatever its process id has become, and zepi_atomic_file_sweep unlinks it.
//
// Functions return 0 or an errno. Thread-safe and safe among processes. Every file is opened
// without following links and closed on exec.

#define ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX ".zepi-tmp-"

// Writes the parts, one after the other, as file `name` (mode 0600), replacing one that is there.
// Nothing is synced: when the machine (not the process) goes down, the contents may be lost and the
// file be of any length, so a file is verified when it is read.
// The process is not ended by SIGXFSZ if a limit on file sizes is reached; that is EFBIG. Nothing
// is left behind on failure.
int zepi_atomic_file_write(int folder, const char *name, const struct zepi_digest_part *parts,
                           size_t part_count);

// Reads all of a file of at most `max_size` bytes into owned memory (zepi_sys_free) and makes its
// time of modification now. EPERM if it is not a plain file of the effective user or root that no
// other user may write, ELOOP if it is a symbolic link, EFBIG if it is longer than `max_size`,
// EBADMSG if it ended before its length.
enum zepi_atomic_file_touch {
    ZEPI_ATOMIC_FILE_NO_TOUCH,
    ZEPI_ATOMIC_FILE_TOUCH,
};
int zepi_atomic_file_read(int folder, const char *name, size_t max_size,
                          enum zepi_atomic_file_touch touch, void **out_bytes, size_t *out_size);

// Whether an error of zepi_atomic_file_read condemns the file. The other errors say "not now".
bool zepi_atomic_file_is_bad(int error);

// Unlinks temporary file `name` if its writer is dead. Returns whether it did.
bool zepi_atomic_file_sweep(int folder, const char *name);

#endif
