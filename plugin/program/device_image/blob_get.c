// SPDX-License-Identifier: MIT
#include "program/device_image/blob.h"

#include "core/alloc.h"
#include "program/device_image/device_image_build.h"

#define BUCKETS 256
#define SAMPLES 4
#define MOST_MISTAKEN 4 // then a digest is worth its price: there are many variants of these bytes

// Guards the table and the move of a count from 0; only functions that read bytes are called under
// it.
static struct zepi_mutex mutex;
static struct zepi_blob *buckets[BUCKETS];

// Of the length and of words at equal distances, the last one at the end. Bytes with the same hash
// differ sooner or later: those that it finds are compared.
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

// Past the first that has the hash and other bytes.
static __attribute__((noinline)) struct zepi_blob *
blob_find_next_locked(struct zepi_blob *at, const void *bytes, size_t size_bytes, uint64_t hash,
                      bool is_spirv)
{
    struct zepi_digest digest = {0};
    unsigned mistaken = 1; // for these bytes
    for (at = at->next; at; at = at->next) {
        if (at->sample_hash != hash || at->size_bytes != size_bytes || at->is_spirv != is_spirv ||
            (mistaken >= MOST_MISTAKEN && !zepi_digest_equal(at->digest, digest)))
            continue;
        if (memcmp(at->bytes, bytes, size_bytes) == 0)
            break;
        if (++mistaken == MOST_MISTAKEN)
            digest = zepi_digest_of(bytes, size_bytes);
    }
    return at;
}

static inline struct zepi_blob *blob_find_locked(const void *bytes, size_t size_bytes,
                                                 uint64_t hash, bool is_spirv)
{
    struct zepi_blob *at = buckets[hash % BUCKETS];
    while (at &&
           (at->sample_hash != hash || at->size_bytes != size_bytes || at->is_spirv != is_spirv))
        at = at->next;
    if (at && memcmp(at->bytes, bytes, size_bytes) != 0)
        at = blob_find_next_locked(at, bytes, size_bytes, hash, is_spirv);
    if (at)
        atomic_fetch_add_explicit(&at->references, 1, memory_order_relaxed);
    return at;
}

static void blob_destroy(struct zepi_blob *blob)
{
    zepi_free(blob->declarations);
    zepi_spirv_finish(&blob->spirv);
    zepi_free(blob);
}

static zepi_result_t blob_create(const void *bytes, size_t size_bytes, uint64_t hash, bool is_spirv,
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
    blob->sample_hash = hash;
    blob->is_spirv = is_spirv;
    atomic_init(&blob->references, 1);
    if (is_spirv) {
        const enum zepi_spirv_status status =
            zepi_spirv_init(&blob->spirv, blob->bytes, size_bytes, message, sizeof(message));
        if (status != ZEPI_SPIRV_OK) {
            zepi_free(blob);
            return status == ZEPI_SPIRV_OUT_OF_MEMORY
                       ? zepi_fail_no_memory()
                       : zepi_fail(ZEPI_ERROR_COMPILE_FAILURE, "not valid SPIR-V: %s", message);
        }
    }
    blob->digest = zepi_digest_of(blob->bytes, size_bytes);
    if (is_spirv) {
        const zepi_result_t result = zepi_device_image_describe_code(blob);
        if (result != ZEPI_SUCCESS) {
            blob_destroy(blob);
            return result;
        }
    }
    *out_blob = blob;
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t blob_add(const void *bytes, size_t size_bytes,
                                                        uint64_t hash, bool is_spirv,
                                                        struct zepi_blob **out_blob)
{
    struct zepi_blob *made;
    const zepi_result_t result = blob_create(bytes, size_bytes, hash, is_spirv, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    // Another thread may have been faster.
    zepi_mutex_lock(&mutex);
    struct zepi_blob *blob = blob_find_locked(bytes, size_bytes, hash, is_spirv);
    if (!blob) {
        made->next = buckets[hash % BUCKETS];
        buckets[hash % BUCKETS] = made;
    }
    zepi_mutex_unlock(&mutex);
    if (blob)
        blob_destroy(made);
    *out_blob = blob ? blob : made;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_blob_get(const void *bytes, size_t size_bytes, bool is_spirv,
                            struct zepi_blob **out_blob)
{
    const uint64_t hash = blob_hash_samples(bytes, size_bytes);
    zepi_mutex_lock(&mutex);
    struct zepi_blob *blob = blob_find_locked(bytes, size_bytes, hash, is_spirv);
    zepi_mutex_unlock(&mutex);
    if (!blob)
        return blob_add(bytes, size_bytes, hash, is_spirv, out_blob);
    *out_blob = blob;
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
        struct zepi_blob **link = &buckets[blob->sample_hash % BUCKETS];
        while (*link != blob)
            link = &(*link)->next;
        *link = blob->next;
    }
    zepi_mutex_unlock(&mutex);
    if (is_last)
        blob_destroy(blob);
}
