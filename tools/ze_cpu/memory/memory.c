// SPDX-License-Identifier: MIT
#include "memory.h"

#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"
#include "shared_file.h"
#include "ze_newer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic uint64_t last_id;

uint64_t cpu_memory_new_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
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

uint64_t cpu_memory_left(void)
{
    const uint64_t limit = (uint64_t)cpu_options()->memory_mib << 20;
    const uint64_t taken = atomic_load_explicit(&taken_bytes, memory_order_relaxed);
    return limit == 0 ? UINT64_MAX : taken < limit ? limit - taken : 0;
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

// The host's pages become host memory, at their address.
static ze_result_t map_host_pages(ze_context_handle_t context,
                                  const ze_external_memmap_sysmem_ext_desc_t *sysmem, size_t size,
                                  void **pptr)
{
    const uintptr_t start = (uintptr_t)sysmem->pSystemMemory;
    if (start == 0 || start % CPU_PAGE_BYTES != 0 || size == 0 || size % CPU_PAGE_BYTES != 0 ||
        sysmem->size != size || cpu_memory_overlaps(start, size)) {
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
                                              .id = cpu_memory_new_id(),
                                              .access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE};
    if (!cpu_memory_insert(&allocation))
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
    bool is_made = cpu_pages_map(&allocation, power);
    bool is_known = is_made && cpu_memory_insert(&allocation);
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
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    allocation.address = (uintptr_t)pages;
    const bool is_known = pages != MAP_FAILED && cpu_memory_insert(&allocation);
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

// The attribute of the shared allocation that the range lies in; NULL, after a line: in none.
static uint32_t *atomic_access_locked(ze_context_handle_t context, const void *pointer, size_t size,
                                      const char *function)
{
    const uintptr_t address = (uintptr_t)pointer;
    struct cpu_allocation *found = cpu_memory_from_locked(address);
    if (found != NULL && found->address <= address && found->context == context &&
        found->type == ZE_MEMORY_TYPE_SHARED &&
        size <= found->size_bytes - (address - found->address))
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
    cpu_memory_unlock();
    return kept != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t ZE_APICALL cpu_zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                            ze_device_handle_t hDevice,
                                                            const void *ptr, size_t size,
                                                            uint32_t *pAttr)
{
    cpu_memory_lock();
    const uint32_t *kept = atomic_access_locked(hContext, ptr, size, __func__);
    if (kept != NULL)
        *pAttr = *kept;
    cpu_memory_unlock();
    return kept != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
