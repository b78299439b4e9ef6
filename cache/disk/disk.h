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
// locks and without an index. README.md has the file format and the reasons. Total size is bounded:
// files that other processes write are noticed at the latest every 64 stores. Thread-safe. Nothing
// here fails a build: an error is a miss, or nothing stored.

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
