// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_H
#define ZEPI_CACHE_SHARED_SHARED_H

#include "cache/build_store.h"
#include "cache/disk/disk_record.h"
#include "cache/shared/shared_config.h"

#include <stdint.h>

// A store of build results on a server that many machines share: Redis or Valkey. README.md has the
// format, the claim of the one process that builds while others wait, and the reasons why a record
// or a server is not used. Thread-safe. Each operation has a connection of its own. Nothing here
// fails a build.

struct zepi_shared; // opaque

struct zepi_shared_limits {
    int connect_ms;
    int operation_ms; // a command or a few, of which one may move a record
    int claim_ms;
    int backoff_ms; // how long a server that failed is left alone
};

struct zepi_shared_config {
    const char *address;       // shared_config.h
    const char *key_file;      // of the HMAC; "": none, for sockets of this machine alone
    const char *password_file; // "": the server wants none
    struct zepi_shared_limits limits;
    void (*note)(const char *line); // told when the server fails; any thread; may be NULL
};

enum { ZEPI_SHARED_TEXT_BYTES = 512 };

// Returns an owned store; or NULL, and the reason as a sentence. The files of the configuration are
// read, the server is not asked. The configuration is copied.
struct zepi_shared *zepi_shared_create(const struct zepi_shared_config *config,
                                       char out_refusal[ZEPI_SHARED_TEXT_BYTES]);

// NULL is fine. No thread may be inside another function of the store.
void zepi_shared_destroy(struct zepi_shared *shared);

// The operations for `struct zepi_build_store`; `self` is the zepi_shared.
extern const struct zepi_build_store_ops zepi_shared_store_ops;

// Tries the server now. The state is "usable", or the reason why it is not.
void zepi_shared_describe(struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES]);

// All of these, as the store's library (README.md) has them: its one symbol.
struct zepi_shared_library {
    __typeof__(zepi_shared_create) *create;
    __typeof__(zepi_shared_destroy) *destroy;
    __typeof__(zepi_shared_describe) *describe;
    const struct zepi_build_store_ops *ops;
};

// ---- Records ----

// A record as the server has it: the HMAC-SHA256 of the rest (zeros without a key), then the
// bytes of a file of the disk cache (cache/disk/README.md).

enum { ZEPI_SHARED_MAC_BYTES = 32 };

// Longer records are neither stored nor read.
#define ZEPI_SHARED_MAX_RECORD_BYTES ((size_t)256 << 20)

// Returns the bytes, which the caller frees by zepi_sys_free, or NULL: without memory, or too long.
uint8_t *zepi_shared_record_encode(const struct zepi_shared_secret *secret,
                                   const struct zepi_key *key,
                                   const struct zepi_build_record *record, size_t *out_size);

// Returns whether the bytes are one whole sound record that was made with the same key.
// Borrows from them.
bool zepi_shared_record_decode(const struct zepi_shared_secret *secret, const uint8_t *bytes,
                               size_t size, struct zepi_disk_record_view *out_view);

#endif
