// SPDX-License-Identifier: MIT
#include "program/device_image/intern.h"

#include "core/alloc.h"
#include "program/device_image/image_build.h"

#define BUCKETS 256
#define SAMPLES 4
#define MOST_MISTAKEN 4 // then a digest is worth its price: there are many variants of these bytes

// Guards the table and the move of a count from 0; nothing is called under it but what reads bytes.
static struct zepi_mutex mutex;
static struct zepi_interned *buckets[BUCKETS];

// Of the length and of words at equal distances, the last one at the end. Bytes with the same hash
// differ sooner or later: what is found by it is compared.
static uint64_t hash_samples(const void *all_bytes, size_t size_bytes)
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
static __attribute__((noinline)) struct zepi_interned *
find_next_locked(struct zepi_interned *at, const void *bytes, size_t size_bytes, uint64_t hash,
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

static inline struct zepi_interned *find_locked(const void *bytes, size_t size_bytes, uint64_t hash,
                                                bool is_spirv)
{
    struct zepi_interned *at = buckets[hash % BUCKETS];
    while (at &&
           (at->sample_hash != hash || at->size_bytes != size_bytes || at->is_spirv != is_spirv))
        at = at->next;
    if (at && memcmp(at->bytes, bytes, size_bytes) != 0)
        at = find_next_locked(at, bytes, size_bytes, hash, is_spirv);
    if (at)
        atomic_fetch_add_explicit(&at->references, 1, memory_order_relaxed);
    return at;
}

static void destroy(struct zepi_interned *interned)
{
    zepi_free(interned->declarations);
    zepi_spirv_finish(&interned->spirv);
    zepi_free(interned);
}

static zepi_result_t create(const void *bytes, size_t size_bytes, uint64_t hash, bool is_spirv,
                            struct zepi_interned **out_interned)
{
    char message[512];
    if (size_bytes > SIZE_MAX - sizeof(struct zepi_interned))
        return zepi_fail_no_memory();
    struct zepi_interned *interned = zepi_sys_allocate(sizeof(*interned) + size_bytes);
    if (!interned)
        return zepi_fail_no_memory();
    memset(interned, 0, sizeof(*interned));
    memcpy(interned + 1, bytes, size_bytes);
    interned->bytes = (const uint8_t *)(interned + 1);
    interned->size_bytes = size_bytes;
    interned->sample_hash = hash;
    interned->is_spirv = is_spirv;
    atomic_init(&interned->references, 1);
    if (is_spirv) {
        const enum zepi_spirv_status status = zepi_spirv_init(&interned->spirv, interned->bytes,
                                                              size_bytes, message, sizeof(message));
        if (status != ZEPI_SPIRV_OK) {
            zepi_free(interned);
            return status == ZEPI_SPIRV_OUT_OF_MEMORY
                       ? zepi_fail_no_memory()
                       : zepi_fail(ZEPI_ERROR_COMPILE_FAILURE, "not valid SPIR-V: %s", message);
        }
    }
    interned->digest = zepi_digest_of(interned->bytes, size_bytes);
    if (is_spirv) {
        const zepi_result_t result = zepi_image_describe_code(interned);
        if (result != ZEPI_SUCCESS) {
            destroy(interned);
            return result;
        }
    }
    *out_interned = interned;
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t add(const void *bytes, size_t size_bytes,
                                                   uint64_t hash, bool is_spirv,
                                                   struct zepi_interned **out_interned)
{
    struct zepi_interned *made;
    const zepi_result_t result = create(bytes, size_bytes, hash, is_spirv, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    // Somebody may have been faster.
    zepi_mutex_lock(&mutex);
    struct zepi_interned *interned = find_locked(bytes, size_bytes, hash, is_spirv);
    if (!interned) {
        made->next = buckets[hash % BUCKETS];
        buckets[hash % BUCKETS] = made;
    }
    zepi_mutex_unlock(&mutex);
    if (interned)
        destroy(made);
    *out_interned = interned ? interned : made;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_intern(const void *bytes, size_t size_bytes, bool is_spirv,
                          struct zepi_interned **out_interned)
{
    const uint64_t hash = hash_samples(bytes, size_bytes);
    zepi_mutex_lock(&mutex);
    struct zepi_interned *interned = find_locked(bytes, size_bytes, hash, is_spirv);
    zepi_mutex_unlock(&mutex);
    if (!interned)
        return add(bytes, size_bytes, hash, is_spirv, out_interned);
    *out_interned = interned;
    return ZEPI_SUCCESS;
}

void zepi_intern_release(struct zepi_interned *interned)
{
    if (!interned)
        return;
    // Release: the last user's reads are over before the memory goes.
    unsigned references = atomic_load_explicit(&interned->references, memory_order_relaxed);
    while (references > 1) {
        if (atomic_compare_exchange_weak_explicit(&interned->references, &references,
                                                  references - 1, memory_order_release,
                                                  memory_order_relaxed))
            return;
    }
    // Perhaps the last: only under the lock, so that nobody finds what is about to go.
    zepi_mutex_lock(&mutex);
    const bool is_last =
        atomic_fetch_sub_explicit(&interned->references, 1, memory_order_acq_rel) == 1;
    if (is_last) {
        struct zepi_interned **link = &buckets[interned->sample_hash % BUCKETS];
        while (*link != interned)
            link = &(*link)->next;
        *link = interned->next;
    }
    zepi_mutex_unlock(&mutex);
    if (is_last)
        destroy(interned);
}
