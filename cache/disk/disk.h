// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_H
#define ZEPI_CACHE_DISK_DISK_H

#include "cache/build_store.h"
#include "cache/disk/cache_folder.h"
#include "cache/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A store of build results in a folder, one file a key, shared by any number of processes without
// locks and without an index. README.md has the file format.
//
// - A file is named by its key's digest and the version of the file format. It holds the whole key;
//   lengths, key and checksum are verified before anything is used. A bad file is unlinked and is a
//   miss. Files of another format version have other names: they are never read or judged, but
//   count and age like the rest. Files with names of any other kind are not touched.
// - The folder is opened and checked (cache_folder.h) for each operation, so that one that vanishes
//   or changes hands under way is noticed. A missing folder is made at the first store.
// - Total size is bounded: after a store that exceeds the limit, the files whose last use (time of
//   modification) is oldest go, down to seven eighths of the limit. Files that other processes
//   write meanwhile are noticed at the latest every 64 stores.
// - Temporary files of dead writers are swept at the first store of a process and at each trim.
//
// Thread-safe. Nothing here fails a build: an error is a miss, or nothing stored.

struct zepi_disk; // opaque

// Returns an owned store in the folder `path` (copied; a relative path is taken from the working
// directory of now), or NULL without memory. No file is touched. `limit_bytes` 0 stores nothing;
// UINT64_MAX is no limit.
struct zepi_disk *zepi_disk_create(const char *path, uint64_t limit_bytes);

// NULL is fine. The files stay.
void zepi_disk_destroy(struct zepi_disk *disk);

// The operations for `struct zepi_build_store`; `self` is the zepi_disk.
extern const struct zepi_build_store_ops zepi_disk_store_ops;

const char *zepi_disk_path(const struct zepi_disk *disk); // borrowed
uint64_t zepi_disk_limit_bytes(const struct zepi_disk *disk);
void zepi_disk_set_limit_bytes(struct zepi_disk *disk,
                               uint64_t limit_bytes); // acts at the next store

// Whether the folder can be used now.
enum zepi_cache_folder_state zepi_disk_state(const struct zepi_disk *disk);

#endif
