// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_LIBRARY_H
#define ZEPI_CACHE_SHARED_SHARED_LIBRARY_H

#include "cache/shared/shared.h"

// The functions of shared.h in a library of their own, so that hiredis and libcrypto are loaded by
// processes alone that have such a store. shared_loader.c, in the core, has the same functions and
// opens it.

#define ZEPI_SHARED_LIBRARY "libzepi_shared_store.so"
#define ZEPI_SHARED_LIBRARY_SYMBOL "zepi_shared_library"

struct zepi_shared_library {
    const char *version; // of zepi; with another one than the core's nothing else is looked at
    struct zepi_shared *(*create)(const struct zepi_shared_config *config,
                                  char out_refusal[ZEPI_SHARED_TEXT_BYTES]);
    void (*destroy)(struct zepi_shared *shared);
    void (*describe)(const struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES]);
    const struct zepi_build_store_ops *ops;
};

extern const struct zepi_shared_library zepi_shared_library;

#endif
