// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_H
#define ZEPI_CACHE_SHARED_SHARED_H

#include "cache/build_store.h"

#include <stdint.h>

// A store of build results on a server that many machines share: Redis or Valkey. README.md has the
// format and how one process builds while the others wait.
//
// - A load that misses claims the key for some time. While another process has the claim, it waits
//   for that one's record. A claim ends with the record, with `abandon`, or with its time, if the
//   builder died. A wait never exceeds two claims.
// - A server that cannot be reached, does not reply in time, replies with an error or with
//   anything else but the protocol costs its time once. Then it is left alone for a while: loads
//   miss, and nothing is stored.
// - A record is used if its HMAC, checksum and whole key are right. Any other is a miss, and the
//   next store replaces it.
//
// Thread-safe. Each operation has a connection of its own. Nothing here fails a build.

struct zepi_shared; // opaque

struct zepi_shared_limits {
    int connect_ms;
    int operation_ms; // a command or a few, of which one may move a record
    int claim_ms;
    int rest_ms; // how long a server that failed is left alone
};

struct zepi_shared_config {
    const char *address;       // address.h
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
void zepi_shared_describe(const struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES]);

#endif
