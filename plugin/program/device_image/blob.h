// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_BLOB_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_BLOB_H

#include "cache/digest.h"
#include "cache/hash.h"
#include "core/mutex.h"
#include "core/status.h"
#include "program/device_image/spec_values.h"
#include "spirv/spirv.h"

#include <stdatomic.h>
#include <string.h>

// The bytes of an image, once in the process however often a host hands them in, with their
// digest, what the parser of SPIR-V read and the declarations of a plain image of it. Known bytes
// are recognised by their length, a hash of samples and a comparison with the copy, which costs
// less than a digest; where other bytes have the same samples, by their digest. Immutable.
struct zepi_blob {
    UT_hash_handle by_sample, by_digest; // in the tables; guarded by their lock
    atomic_uint references;
    uint64_t sample_hash;      // of the length, too
    struct zepi_digest digest; // XXH3-128 of the bytes
    size_t size_bytes;
    const uint8_t *bytes;
    bool is_spirv;
    // Zeroed if the bytes are native.
    struct zepi_spirv spirv;
    struct zepi_spec_declaration *declarations; // owned; of its constants, sorted by id
};

// New reference to the blob copy of the bytes. SPIR-V that the parser refuses is
// ZEPI_ERROR_COMPILE_FAILURE, saying where and why.
zepi_result_t zepi_blob_get(const void *bytes, size_t size_bytes, bool is_spirv,
                            struct zepi_blob **out_blob);
static inline struct zepi_blob *zepi_blob_retain(struct zepi_blob *blob)
{
    // Relaxed: a reference is made from a reference.
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}
void zepi_blob_release(struct zepi_blob *blob); // NULL is fine

#endif
