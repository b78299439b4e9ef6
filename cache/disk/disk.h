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

// Which keys this process builds while others that have the folder wait: of processes that start at
// once, one compiles. A claim is a lock on one byte of a file in the folder, which the digest of
// the key chooses; the kernel drops it at the end of its process.

// Claims a key; waits until another process gives its claim up, at most for `wait_ms`. A missing
// folder is made. Returns a descriptor, to be given back; or -1, and the caller builds as well: the
// time was over, the process that had the claim found no result, the folder is not usable or cannot
// lock, or the limit is 0.
int zepi_disk_claim(struct zepi_disk *disk, const struct zepi_key *key, unsigned wait_ms);

// Gives up a claim; -1 is fine. Without a result, the processes that wait build at once.
enum zepi_disk_claim_end { ZEPI_DISK_CLAIM_STORED, ZEPI_DISK_CLAIM_ABANDONED };
void zepi_disk_unclaim(int claim, enum zepi_disk_claim_end end);

// Why results are not stored now, or were not at the last try; NULL: no such reason. Borrowed.
const char *zepi_disk_trouble(const struct zepi_disk *disk);

// Whether the folder can be used now.
enum zepi_cache_folder_state zepi_disk_state(const struct zepi_disk *disk);

#endif
