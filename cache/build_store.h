// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_STORE_H
#define ZEPI_CACHE_BUILD_STORE_H

#include "cache/build_result.h"
#include "cache/key.h"
#include "core/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The second level below a build cache: keeps successes as bytes, beyond the life of the process. A
// store never fails a build: an error in it is a miss, or a result that is not stored.
// disk/disk.h and shared/shared.h are such stores.

// A success as bytes; failures are not stored: one that had a cause outside the key (a broken
// installation, say) must not outlive the process. Ownership depends on the direction: a record
// given to `store` borrows everything; one that `load` filled owns `storage`, and the rest points
// into it.
struct zepi_build_record {
    const void *payload; // aligned to 16 bytes when loaded
    size_t payload_size;
    const char *log; // not terminated
    size_t log_size;
    void *storage;
    int claim; // of the store: from a `load` that found nothing to the `store` behind it; -1: none
};

// Frees the storage of a loaded record, and zeroes it. A zeroed record is fine.
static inline void zepi_build_record_finish(struct zepi_build_record *record)
{
    zepi_sys_free(record->storage);
    *record = (struct zepi_build_record){0};
}

// The operations of a store. Thread-safe, called under no lock of the cache; `self` is the store.
struct zepi_build_store_ops {
    // Returns whether the store had the whole key and its record is sound. May wait for a record
    // that another process is making. After false the result is built, and `store` follows.
    bool (*load)(void *self, const struct zepi_key *key, struct zepi_build_record *out_record);
    // Keeps the record if it can. Without a payload there will be none: the build failed, or its
    // result cannot be stored.
    void (*store)(void *self, const struct zepi_key *key, const struct zepi_build_record *record);
    // Forgets the key.
    void (*remove)(void *self, const struct zepi_key *key);
};

struct zepi_build_store {
    const struct zepi_build_store_ops *ops;
    void *self; // borrowed, outlives the cache
    // Fills a zeroed output, but for the log, from the bytes of a record, which it copies (aligned
    // to 16 bytes, checksum already verified). Returns false without memory, or if the bytes are no
    // payload: the result is then built, and replaces the record if it is a success. Called under
    // no lock.
    bool (*make_payload)(struct zepi_build_output *output, const void *bytes, size_t size);
};

#endif
