// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_CACHE_MOVE_H
#define ZEPI_TOOL_CACHE_MOVE_H

#include "disk_files.h"

// All of a cache in one file, to take it to another machine: "ZEPIexp1", then for each file of the
// cache its length (8 bytes, little endian) and its bytes, as cache/disk/README.md describes them.

// Writes the sound files. "-" is standard output. Returns false after a message; a plain
// file that was begun is then removed. The folder's state says whether it could be read at all.
bool cache_export(struct zepi_disk *disk, const char *path, enum zepi_cache_folder_state *out_state,
                  struct zepi_disk_tally *out_written);

struct cache_imported {
    struct zepi_disk_tally good;
    struct zepi_disk_tally bad;         // cut or damaged: not taken
    struct zepi_disk_tally not_written; // as on a full disk
};

// Takes the sound ones of a file, and calls `note` (may be NULL) with the key of each. "-" is
// standard input. Returns false after a message, also if some could not be written; the others are
// there then.
typedef void cache_note(void *user, const uint8_t *key, size_t key_size);
bool cache_import(struct zepi_disk *disk, const char *path, cache_note *note, void *user,
                  struct cache_imported *out_imported);

// Returns whether all sound files of `from` are now in `to`.
bool cache_copy(struct zepi_disk *from, struct zepi_disk *to);

#endif
