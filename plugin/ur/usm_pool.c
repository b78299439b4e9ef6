// SPDX-License-Identifier: MIT
#include "ur/usm_pool.h"

#include "base/alloc.h"
#include "cache/hash.h"
#include "memory/usm.h"
#include "ur/info.h"

#include <pthread.h>

struct zepi_ur_usm_pool {
    struct zepi_object object;
    struct zepi_context *context; // retained
    ur_usm_pool_flags_t flags;
    // Under `mutex` below.
    size_t used_bytes;
    size_t used_high_bytes;
};

// The name that ZEPI_DEFINE_TYPE makes the type's from.
static void usm_pool_destroy(void *object)
{
    struct zepi_ur_usm_pool *pool = object;
    zepi_release(pool->context);
}

ZEPI_DEFINE_TYPE(ur_usm_pool, usm_pool_destroy);

// Memory that came from a pool. It keeps the pool, which the host may release before.
struct pooled {
    UT_hash_handle hh;
    const void *memory;
    struct zepi_ur_usm_pool *pool; // reference
    size_t size_bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards the table; malloc under it
static struct pooled *table;
static atomic_size_t table_count; // a look without the lock: most programs have no such pool

static unsigned hash_of(const void *memory)
{
    return (unsigned)(((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct pooled *find_locked(const struct zepi_context *context, const void *memory)
{
    struct pooled *entry;
    HASH_FIND_BYHASHVALUE(hh, table, &memory, sizeof(memory), hash_of(memory), entry);
    return entry && entry->pool->context == context ? entry : NULL;
}

ur_result_t zepi_ur_usm_pool_allocate(ur_usm_pool_handle_t handle, struct zepi_context *context,
                                      struct zepi_device *device, zepi_usm_kind_t kind, size_t size,
                                      size_t alignment, void **out_memory)
{
    struct zepi_ur_usm_pool *pool = (struct zepi_ur_usm_pool *)handle;
    void *memory;
    if (pool->context != context)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_CONTEXT, "the pool is of another context");
    struct pooled *entry = zepi_allocate(1, sizeof(*entry));
    if (!entry)
        return zepi_ur_result(zepi_fail_no_memory());
    const zepi_result_t result = zepi_usm_allocate(context, device, kind, size, alignment, &memory);
    if (result != ZEPI_SUCCESS) {
        const ur_result_t ur = zepi_ur_fail(result);
        zepi_free(entry);
        return result == ZEPI_ERROR_INVALID_SIZE ? UR_RESULT_ERROR_INVALID_USM_SIZE : ur;
    }
    entry->memory = memory;
    entry->pool = zepi_retain(pool);
    entry->size_bytes = size;
    bool is_out_of_memory;
    pthread_mutex_lock(&mutex);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, table, &entry->memory, sizeof(entry->memory), hash_of(memory),
                                entry);
    is_out_of_memory = entry->hh.tbl == NULL;
    if (!is_out_of_memory) {
        pool->used_bytes += size;
        if (pool->used_bytes > pool->used_high_bytes)
            pool->used_high_bytes = pool->used_bytes;
        atomic_store_explicit(&table_count, HASH_COUNT(table), memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
    if (is_out_of_memory) {
        zepi_release(pool);
        zepi_free(entry);
        zepi_usm_free(context, memory);
        return zepi_ur_result(zepi_fail_no_memory());
    }
    *out_memory = memory;
    return UR_RESULT_SUCCESS;
}

struct zepi_ur_usm_pool *zepi_ur_usm_pools_find(const struct zepi_context *context,
                                                const void *memory)
{
    if (atomic_load_explicit(&table_count, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&mutex);
    struct pooled *entry = find_locked(context, memory);
    struct zepi_ur_usm_pool *pool = entry ? entry->pool : NULL;
    pthread_mutex_unlock(&mutex);
    return pool;
}

void zepi_ur_usm_pools_forget(const struct zepi_context *context, const void *memory)
{
    // Relaxed: whoever frees memory was given it after the count went up.
    if (atomic_load_explicit(&table_count, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&mutex);
    struct pooled *entry = find_locked(context, memory);
    if (entry) {
        HASH_DELETE(hh, table, entry);
        entry->pool->used_bytes -= entry->size_bytes;
        atomic_store_explicit(&table_count, HASH_COUNT(table), memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
    if (!entry)
        return;
    zepi_release(entry->pool);
    zepi_free(entry);
}

static ur_result_t create(struct zepi_context *context, const ur_usm_pool_desc_t *desc,
                          ur_usm_pool_handle_t *out_pool)
{
    ur_result_t result = zepi_ur_check_pointer(desc, "pPoolDesc");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(out_pool, "ppPool");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_flags(desc->flags, UR_USM_POOL_FLAGS_MASK);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (desc->flags & UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "Level Zero has no zeroed allocations");
    struct zepi_ur_usm_pool *pool = zepi_object_create(&zepi_ur_usm_pool_type);
    if (!pool)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    pool->context = zepi_retain(context);
    pool->flags = desc->flags;
    *out_pool = (ur_usm_pool_handle_t)pool;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urUSMPoolCreate(ur_context_handle_t hContext, ur_usm_pool_desc_t *pPoolDesc,
                                 ur_usm_pool_handle_t *ppPool)
{
    const ur_result_t result = zepi_ur_check_context(hContext);
    return result == UR_RESULT_SUCCESS ? create(zepi_ur_context(hContext), pPoolDesc, ppPool)
                                       : result;
}

ur_result_t zepi_urUSMPoolRetain(ur_usm_pool_handle_t pPool)
{
    return zepi_ur_retain(zepi_ur_check_usm_pool(pPool), pPool);
}

ur_result_t zepi_urUSMPoolRelease(ur_usm_pool_handle_t pPool)
{
    return zepi_ur_release(zepi_ur_check_usm_pool(pPool), pPool);
}

static size_t read_locked(const size_t *counter)
{
    pthread_mutex_lock(&mutex);
    const size_t value = *counter;
    pthread_mutex_unlock(&mutex);
    return value;
}

static ur_result_t pool_info(const struct zepi_ur_usm_pool *pool, ur_usm_pool_info_t question,
                             const struct zepi_ur_info *info)
{
    switch ((int)question) {
    case UR_USM_POOL_INFO_REFERENCE_COUNT:
        return zepi_ur_answer_references(info, pool);
    case UR_USM_POOL_INFO_CONTEXT:
        return zepi_ur_answer_handle(info, pool->context);
    // What is freed goes back to the driver at once, and the driver alone sets a limit.
    case UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP:
        return zepi_ur_answer_size(info, 0);
    case UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP:
        return zepi_ur_answer_size(info, SIZE_MAX);
    case UR_USM_POOL_INFO_RESERVED_CURRENT_EXP:
    case UR_USM_POOL_INFO_USED_CURRENT_EXP:
        return zepi_ur_answer_size(info, read_locked(&pool->used_bytes));
    case UR_USM_POOL_INFO_RESERVED_HIGH_EXP:
    case UR_USM_POOL_INFO_USED_HIGH_EXP:
        return zepi_ur_answer_size(info, read_locked(&pool->used_high_bytes));
    default:
        return zepi_ur_refuse_question(question, UR_USM_POOL_INFO_USED_HIGH_EXP);
    }
}

ur_result_t zepi_urUSMPoolGetInfo(ur_usm_pool_handle_t hPool, ur_usm_pool_info_t propName,
                                  size_t propSize, void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    ur_result_t result = zepi_ur_check_usm_pool(hPool);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_info_check(&info);
    return result == UR_RESULT_SUCCESS
               ? pool_info((struct zepi_ur_usm_pool *)hPool, propName, &info)
               : result;
}
