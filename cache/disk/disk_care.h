// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_CARE_H
#define ZEPI_CACHE_DISK_DISK_CARE_H

#include "cache/disk/disk.h"
#include "cache/disk/disk_list.h"

// Looking after a disk store: lists, verifies, trims, takes files elsewhere. Any thread, while
// other processes use the folder.

struct zepi_disk_file {
    const char *name; // borrowed for the call
    enum zepi_disk_file_kind kind;
    uint64_t size_bytes;
    int64_t last_use_ns; // since the epoch
};

// Calls `visit` for each file, in no order. `visit` returns whether to go on. Returns the folder's
// state; nothing is visited unless it is usable. Here and below, a missing folder is an empty one.
enum zepi_cache_folder_state
zepi_disk_for_each(struct zepi_disk *disk,
                   bool (*visit)(void *user, const struct zepi_disk_file *file), void *user);

struct zepi_disk_report {
    struct zepi_disk_tally good;
    struct zepi_disk_tally bad;
    struct zepi_disk_tally other_version; // not judged
    struct zepi_disk_tally temporary;
    struct zepi_disk_tally unreadable; // for now: no permission, no descriptors, ...
};

// Why a file is not used.
enum zepi_disk_flaw {
    ZEPI_DISK_FLAW_BAD,
    ZEPI_DISK_FLAW_OTHER_VERSION,
    ZEPI_DISK_FLAW_UNREADABLE,
};

enum zepi_disk_verify_mode {
    ZEPI_DISK_KEEP_BAD,
    ZEPI_DISK_REMOVE_BAD,
};

// Reads and verifies every file of this format version. Calls `note`, unless it is NULL, for each
// file with a flaw; the name is borrowed for the call.
enum zepi_cache_folder_state
zepi_disk_verify(struct zepi_disk *disk, enum zepi_disk_verify_mode mode,
                 void (*note)(void *user, const char *name, enum zepi_disk_flaw flaw), void *user,
                 struct zepi_disk_report *out_report);

// A file that was found sound.
struct zepi_disk_sound_file {
    const char *name;
    const void *bytes; // all of the file
    size_t size_bytes;
    const uint8_t *key;
    size_t key_size;
};

// Reads the files of this format version and calls `visit` for each sound one, in no order. The
// file that it gets is borrowed for the call. `visit` returns whether to go on.
enum zepi_cache_folder_state
zepi_disk_for_each_sound(struct zepi_disk *disk,
                         bool (*visit)(void *user, const struct zepi_disk_sound_file *file),
                         void *user);

// Stores the bytes of such a file, from elsewhere, if they are sound: their contents are believed,
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
