// SPDX-License-Identifier: MIT
// Reservations are inaccessible mappings of the process; pieces of physical memory are mapped over
// them. Mapped memory is in the table of table.h, and like any other for kernels, copies and fills.
#include "device/device.h"
#include "entry.h"
#include "memory.h"
#include "physical_memory.h"

#include <search.h>
#include <sys/mman.h>

#define INACCESSIBLE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

struct reservation {
    struct cpu_object object;
    uintptr_t address;
    size_t size_bytes;
    ze_context_handle_t context; // borrowed
};

// Guarded by cpu_memory_lock; under it the process' mappings are changed, so that the table agrees.
static void *reservations; // owned: a tree of tsearch, by address

// The ones that overlap are equal.
static int compare_reservations(const void *a, const void *b)
{
    const struct reservation *one = a;
    const struct reservation *other = b;
    if (one->address >= other->address + other->size_bytes)
        return 1;
    return one->address + one->size_bytes <= other->address ? -1 : 0;
}

// The one that the address is in; NULL: none.
static struct reservation *reservation_at_locked(uintptr_t address)
{
    const struct reservation wanted = {.address = address, .size_bytes = 1};
    void *const *found = tfind(&wanted, &reservations, compare_reservations);
    return found != NULL ? *found : NULL;
}

static ze_result_t check_range(const void *pointer, size_t size, const char *function)
{
    if ((uintptr_t)pointer % CPU_PAGE_BYTES != 0) {
        cpu_report(function, "address %p is not a multiple of %u", pointer, CPU_PAGE_BYTES);
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    if (size == 0 || size % CPU_PAGE_BYTES != 0 || size > SIZE_MAX - (uintptr_t)pointer) {
        cpu_report(function, "size %zu is not a positive multiple of %u", size, CPU_PAGE_BYTES);
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    return ZE_RESULT_SUCCESS;
}

// The context's reservation that has all of the range; NULL, after a line, if there is none.
static struct reservation *find_reservation_locked(ze_context_handle_t context, const void *pointer,
                                                   size_t size, const char *function)
{
    uintptr_t address = (uintptr_t)pointer;
    struct reservation *found = reservation_at_locked(address);
    if (found == NULL)
        cpu_report(function, "%p is not reserved", pointer);
    else if (found->context != context)
        cpu_report(function, "%p was reserved with another context", pointer);
    else if (size > found->size_bytes - (address - found->address))
        cpu_report(function, "%zu bytes from %p on leave the reservation of %zu bytes at %p", size,
                   pointer, found->size_bytes, (void *)found->address);
    else
        return found;
    return NULL;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                     ze_device_handle_t hDevice, size_t size,
                                                     size_t *pagesize)
{
    // 0, too, as with Intel's driver
    *pagesize = CPU_PAGE_BYTES;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart,
                                               size_t size, void **pptr)
{
    // Page 1 stands for "anywhere".
    const void *start = pStart != NULL ? pStart : (const void *)(uintptr_t)CPU_PAGE_BYTES;
    ze_result_t result = check_range(start, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct reservation *reservation = cpu_object_create(CPU_RESERVATION, sizeof(*reservation));
    if (reservation == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    // Without MAP_FIXED the address is a hint, as the specification has it.
    void *pages = mmap((void *)pStart, size, PROT_NONE, INACCESSIBLE, -1, 0);
    if (pages == MAP_FAILED) {
        cpu_object_destroy(reservation);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    reservation->address = (uintptr_t)pages;
    reservation->size_bytes = size;
    reservation->context = hContext;
    cpu_memory_lock();
    const bool is_known = tsearch(reservation, &reservations, compare_reservations) != NULL;
    if (!is_known)
        munmap(pages, size);
    cpu_memory_unlock();
    if (!is_known) {
        cpu_object_destroy(reservation);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pptr = pages;
    return ZE_RESULT_SUCCESS;
}

// All mappings of the range, which none of them leaves.
static void drop_mappings_locked(const void *pointer, size_t size)
{
    const uintptr_t end = (uintptr_t)pointer + size;
    struct cpu_allocation *mapping;
    while ((mapping = cpu_memory_from_locked((uintptr_t)pointer)) != NULL &&
           mapping->address < end) {
        // Release: a thread that sees nothing mapped may close the file.
        atomic_fetch_sub_explicit(&mapping->physical->mapped_bytes, mapping->size_bytes,
                                  memory_order_release);
        cpu_memory_remove_locked(mapping);
    }
}

ze_result_t ZE_APICALL cpu_zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr,
                                            size_t size)
{
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cpu_memory_lock();
    struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    if (reservation == NULL) {
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else if (reservation->address != (uintptr_t)ptr || reservation->size_bytes != size) {
        cpu_report(__func__, "%zu bytes at %p are not all of the reservation of %zu bytes at %p",
                   size, ptr, reservation->size_bytes, (void *)reservation->address);
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else {
        munmap((void *)ptr, size);
        drop_mappings_locked(ptr, size);
        tdelete(reservation, &reservations, compare_reservations);
        cpu_object_destroy(reservation);
    }
    cpu_memory_unlock();
    return result;
}

static ze_result_t map_locked(const struct cpu_allocation *mapping)
{
    const struct cpu_physical_memory *physical = mapping->physical;
    void *pages = (void *)mapping->address;
    const struct cpu_allocation *next = cpu_memory_from_locked(mapping->address);
    if (next != NULL && next->address < mapping->address + mapping->size_bytes) {
        cpu_report("zeVirtualMemMap", "%p is mapped already", (void *)next->address);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!cpu_memory_insert_locked(mapping))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    atomic_fetch_add_explicit(&mapping->physical->mapped_bytes, mapping->size_bytes,
                              memory_order_relaxed);
    if (mmap(pages, mapping->size_bytes, cpu_memory_rights_locked(mapping), MAP_SHARED | MAP_FIXED,
             physical->file, (off_t)(physical->file_offset + mapping->offset)) != MAP_FAILED)
        return ZE_RESULT_SUCCESS;
    drop_mappings_locked(pages, mapping->size_bytes);
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr,
                                           size_t size, ze_physical_mem_handle_t hPhysicalMemory,
                                           size_t offset, ze_memory_access_attribute_t access)
{
    struct cpu_physical_memory *physical = (struct cpu_physical_memory *)hPhysicalMemory;
    if ((uint32_t)access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (offset % CPU_PAGE_BYTES != 0) {
        cpu_report(__func__, "offset %zu is not a multiple of %u", offset, CPU_PAGE_BYTES);
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    if (physical->context != hContext) {
        cpu_report(__func__, "physical memory %p belongs to another context", (void *)physical);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (offset > physical->size_bytes || size > physical->size_bytes - offset) {
        cpu_report(__func__, "%zu bytes from %zu on are not in physical memory of %zu bytes", size,
                   offset, physical->size_bytes);
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    const struct cpu_allocation mapping = {.address = (uintptr_t)ptr,
                                           .size_bytes = size,
                                           .mapped_bytes = size,
                                           .offset = offset,
                                           .origin = CPU_MAPPED,
                                           .type = physical->type,
                                           .context = hContext,
                                           .device = physical->device,
                                           .id = physical->id,
                                           .access = access,
                                           .physical = physical};
    cpu_memory_lock();
    result = find_reservation_locked(hContext, ptr, size, __func__) != NULL
                 ? map_locked(&mapping)
                 : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    cpu_memory_unlock();
    return result;
}

// Cuts the mapping in two at the address, if it lies inside. False without memory.
static bool split_locked(uintptr_t address)
{
    struct cpu_allocation *mapping = cpu_memory_from_locked(address);
    if (mapping == NULL || mapping->address >= address)
        return true;
    struct cpu_allocation rest = *mapping;
    const size_t kept = address - mapping->address;
    rest.address = address;
    rest.offset += kept;
    rest.size_bytes = rest.mapped_bytes = mapping->size_bytes - kept;
    if (!cpu_memory_insert_locked(&rest))
        return false;
    mapping = cpu_memory_from_locked(address - 1);
    mapping->size_bytes = mapping->mapped_bytes = kept;
    return true;
}

// Makes mappings begin and end where the range does.
static ze_result_t cut_out_locked(const void *pointer, size_t size)
{
    return split_locked((uintptr_t)pointer) && split_locked((uintptr_t)pointer + size)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

// Refuses a range that is not mapped from one end to the other.
static ze_result_t check_mapped_locked(const void *pointer, size_t size, const char *function)
{
    uintptr_t address = (uintptr_t)pointer;
    const uintptr_t end = address + size;
    while (address < end) {
        const struct cpu_allocation *mapping = cpu_memory_from_locked(address);
        if (mapping == NULL || mapping->address > address) {
            cpu_report(function, "nothing is mapped at %p", (void *)address);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        address = mapping->address + mapping->size_bytes;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t unmap_locked(const void *pointer, size_t size)
{
    // As with Intel's driver, some of the range may not be mapped, or all.
    ze_result_t result = cut_out_locked(pointer, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (mmap((void *)pointer, size, PROT_NONE, INACCESSIBLE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    drop_mappings_locked(pointer, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr,
                                             size_t size)
{
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cpu_memory_lock();
    result = find_reservation_locked(hContext, ptr, size, __func__) != NULL
                 ? unmap_locked(ptr, size)
                 : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    cpu_memory_unlock();
    return result;
}

static ze_result_t set_access_locked(const void *pointer, size_t size,
                                     ze_memory_access_attribute_t access)
{
    ze_result_t result = check_mapped_locked(pointer, size, "zeVirtualMemSetAccessAttribute");
    if (result == ZE_RESULT_SUCCESS)
        result = cut_out_locked(pointer, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uintptr_t end = (uintptr_t)pointer + size;
    for (struct cpu_allocation *mapping = cpu_memory_from_locked((uintptr_t)pointer);
         mapping != NULL && mapping->address < end; mapping = cpu_memory_next_locked(mapping)) {
        mapping->access = access;
        if (mprotect((void *)mapping->address, mapping->size_bytes,
                     cpu_memory_rights_locked(mapping)) != 0)
            return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext,
                                                          const void *ptr, size_t size,
                                                          ze_memory_access_attribute_t access)
{
    if ((uint32_t)access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cpu_memory_lock();
    result = find_reservation_locked(hContext, ptr, size, __func__) != NULL
                 ? set_access_locked(ptr, size, access)
                 : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    cpu_memory_unlock();
    return result;
}

// The access at the address, and where it may be another one.
static ze_memory_access_attribute_t access_locked(uintptr_t address, uintptr_t *out_end)
{
    const struct cpu_allocation *mapping = cpu_memory_from_locked(address);
    if (mapping != NULL && mapping->address <= address) {
        *out_end = mapping->address + mapping->size_bytes;
        return mapping->access;
    }
    *out_end = mapping != NULL ? mapping->address : UINTPTR_MAX;
    return ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

// How far from the address on, up to the end, access is the same.
static size_t same_access_locked(uintptr_t address, uintptr_t end,
                                 ze_memory_access_attribute_t *out_access)
{
    uintptr_t at, next;
    *out_access = access_locked(address, &at);
    while (at < end && access_locked(at, &next) == *out_access)
        at = next;
    return (at < end ? at : end) - address;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext,
                                                          const void *ptr, size_t size,
                                                          ze_memory_access_attribute_t *access,
                                                          size_t *outSize)
{
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cpu_memory_lock();
    const bool is_reserved = find_reservation_locked(hContext, ptr, size, __func__) != NULL;
    if (is_reserved)
        *outSize = same_access_locked((uintptr_t)ptr, (uintptr_t)ptr + size, access);
    cpu_memory_unlock();
    return is_reserved ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
