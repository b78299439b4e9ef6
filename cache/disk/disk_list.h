// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_LIST_H
#define ZEPI_CACHE_DISK_DISK_LIST_H

#include "cache/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The files of a disk store: their names, and those that are in the folder now.

enum zepi_disk_file_kind {
    ZEPI_DISK_FILE_RESULT,        // of this format version
    ZEPI_DISK_FILE_OTHER_VERSION, // of another
    ZEPI_DISK_FILE_TEMPORARY,     // being written, or left by a dead writer
    // Results that were read:
    ZEPI_DISK_FILE_BAD,
    ZEPI_DISK_FILE_UNREADABLE, // for now: no permission, no descriptors, ...
    ZEPI_DISK_FILE_KINDS,
};

struct zepi_disk_tally {
    uint64_t files;
    uint64_t bytes;
};

enum { ZEPI_DISK_NAME_BYTES = 96 };

// The name of a key's file in this format version.
void zepi_disk_name_of(struct zepi_digest digest, char out_name[ZEPI_DISK_NAME_BYTES]);

struct zepi_disk_file {
    char name[ZEPI_DISK_NAME_BYTES];
    enum zepi_disk_file_kind kind;
    uint64_t size_bytes;
    int64_t last_use_ns; // since the epoch
    // All of a result that was read and is sound, and the key in it; NULL: it was not.
    const void *bytes;
    const uint8_t *key;
    size_t key_size;
};

// All zeroes is an empty list.
struct zepi_disk_list {
    struct zepi_disk_file *files; // owned
    size_t count;
    size_t capacity;
    uint64_t bytes; // sum of the files' sizes
};

// Lists the store's files. Files that vanish meanwhile are left out. Returns false, with nothing to
// free, if the folder cannot be listed or there is no memory.
bool zepi_disk_list_init(struct zepi_disk_list *out_list, int folder);
void zepi_disk_list_finish(struct zepi_disk_list *list);

// Sweeps leftovers; then, if the rest is more than `limit_bytes`, unlinks files, oldest use first,
// until at most `target_bytes` are left. A file used since it was listed is passed over. Returns
// false if the folder cannot be listed.
bool zepi_disk_trim_folder(int folder, uint64_t limit_bytes, uint64_t target_bytes,
                           struct zepi_disk_tally *out_left, struct zepi_disk_tally *out_removed);

#endif
