// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_REST_H
#define ZEPI_MODULE_REST_H

#include "base/object.h"

#include <stdalign.h>

struct zepi_build_memo;
struct zepi_context;
struct zepi_module;

// Modules without references, kept for who makes the same again: inputs of one plain image, and
// executables, whose build a memo remembers and the cache keeps. A host that keeps nothing (creates
// a module of known bytes, builds it and releases all) gets back what it released, kernels and all,
// but for the values that were set. The last few of each thread's; given up before the caches evict
// anything, whose results they hold.

#define ZEPI_REST_PLACES 4 // a power of two

struct zepi_module_rest {
    atomic_bool is_on; // the context's caches keep something: what comes from none stays in none
    struct {
        alignas(64) _Atomic(struct zepi_module *) inputs[ZEPI_REST_PLACES];
        _Atomic(struct zepi_module *) executables[ZEPI_REST_PLACES];
    } shares[ZEPI_THREAD_SHARDS]; // of threads
};

// A module's last reference went. Whether it rests now, and holds its context no longer; else it is
// to be destroyed.
bool zepi_module_rest(struct zepi_module *module);

// A module that rested, with one reference; NULL: there is none. An input of the context, of the
// plain image of these bytes, with their hash (intern.h); or an executable with the input's images,
// built with its values as its memo says, if that is what `desc` (may be NULL) asks for.
struct zepi_module *zepi_module_wake_input(struct zepi_context *context, const void *bytes,
                                           size_t size_bytes, uint64_t hash);
struct zepi_module *zepi_module_wake_executable(struct zepi_module *input,
                                                const zepi_build_desc_t *desc);

// All that rest in the context go.
void zepi_modules_destroy_resting(struct zepi_context *context);

#endif
