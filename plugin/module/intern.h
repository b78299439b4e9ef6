// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_INTERN_H
#define ZEPI_MODULE_INTERN_H

#include "base/status.h"
#include "cache/digest.h"
#include "cache/mutex.h"
#include "module/spec_values.h"
#include "spirv/spirv.h"

#include <stdatomic.h>
#include <string.h>

// Builds of the same bytes that are remembered: with different values, or options.
#define ZEPI_BUILD_MEMOS 4

// The bytes of an image, once in the process however often a host hands them in, with what is
// computed from them: digest, SPIR-V walk and what a plain image of it declares. Known bytes are
// recognised by their length, a hash of samples and a comparison with the copy, which costs less
// than a digest. Immutable, but for the memo.
struct zepi_interned {
    struct zepi_interned *next; // in the table; guarded by its lock
    atomic_uint references;
    uint64_t sample_hash;      // of the length, too
    struct zepi_digest digest; // XXH3-128 of the bytes
    size_t size_bytes;
    const uint8_t *bytes;
    bool is_spirv;
    // Zeroed if the bytes are native.
    struct zepi_spirv spirv;
    struct zepi_spec_declaration *declarations; // owned; of its constants, sorted by id
    struct zepi_digest identity;                // of a plain image
    struct zepi_mutex memo_mutex;               // guards what is below; nothing is called under it
    // References, or NULL: builds of a plain image, and the values of such that have no memo. Each
    // in the place of the oldest.
    struct zepi_build_memo *memos[ZEPI_BUILD_MEMOS];
    struct zepi_spec_values *last_values[ZEPI_BUILD_MEMOS];
    unsigned next_memo;
    unsigned next_values;
};

// Of the length and of words at equal distances. Bytes with the same hash differ sooner or later:
// what is found by it is compared.
uint64_t zepi_intern_hash(const void *bytes, size_t size_bytes);

// Whether it is the copy of these bytes, with that hash.
static inline bool zepi_intern_is(const struct zepi_interned *interned, const void *bytes,
                                  size_t size_bytes, uint64_t hash, bool is_spirv)
{
    return interned->sample_hash == hash && interned->size_bytes == size_bytes &&
           interned->is_spirv == is_spirv && memcmp(interned->bytes, bytes, size_bytes) == 0;
}

// New reference to the interned copy of the bytes. SPIR-V that the walk refuses is
// ZEPI_ERROR_COMPILE_FAILURE, saying where and why.
zepi_result_t zepi_intern(const void *bytes, size_t size_bytes, bool is_spirv,
                          struct zepi_interned **out_interned);
zepi_result_t zepi_intern_by_hash(const void *bytes, size_t size_bytes, uint64_t hash,
                                  bool is_spirv, struct zepi_interned **out_interned);
static inline struct zepi_interned *zepi_intern_retain(struct zepi_interned *interned)
{
    // Relaxed: a reference is made from a reference.
    atomic_fetch_add_explicit(&interned->references, 1, memory_order_relaxed);
    return interned;
}
void zepi_intern_release(struct zepi_interned *interned); // NULL is fine

#endif
