// SPDX-License-Identifier: MIT
#include "virtual_memory.h"

#include "device/device.h"
#include "device/device_access.h"
#include "entry.h"
#include "physical_memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <utlist.h>

#define INACCESSIBLE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

// Pages that were mapped together, or the rest of them after an unmapping or a change of access.
struct mapping {
    struct mapping *next, *prev; // utlist: ascending by address, disjoint
    uintptr_t address;
    size_t size_bytes;
    struct cpu_physical_memory *physical; // borrowed: cannot be destroyed while it is mapped
    size_t offset;
    ze_memory_access_attribute_t access;
};

struct reservation {
    uintptr_t address;
    size_t size_bytes;
    ze_context_handle_t context; // borrowed
    struct mapping *mappings;    // owned
};

// Guards the variables below; under it the process' mappings are changed, so that both agree.
static pthread_mutex_t reservations_mutex = PTHREAD_MUTEX_INITIALIZER;
static void *reservations; // owned: a tree of tsearch, by address
static uint64_t reservation_count;

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

// Under the lock of device_access.h.
static int protection(const struct cpu_physical_memory *physical,
                      ze_memory_access_attribute_t access)
{
    if (!cpu_device_access_is_open(physical->device))
        return PROT_NONE;
    switch (access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return PROT_READ | PROT_WRITE;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return PROT_READ;
    default:
        return PROT_NONE;
    }
}

ze_result_t ZE_APICALL cpu_zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                     ze_device_handle_t hDevice, size_t size,
                                                     size_t *pagesize)
{
    (void)hContext;
    (void)hDevice;
    (void)size; // 0, too, as with Intel's driver
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
    struct reservation *reservation = calloc(1, sizeof(*reservation));
    if (reservation == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    // Without MAP_FIXED the address is a hint, as the specification has it.
    void *pages = mmap((void *)pStart, size, PROT_NONE, INACCESSIBLE, -1, 0);
    if (pages == MAP_FAILED) {
        free(reservation);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    reservation->address = (uintptr_t)pages;
    reservation->size_bytes = size;
    reservation->context = hContext;
    pthread_mutex_lock(&reservations_mutex);
    const bool is_known = tsearch(reservation, &reservations, compare_reservations) != NULL;
    if (is_known)
        reservation_count++;
    else
        munmap(pages, size);
    pthread_mutex_unlock(&reservations_mutex);
    if (!is_known) {
        free(reservation);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pptr = pages;
    return ZE_RESULT_SUCCESS;
}

static void drop_mapping_locked(struct reservation *reservation, struct mapping *mapping)
{
    DL_DELETE(reservation->mappings, mapping);
    // Release: a thread that sees nothing mapped may close the file.
    atomic_fetch_sub_explicit(&mapping->physical->mapped_bytes, mapping->size_bytes,
                              memory_order_release);
    free(mapping);
}

ze_result_t ZE_APICALL cpu_zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr,
                                            size_t size)
{
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pthread_mutex_lock(&reservations_mutex);
    struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    if (reservation == NULL) {
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else if (reservation->address != (uintptr_t)ptr || reservation->size_bytes != size) {
        cpu_report(__func__, "%zu bytes at %p are not all of the reservation of %zu bytes at %p",
                   size, ptr, reservation->size_bytes, (void *)reservation->address);
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else {
        munmap((void *)ptr, size);
        while (reservation->mappings != NULL)
            drop_mapping_locked(reservation, reservation->mappings);
        tdelete(reservation, &reservations, compare_reservations);
        reservation_count--;
        free(reservation);
    }
    pthread_mutex_unlock(&reservations_mutex);
    return result;
}

// The first mapping that ends behind the address.
static struct mapping *mapping_from_locked(const struct reservation *reservation, uintptr_t address)
{
    struct mapping *mapping;
    DL_FOREACH(reservation->mappings, mapping)
    if (mapping->address + mapping->size_bytes > address)
        break;
    return mapping;
}

static ze_result_t map_locked(struct reservation *reservation, const struct mapping *from)
{
    struct mapping *next = mapping_from_locked(reservation, from->address);
    if (next != NULL && next->address < from->address + from->size_bytes) {
        cpu_report("zeVirtualMemMap", "%p is mapped already", (void *)next->address);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct mapping *mapping = malloc(sizeof(*mapping));
    if (mapping == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *mapping = *from;
    if (mmap((void *)from->address, from->size_bytes, protection(from->physical, from->access),
             MAP_SHARED | MAP_FIXED, from->physical->file,
             (off_t)(from->physical->file_offset + from->offset)) == MAP_FAILED) {
        free(mapping);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    atomic_fetch_add_explicit(&mapping->physical->mapped_bytes, mapping->size_bytes,
                              memory_order_relaxed);
    if (next != NULL)
        DL_PREPEND_ELEM(reservation->mappings, next, mapping);
    else
        DL_APPEND(reservation->mappings, mapping);
    return ZE_RESULT_SUCCESS;
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
    const struct mapping mapping = {.address = (uintptr_t)ptr,
                                    .size_bytes = size,
                                    .physical = physical,
                                    .offset = offset,
                                    .access = access};
    cpu_device_access_lock();
    pthread_mutex_lock(&reservations_mutex);
    struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    result =
        reservation != NULL ? map_locked(reservation, &mapping) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_unlock(&reservations_mutex);
    cpu_device_access_unlock();
    return result;
}

// Cuts the mapping in two at the address, if it lies inside. False without memory.
static bool split_locked(struct reservation *reservation, uintptr_t address)
{
    struct mapping *mapping = mapping_from_locked(reservation, address);
    if (mapping == NULL || mapping->address >= address)
        return true;
    struct mapping *rest = malloc(sizeof(*rest));
    if (rest == NULL)
        return false;
    size_t kept = address - mapping->address;
    *rest = *mapping;
    rest->address = address;
    rest->offset += kept;
    rest->size_bytes -= kept;
    mapping->size_bytes = kept;
    DL_APPEND_ELEM(reservation->mappings, mapping, rest);
    return true;
}

// Makes mappings begin and end where the range does.
static ze_result_t cut_out_locked(struct reservation *reservation, const void *pointer, size_t size)
{
    return split_locked(reservation, (uintptr_t)pointer) &&
                   split_locked(reservation, (uintptr_t)pointer + size)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

// Refuses a range that is not mapped from one end to the other.
static ze_result_t check_mapped_locked(const struct reservation *reservation, const void *pointer,
                                       size_t size, const char *function)
{
    uintptr_t address = (uintptr_t)pointer;
    const uintptr_t end = address + size;
    for (const struct mapping *mapping = mapping_from_locked(reservation, address); address < end;
         mapping = mapping->next) {
        if (mapping == NULL || mapping->address > address) {
            cpu_report(function, "nothing is mapped at %p", (void *)address);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        address = mapping->address + mapping->size_bytes;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t unmap_locked(struct reservation *reservation, const void *pointer, size_t size)
{
    // As with Intel's driver, some of the range may not be mapped, or all.
    ze_result_t result = cut_out_locked(reservation, pointer, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (mmap((void *)pointer, size, PROT_NONE, INACCESSIBLE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    const uintptr_t end = (uintptr_t)pointer + size;
    struct mapping *mapping = mapping_from_locked(reservation, (uintptr_t)pointer);
    while (mapping != NULL && mapping->address < end) {
        struct mapping *next = mapping->next;
        drop_mapping_locked(reservation, mapping);
        mapping = next;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr,
                                             size_t size)
{
    ze_result_t result = check_range(ptr, size, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pthread_mutex_lock(&reservations_mutex);
    struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    result = reservation != NULL ? unmap_locked(reservation, ptr, size)
                                 : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_unlock(&reservations_mutex);
    return result;
}

static ze_result_t set_access_locked(struct reservation *reservation, const void *pointer,
                                     size_t size, ze_memory_access_attribute_t access)
{
    ze_result_t result =
        check_mapped_locked(reservation, pointer, size, "zeVirtualMemSetAccessAttribute");
    if (result == ZE_RESULT_SUCCESS)
        result = cut_out_locked(reservation, pointer, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uintptr_t end = (uintptr_t)pointer + size;
    for (struct mapping *mapping = mapping_from_locked(reservation, (uintptr_t)pointer);
         mapping != NULL && mapping->address < end; mapping = mapping->next) {
        if (mprotect((void *)mapping->address, mapping->size_bytes,
                     protection(mapping->physical, access)) != 0)
            return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
        mapping->access = access;
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
    cpu_device_access_lock();
    pthread_mutex_lock(&reservations_mutex);
    struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    result = reservation != NULL ? set_access_locked(reservation, ptr, size, access)
                                 : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_unlock(&reservations_mutex);
    cpu_device_access_unlock();
    return result;
}

// How far from the address on, up to the end, access is the same.
static size_t same_access_locked(const struct reservation *reservation, uintptr_t address,
                                 uintptr_t end, ze_memory_access_attribute_t *out_access)
{
    const struct mapping *mapping = mapping_from_locked(reservation, address);
    ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    if (mapping != NULL && mapping->address <= address)
        access = mapping->access;
    uintptr_t at = address;
    while (at < end) {
        bool is_gap = mapping == NULL || mapping->address > at;
        if ((is_gap ? ZE_MEMORY_ACCESS_ATTRIBUTE_NONE : mapping->access) != access)
            break;
        if (is_gap) {
            at = mapping == NULL ? end : mapping->address;
        } else {
            at = mapping->address + mapping->size_bytes;
            mapping = mapping->next;
        }
    }
    *out_access = access;
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
    pthread_mutex_lock(&reservations_mutex);
    const struct reservation *reservation = find_reservation_locked(hContext, ptr, size, __func__);
    if (reservation != NULL)
        *outSize = same_access_locked(reservation, (uintptr_t)ptr, (uintptr_t)ptr + size, access);
    pthread_mutex_unlock(&reservations_mutex);
    return reservation != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

bool cpu_virtual_memory_find(const void *pointer, struct cpu_memory_info *out_memory)
{
    uintptr_t address = (uintptr_t)pointer;
    const struct mapping *mapping = NULL;
    pthread_mutex_lock(&reservations_mutex);
    const struct reservation *reservation = reservation_at_locked(address);
    if (reservation != NULL)
        mapping = mapping_from_locked(reservation, address);
    bool is_found = mapping != NULL && mapping->address <= address;
    if (is_found)
        *out_memory = (struct cpu_memory_info){.context = reservation->context,
                                               .device = mapping->physical->device,
                                               .type = mapping->physical->type,
                                               .id = mapping->physical->id,
                                               .base = (void *)mapping->address,
                                               .size_bytes = mapping->size_bytes};
    pthread_mutex_unlock(&reservations_mutex);
    return is_found;
}

static void apply_access_locked(const void *node, VISIT visit, int depth)
{
    const struct reservation *reservation = *(void *const *)node;
    const struct mapping *mapping;
    (void)depth;
    if (visit != postorder && visit != leaf)
        return;
    DL_FOREACH(reservation->mappings, mapping)
    mprotect((void *)mapping->address, mapping->size_bytes,
             protection(mapping->physical, mapping->access));
}

void cpu_virtual_memory_apply_access(void)
{
    pthread_mutex_lock(&reservations_mutex);
    twalk(reservations, apply_access_locked);
    pthread_mutex_unlock(&reservations_mutex);
}

uint64_t cpu_virtual_memory_live(void)
{
    pthread_mutex_lock(&reservations_mutex);
    uint64_t count = reservation_count;
    pthread_mutex_unlock(&reservations_mutex);
    return count;
}
