// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_CACHE_FOLDER_H
#define ZEPI_CACHE_DISK_CACHE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// Which folder keeps the files, and whether it can be trusted. The folder must be a folder (no
// symbolic link) of the effective user that neither group nor others may write; else another user
// could plant code that runs as this user.

enum zepi_cache_folder_state {
    ZEPI_CACHE_FOLDER_USABLE,
    ZEPI_CACHE_FOLDER_MISSING,        // would be made at the first store
    ZEPI_CACHE_FOLDER_NOT_A_FOLDER,   // a symbolic link, a file, ...
    ZEPI_CACHE_FOLDER_FOREIGN,        // not the effective user's
    ZEPI_CACHE_FOLDER_WRITABLE,       // by group or others
    ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE, // any other error
};

// Whether a missing folder is made, its parents too, each with mode 0700.
enum zepi_cache_folder_mode {
    ZEPI_CACHE_FOLDER_EXISTING,
    ZEPI_CACHE_FOLDER_CREATE,
};

// Opens the folder. *out_fd is a descriptor that the caller closes, or -1 unless the folder is
// USABLE.
enum zepi_cache_folder_state zepi_cache_folder_open(const char *path,
                                                    enum zepi_cache_folder_mode mode, int *out_fd);

// Opens a folder that is only read. Links in `path` are resolved; the folder and each one above it
// belong to root or the effective user, and no other user may write to them. If it is not USABLE,
// `out_place` has the first that fails. The descriptor is of O_PATH.
enum zepi_cache_folder_state zepi_cache_folder_open_read_only(const char *path, int *out_fd,
                                                              char out_place[PATH_MAX]);

// A sentence's worth for people: "writable by others". Static.
const char *zepi_cache_folder_describe(enum zepi_cache_folder_state state);

#endif
