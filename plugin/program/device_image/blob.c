// SPDX-License-Identifier: MIT
#include "program/device_image/blob.h"

#include "core/alloc.h"

#define SAMPLES 4

// Guards the tables and the move of a count from 0; only functions that read bytes or allocate are
// called under it.
static struct zepi_mutex mutex;
// One table for native code, one for SPIR-V.
static struct {
    struct zepi_blob *by_digest; // all
    struct zepi_blob *by_sample; // of blobs with the same samples, the one that was asked for last
} tables[2];

// The hash of the length and of words at equal distances, the last one at the end. Bytes with one
// hash differ sooner or later: those that it finds are compared.
static uint64_t blob_hash_samples(const void *all_bytes, size_t size_bytes)
{
    const uint8_t *bytes = all_bytes;
    uint64_t hash = size_bytes;
    uint64_t word = 0;
    if (size_bytes < sizeof(word))
        return zepi_digest_hash(bytes, size_bytes);
    const size_t step = (size_bytes - sizeof(word)) / (SAMPLES - 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        memcpy(&word, bytes + (i + 1 < SAMPLES ? i * step : size_bytes - sizeof(word)),
               sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool blob_has_bytes(const struct zepi_blob *blob, const void *bytes, size_t size_bytes)
{
    return blob->size_bytes == size_bytes && memcmp(blob->bytes, bytes, size_bytes) == 0;
}

static inline struct zepi_blob *blob_find_sample_locked(uint64_t sample, bool is_spirv)
{
    struct zepi_blob *found;
    HASH_FIND_BYHASHVALUE(by_sample, tables[is_spirv].by_sample, &sample, sizeof(sample),
                          (unsigned)sample, found);
    return found;
}

static void blob_forget_sample_locked(struct zepi_blob *blob)
{
    if (zepi_hash_was_added(&blob->by_sample))
        HASH_DELETE(by_sample, tables[blob->is_spirv].by_sample, blob);
    blob->by_sample.tbl = NULL;
}

// From now on it is the one that its samples find.
static void blob_note_sample_locked(struct zepi_blob *blob)
{
    struct zepi_blob *other = blob_find_sample_locked(blob->sample_hash, blob->is_spirv);
    if (other == blob)
        return;
    if (other)
        blob_forget_sample_locked(other);
    HASH_ADD_KEYPTR_BYHASHVALUE(by_sample, tables[blob->is_spirv].by_sample, &blob->sample_hash,
                                sizeof(blob->sample_hash), (unsigned)blob->sample_hash, blob);
}

static inline struct zepi_blob *blob_find_by_sample(const void *bytes, size_t size_bytes,
                                                    uint64_t sample, bool is_spirv)
{
    zepi_mutex_lock(&mutex);
    struct zepi_blob *found = blob_find_sample_locked(sample, is_spirv);
    if (found && !blob_has_bytes(found, bytes, size_bytes))
        found = NULL;
    if (found)
        atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
    zepi_mutex_unlock(&mutex);
    return found;
}

static struct zepi_blob *blob_find_by_digest_locked(const void *bytes, size_t size_bytes,
                                                    const struct zepi_digest *digest, bool is_spirv)
{
    struct zepi_blob *found;
    HASH_FIND_BYHASHVALUE(by_digest, tables[is_spirv].by_digest, digest, sizeof(*digest),
                          (unsigned)digest->low, found);
    if (!found || !blob_has_bytes(found, bytes, size_bytes))
        return NULL;
    atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
    blob_note_sample_locked(found);
    return found;
}

static void blob_destroy(struct zepi_blob *blob)
{
    zepi_free(blob->declarations);
    zepi_spirv_finish(&blob->spirv);
    zepi_free(blob);
}

static zepi_result_t blob_create(const void *bytes, size_t size_bytes, uint64_t sample,
                                 struct zepi_digest digest, bool is_spirv,
                                 struct zepi_blob **out_blob)
{
    char message[512];
    if (size_bytes > SIZE_MAX - sizeof(struct zepi_blob))
        return zepi_fail_no_memory();
    struct zepi_blob *blob = zepi_sys_allocate(sizeof(*blob) + size_bytes);
    if (!blob)
        return zepi_fail_no_memory();
    memset(blob, 0, sizeof(*blob));
    memcpy(blob + 1, bytes, size_bytes);
    blob->bytes = (const uint8_t *)(blob + 1);
    blob->size_bytes = size_bytes;
    blob->sample_hash = sample;
    blob->digest = digest;
    blob->is_spirv = is_spirv;
    atomic_init(&blob->references, 1);
    if (is_spirv) {
        const enum zepi_spirv_status status =
            zepi_spirv_init(&blob->spirv, blob->bytes, size_bytes, message, sizeof(message));
        if (status == ZEPI_SPIRV_OK)
            blob->declarations =
                zepi_allocate(blob->spirv.constant_count, sizeof(blob->declarations[0]));
        if (!blob->declarations) {
            blob_destroy(blob);
            return status == ZEPI_SPIRV_INVALID
                       ? zepi_fail(ZEPI_ERROR_COMPILE_FAILURE, "not valid SPIR-V: %s", message)
                       : zepi_fail_no_memory();
        }
        zepi_spec_declare_spirv(&blob->spirv, blob->declarations);
    }
    *out_blob = blob;
    return ZEPI_SUCCESS;
}

// Enters a blob that was made, unless another thread was faster: returns it, or a new reference to
// that one. Without memory for the tables it stays unknown.
static struct zepi_blob *blob_enter(struct zepi_blob *made)
{
    zepi_mutex_lock(&mutex);
    struct zepi_blob *there =
        blob_find_by_digest_locked(made->bytes, made->size_bytes, &made->digest, made->is_spirv);
    if (!there) {
        HASH_ADD_KEYPTR_BYHASHVALUE(by_digest, tables[made->is_spirv].by_digest, &made->digest,
                                    sizeof(made->digest), (unsigned)made->digest.low, made);
        blob_note_sample_locked(made);
    }
    zepi_mutex_unlock(&mutex);
    return there ? there : made;
}

zepi_result_t zepi_blob_get(const void *bytes, size_t size_bytes, bool is_spirv,
                            struct zepi_blob **out_blob)
{
    const uint64_t sample = blob_hash_samples(bytes, size_bytes);
    *out_blob = blob_find_by_sample(bytes, size_bytes, sample, is_spirv);
    if (*out_blob)
        return ZEPI_SUCCESS;
    const struct zepi_digest digest = zepi_digest_of(bytes, size_bytes);
    zepi_mutex_lock(&mutex);
    *out_blob = blob_find_by_digest_locked(bytes, size_bytes, &digest, is_spirv);
    zepi_mutex_unlock(&mutex);
    if (*out_blob)
        return ZEPI_SUCCESS;
    struct zepi_blob *made;
    const zepi_result_t result = blob_create(bytes, size_bytes, sample, digest, is_spirv, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_blob = blob_enter(made);
    if (*out_blob != made)
        blob_destroy(made);
    return ZEPI_SUCCESS;
}

void zepi_blob_release(struct zepi_blob *blob)
{
    if (!blob)
        return;
    // Release: the last user's reads are over before the memory goes.
    unsigned references = atomic_load_explicit(&blob->references, memory_order_relaxed);
    while (references > 1) {
        if (atomic_compare_exchange_weak_explicit(&blob->references, &references, references - 1,
                                                  memory_order_release, memory_order_relaxed))
            return;
    }
    // Perhaps the last: only under the lock, so that no thread finds a blob that is about to go.
    zepi_mutex_lock(&mutex);
    const bool is_last = atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) == 1;
    if (is_last) {
        blob_forget_sample_locked(blob);
        if (zepi_hash_was_added(&blob->by_digest))
            HASH_DELETE(by_digest, tables[blob->is_spirv].by_digest, blob);
    }
    zepi_mutex_unlock(&mutex);
    if (is_last)
        blob_destroy(blob);
}
