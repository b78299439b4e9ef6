// SPDX-License-Identifier: MIT
#include "memory.h"

#include "chain.h"
#include "device/device.h"
#include "device/device_access.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"
#include "pages.h"
#include "shared_file.h"
#include "ze_newer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Guards the variables below; nothing is called under it but realloc and mprotect.
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct cpu_allocation *table; // owned, ascending by address
static size_t table_count;
static size_t table_capacity;

static _Atomic uint64_t last_id;

uint64_t cpu_memory_new_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

// Index of the first allocation above `address`.
static size_t upper_bound_locked(uintptr_t address)
{
    size_t low = 0;
    size_t high = table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct cpu_allocation *cpu_memory_from_locked(uintptr_t address)
{
    size_t index = upper_bound_locked(address);
    if (index > 0 && address - table[index - 1].address < table[index - 1].size_bytes)
        index--;
    return index < table_count ? &table[index] : NULL;
}

struct cpu_allocation *cpu_memory_next_locked(struct cpu_allocation *allocation)
{
    return allocation + 1 < table + table_count ? allocation + 1 : NULL;
}

static struct cpu_allocation *find_locked(const void *pointer)
{
    struct cpu_allocation *found = cpu_memory_from_locked((uintptr_t)pointer);
    return found != NULL && found->address <= (uintptr_t)pointer ? found : NULL;
}

bool cpu_memory_insert_locked(const struct cpu_allocation *allocation)
{
    const struct cpu_allocation copy = *allocation; // which may lie in the table
    if (table_count == table_capacity) {
        size_t capacity = table_capacity != 0 ? table_capacity * 2 : 32;
        struct cpu_allocation *grown = realloc(table, capacity * sizeof(*grown));
        if (grown == NULL)
            return false;
        table = grown;
        table_capacity = capacity;
    }
    size_t index = upper_bound_locked(copy.address);
    memmove(&table[index + 1], &table[index], (table_count - index) * sizeof(table[0]));
    table[index] = copy;
    table_count++;
    return true;
}

void cpu_memory_remove_locked(struct cpu_allocation *allocation)
{
    const size_t behind = table_count - (size_t)(allocation - table) - 1;
    memmove(allocation, allocation + 1, behind * sizeof(table[0]));
    table_count--;
    if (table_count == 0) {
        free(table);
        table = NULL;
        table_capacity = 0;
    }
}

void cpu_memory_lock(void)
{
    pthread_rwlock_wrlock(&table_lock);
}

void cpu_memory_unlock(void)
{
    pthread_rwlock_unlock(&table_lock);
}

static bool insert(const struct cpu_allocation *allocation)
{
    cpu_memory_lock();
    const bool is_inserted = cpu_memory_insert_locked(allocation);
    cpu_memory_unlock();
    return is_inserted;
}

bool cpu_memory_erase(const void *pointer, bool is_imported, struct cpu_allocation *out_erased)
{
    cpu_memory_lock();
    struct cpu_allocation *found = find_locked(pointer);
    const bool is_found = found != NULL && found->address == (uintptr_t)pointer &&
                          found->origin != CPU_MAPPED &&
                          (found->origin == CPU_IMPORTED) == is_imported;
    if (is_found) {
        *out_erased = *found;
        cpu_memory_remove_locked(found);
    }
    cpu_memory_unlock();
    return is_found;
}

int cpu_memory_rights(const struct cpu_allocation *allocation)
{
    if (allocation->type == ZE_MEMORY_TYPE_DEVICE && !cpu_device_access_is_open(allocation->device))
        return PROT_NONE;
    switch (allocation->access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return PROT_READ | PROT_WRITE;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return PROT_READ;
    default:
        return PROT_NONE;
    }
}

void cpu_memory_apply_access(void)
{
    pthread_rwlock_rdlock(&table_lock);
    for (size_t i = 0; i < table_count; i++)
        if (table[i].type == ZE_MEMORY_TYPE_DEVICE)
            mprotect((void *)table[i].address, table[i].mapped_bytes, cpu_memory_rights(&table[i]));
    pthread_rwlock_unlock(&table_lock);
}

static _Atomic uint64_t taken_bytes;

bool cpu_memory_take(uint64_t bytes)
{
    const uint64_t limit = (uint64_t)cpu_options()->memory_mib << 20;
    // Relaxed: only the number matters.
    const uint64_t before = atomic_fetch_add_explicit(&taken_bytes, bytes, memory_order_relaxed);
    if (limit == 0 || (before <= limit && bytes <= limit - before))
        return true;
    cpu_memory_give(bytes);
    return false;
}

void cpu_memory_give(uint64_t bytes)
{
    atomic_fetch_sub_explicit(&taken_bytes, bytes, memory_order_relaxed);
}

// Of the devices' memory; the host's is theirs if they are integrated.
static uint64_t device_bytes_of(const struct cpu_allocation *allocation)
{
    return allocation->type != ZE_MEMORY_TYPE_HOST || cpu_options()->is_integrated
               ? allocation->size_bytes
               : 0;
}

void cpu_memory_free(const struct cpu_allocation *allocation)
{
    if (allocation->origin == CPU_OF_HOST)
        return;
    if (allocation->origin == CPU_ALLOCATED)
        cpu_memory_give(device_bytes_of(allocation));
    if (allocation->origin == CPU_ALLOCATED)
        cpu_pages_unmap(allocation);
    else
        munmap((void *)allocation->address, allocation->mapped_bytes);
}

bool cpu_memory_is_importable(const char *function, const ze_external_memory_import_fd_t *import,
                              size_t size_bytes)
{
    struct stat status;
    if (cpu_memory_is_file(import->flags) && size_bytes > 0 && fstat(import->fd, &status) == 0 &&
        S_ISREG(status.st_mode) && size_bytes <= (uint64_t)status.st_size)
        return true;
    cpu_report(function, "descriptor %d, of kind 0x%x, is no file of %zu bytes or more", import->fd,
               import->flags, size_bytes);
    return false;
}

// Without a device: host memory. The descriptor is the driver's after success.
static ze_result_t import_file(ze_context_handle_t context, ze_device_handle_t device,
                               const ze_external_memory_import_fd_t *import, size_t size,
                               void **pptr)
{
    if (!cpu_memory_is_importable("zeMemAlloc", import, size))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t result =
        cpu_memory_map_file(context, device, CPU_EXTERNAL, import->fd, 0, size, pptr);
    if (result == ZE_RESULT_SUCCESS)
        close(import->fd);
    return result;
}

static bool overlaps(uintptr_t start, size_t size)
{
    pthread_rwlock_rdlock(&table_lock);
    const size_t index = upper_bound_locked(start + size - 1);
    const bool does = index > 0 && start < table[index - 1].address + table[index - 1].size_bytes;
    pthread_rwlock_unlock(&table_lock);
    return does;
}

// The host's pages become host memory, at their address.
static ze_result_t map_host_pages(ze_context_handle_t context,
                                  const ze_external_memmap_sysmem_ext_desc_t *sysmem, size_t size,
                                  void **pptr)
{
    const uintptr_t start = (uintptr_t)sysmem->pSystemMemory;
    if (start == 0 || start % CPU_PAGE_BYTES != 0 || size == 0 || size % CPU_PAGE_BYTES != 0 ||
        sysmem->size != size || overlaps(start, size)) {
        cpu_report("zeMemAllocHost", "%zu bytes at %p are no pages of the host, or allocated", size,
                   sysmem->pSystemMemory);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const struct cpu_allocation allocation = {.address = start,
                                              .size_bytes = size,
                                              .offset = CPU_NO_FILE,
                                              .origin = CPU_OF_HOST,
                                              .type = ZE_MEMORY_TYPE_HOST,
                                              .context = context,
                                              .id = cpu_memory_new_id()};
    if (!insert(&allocation))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *pptr = sysmem->pSystemMemory;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(ze_context_handle_t context, ze_memory_type_t type, const void *chain,
                            ze_device_handle_t device, size_t size, size_t alignment, void **pptr)
{
    const ze_external_memory_export_desc_t *export =
        type != ZE_MEMORY_TYPE_SHARED
            ? cpu_chain_find(chain, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC)
            : NULL;
    const ze_external_memory_type_flags_t exported_as =
        export != NULL && cpu_memory_is_file(export->flags) ? export->flags : 0;
    if (cpu_chain_has_external_memory(chain) && exported_as == 0)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (alignment > (size_t)1 << 30)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    // Intel's driver accepts other alignments than powers of two.
    size_t power = 1;
    while (power < alignment)
        power *= 2;
    bool is_relaxed =
        cpu_chain_find(chain, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC) != NULL;
    size_t limit = is_relaxed ? (size_t)cpu_opencl()->global_memory_bytes
                              : (size_t)cpu_device_allocation_limit(device);
    if (size == 0 || size > limit)
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    struct cpu_allocation allocation = {.size_bytes = size,
                                        .exported_as = exported_as,
                                        .type = type,
                                        .context = context,
                                        .device = device,
                                        .id = cpu_memory_new_id(),
                                        .access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE};
    if (!cpu_memory_take(device_bytes_of(&allocation)))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    // From its rights to its place in the table no command begins or ends.
    cpu_device_access_lock();
    bool is_made = cpu_pages_map(&allocation, power, cpu_memory_rights(&allocation));
    bool is_known = is_made && insert(&allocation);
    cpu_device_access_unlock();
    if (is_made && !is_known)
        cpu_memory_free(&allocation);
    else if (!is_made)
        cpu_memory_give(device_bytes_of(&allocation));
    if (!is_known)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *pptr = (void *)allocation.address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeMemAllocShared(ze_context_handle_t hContext,
                                            const ze_device_mem_alloc_desc_t *device_desc,
                                            const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                            size_t alignment, ze_device_handle_t hDevice,
                                            void **pptr)
{
    if (cpu_chain_has_external_memory(host_desc->pNext))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return allocate(hContext, ZE_MEMORY_TYPE_SHARED, device_desc->pNext, hDevice, size, alignment,
                    pptr);
}

ze_result_t ZE_APICALL cpu_zeMemAllocDevice(ze_context_handle_t hContext,
                                            const ze_device_mem_alloc_desc_t *device_desc,
                                            size_t size, size_t alignment,
                                            ze_device_handle_t hDevice, void **pptr)
{
    const ze_external_memory_import_fd_t *import =
        cpu_chain_find(device_desc->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    if (import != NULL)
        return import_file(hContext, hDevice, import, size, pptr);
    return allocate(hContext, ZE_MEMORY_TYPE_DEVICE, device_desc->pNext, hDevice, size, alignment,
                    pptr);
}

ze_result_t ZE_APICALL cpu_zeMemAllocHost(ze_context_handle_t hContext,
                                          const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                          size_t alignment, void **pptr)
{
    const ze_external_memmap_sysmem_ext_desc_t *sysmem =
        cpu_chain_find(host_desc->pNext, CPU_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC);
    if (sysmem != NULL)
        return map_host_pages(hContext, sysmem, size, pptr);
    const ze_external_memory_import_fd_t *import =
        cpu_chain_find(host_desc->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    if (import != NULL)
        return import_file(hContext, NULL, import, size, pptr);
    return allocate(hContext, ZE_MEMORY_TYPE_HOST, host_desc->pNext, NULL, size, alignment, pptr);
}

ze_result_t cpu_memory_map_file(ze_context_handle_t context, ze_device_handle_t device,
                                enum cpu_origin origin, int file, uint64_t offset,
                                uint64_t size_bytes, void **out_memory)
{
    const size_t bytes = (size_bytes + CPU_PAGE_BYTES - 1) / CPU_PAGE_BYTES * CPU_PAGE_BYTES;
    const ze_memory_type_t type = device != NULL ? ZE_MEMORY_TYPE_DEVICE : ZE_MEMORY_TYPE_HOST;
    struct cpu_allocation allocation = {.size_bytes = size_bytes,
                                        .mapped_bytes = bytes,
                                        .type = type,
                                        .context = context,
                                        .device = device,
                                        .id = cpu_memory_new_id(),
                                        .offset = offset,
                                        .origin = origin,
                                        .access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE};
    cpu_device_access_lock();
    void *pages =
        mmap(NULL, bytes, cpu_memory_rights(&allocation), MAP_SHARED, file, (off_t)offset);
    allocation.address = (uintptr_t)pages;
    const bool is_known = pages != MAP_FAILED && insert(&allocation);
    cpu_device_access_unlock();
    if (pages != MAP_FAILED && !is_known)
        munmap(pages, bytes);
    if (!is_known)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out_memory = pages;
    return ZE_RESULT_SUCCESS;
}

bool cpu_memory_close(const void *pointer)
{
    struct cpu_allocation erased;
    const bool is_known = cpu_memory_erase(pointer, true, &erased);
    if (is_known)
        cpu_memory_free(&erased);
    return is_known;
}

// What is mapped has its own count (virtual_memory.h).
static void count_usm(uint64_t *out_count, uint64_t *out_bytes)
{
    *out_count = *out_bytes = 0;
    pthread_rwlock_rdlock(&table_lock);
    for (size_t i = 0; i < table_count; i++) {
        *out_count += table[i].origin != CPU_MAPPED;
        *out_bytes += table[i].origin != CPU_MAPPED ? table[i].size_bytes : 0;
    }
    pthread_rwlock_unlock(&table_lock);
}

uint64_t cpu_memory_live(void)
{
    uint64_t count, bytes;
    count_usm(&count, &bytes);
    return count;
}

uint64_t cpu_memory_live_bytes(void)
{
    uint64_t count, bytes;
    count_usm(&count, &bytes);
    return bytes;
}

bool cpu_memory_find(const void *pointer, struct cpu_allocation *out_allocation)
{
    pthread_rwlock_rdlock(&table_lock);
    const struct cpu_allocation *found = find_locked(pointer);
    if (found != NULL)
        *out_allocation = *found;
    pthread_rwlock_unlock(&table_lock);
    return found != NULL;
}

// The attribute of the shared allocation that the range lies in; NULL, after a line: in none.
static uint32_t *atomic_access_locked(ze_context_handle_t context, const void *pointer, size_t size,
                                      const char *function)
{
    struct cpu_allocation *found = find_locked(pointer);
    if (found != NULL && found->context == context && found->type == ZE_MEMORY_TYPE_SHARED &&
        size <= found->size_bytes - ((uintptr_t)pointer - found->address))
        return &found->atomic_access;
    cpu_report(function, "%zu bytes at %p are not in a shared allocation", size, pointer);
    return NULL;
}

ze_result_t ZE_APICALL cpu_zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                            ze_device_handle_t hDevice,
                                                            const void *ptr, size_t size,
                                                            uint32_t attr)
{
    if (attr >= CPU_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS << 1)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    // As zeDeviceGetMemoryAccessProperties tells.
    if (attr & CPU_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS && !cpu_options()->is_integrated)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    cpu_memory_lock();
    uint32_t *kept = atomic_access_locked(hContext, ptr, size, __func__);
    if (kept != NULL)
        *kept = attr;
    pthread_rwlock_unlock(&table_lock);
    return kept != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t ZE_APICALL cpu_zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                            ze_device_handle_t hDevice,
                                                            const void *ptr, size_t size,
                                                            uint32_t *pAttr)
{
    pthread_rwlock_rdlock(&table_lock);
    const uint32_t *kept = atomic_access_locked(hContext, ptr, size, __func__);
    if (kept != NULL)
        *pAttr = *kept;
    pthread_rwlock_unlock(&table_lock);
    return kept != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
