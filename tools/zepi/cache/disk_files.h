// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_DISK_FILES_H
#define ZEPI_TOOL_DISK_FILES_H

#include "cache/disk/disk.h"
#include "cache/disk/disk_list.h"

// The files of a disk store: lists, verifies, trims and imports them. Any thread, while
// other processes use the folder. A missing folder is an empty one.

enum zepi_disk_visit {
    ZEPI_DISK_LIST,
    ZEPI_DISK_READ,       // and verifies files of this format version
    ZEPI_DISK_REMOVE_BAD, // and unlinks those that are bad, after their visit
};

// Calls `visit` for each file, in no order; the file is borrowed for the call. `visit` returns
// whether to go on. Returns the folder's state; nothing is visited unless it is usable.
enum zepi_cache_folder_state
zepi_disk_for_each(struct zepi_disk *disk, enum zepi_disk_visit mode,
                   bool (*visit)(void *user, const struct zepi_disk_file *file), void *user);

// Files by kind. Those that were not read are results.
struct zepi_disk_report {
    struct zepi_disk_tally of[ZEPI_DISK_FILE_KINDS];
};

// A `visit` that adds the file to a report.
bool zepi_disk_report_add(void *report, const struct zepi_disk_file *file);

enum zepi_cache_folder_state zepi_disk_count(struct zepi_disk *disk, enum zepi_disk_visit mode,
                                             struct zepi_disk_report *out_report);

// Stores the bytes of a sound file, from elsewhere, if they are sound: their contents are believed,
// and their code will be run. Makes a missing folder. *out_is_sound: whether they are. Returns
// false if they could not be stored; for sound ones errno has the reason, unless it is the folder's
// state.
bool zepi_disk_import(struct zepi_disk *disk, const void *bytes, size_t size_bytes,
                      bool *out_is_sound);

// Sweeps leftovers, then unlinks files, oldest use first, until at most `bytes` are left:
// at 0 all of them, of any version. A file that is used in between is passed over. *out_removed
// counts both kinds.
enum zepi_cache_folder_state zepi_disk_trim(struct zepi_disk *disk, uint64_t bytes,
                                            struct zepi_disk_tally *out_removed);

#endif
