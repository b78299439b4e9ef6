// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_H
#define ZEPI_CACHE_DISK_DISK_H

#include "cache/build_store.h"
#include "cache/disk/cache_folder.h"
#include "cache/disk/disk_claim.h"
#include "cache/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A store of build results in a folder, one file a key, shared by any number of processes without
// an index. README.md has the file format and the reasons. Total size is bounded: files that other
// processes write are noticed at the latest every 64 stores. Thread-safe. Nothing here fails a
// build: an error is a miss, or nothing stored.

struct zepi_disk; // opaque

// Returns an owned store in the folder `path` (copied; a relative path is taken from the working
// directory of now; "": there are read-only folders alone), or NULL without memory. No file is
// touched. `limit_bytes` 0 stores nothing; UINT64_MAX is no limit.
struct zepi_disk *zepi_disk_create(const char *path, uint64_t limit_bytes);

// Adds folders that are read after the disk's own and never written: at most
// ZEPI_DISK_READ_ONLY_MAX absolute paths with colons between, of which each is checked at each use
// (zepi_cache_folder_open_read_only). The first time that one fails, `note` is told its path, and
// the reason. Called before any other thread has the disk. Returns false without memory.
enum { ZEPI_DISK_READ_ONLY_MAX = 8 };
typedef void zepi_disk_note_fn(const char *path, const char *reason);
bool zepi_disk_add_read_only(struct zepi_disk *disk, const char *paths, zepi_disk_note_fn *note);

// NULL is fine. The files stay.
void zepi_disk_destroy(struct zepi_disk *disk);

// The operations for `struct zepi_build_store`; `self` is the zepi_disk.
extern const struct zepi_build_store_ops zepi_disk_store_ops;

const char *zepi_disk_path(const struct zepi_disk *disk); // borrowed
uint64_t zepi_disk_limit_bytes(const struct zepi_disk *disk);
void zepi_disk_set_limit_bytes(struct zepi_disk *disk,
                               uint64_t limit_bytes); // acts at the next store

// The claim of a key in the folder (disk_claim.h), which is made if it is missing. There is none in
// a folder that is not usable, or with a limit of 0.
int zepi_disk_claim(struct zepi_disk *disk, const struct zepi_key *key, unsigned wait_ms);

// Why results are not stored now, or were not at the last try; NULL: no such reason. Borrowed.
const char *zepi_disk_trouble(const struct zepi_disk *disk);

// Whether the folder can be used now.
enum zepi_cache_folder_state zepi_disk_state(const struct zepi_disk *disk);

#endif
