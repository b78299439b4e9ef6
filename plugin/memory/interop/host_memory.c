// SPDX-License-Identifier: MIT
#include "memory/interop/host_memory.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "sync/deferred.h"
#include "ze/ze.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

struct host_registration {
    struct zepi_deferred deferred;
    struct host_registration *next;
    struct zepi_context *context; // borrowed
    char *memory;                 // the host's
    size_t size_bytes;
    bool is_usable; // the driver has it, and the host did not end it
};

struct zepi_host_memory {
    struct zepi_mutex mutex;                 // guards the list; nothing is called under it
    struct host_registration *registrations; // owned
};

static struct zepi_host_memory *host_memory_of(const struct zepi_context *context)
{
    return context->parts[ZEPI_PART_HOST_MEMORY];
}

static void registration_remove(struct host_registration *registration)
{
    struct zepi_host_memory *known = host_memory_of(registration->context);
    zepi_mutex_lock(&known->mutex);
    struct host_registration **link = &known->registrations;
    while (*link != registration)
        link = &(*link)->next;
    *link = registration->next;
    zepi_mutex_unlock(&known->mutex);
    zepi_free(registration);
}

static void registration_destroy(struct zepi_deferred *deferred)
{
    struct host_registration *registration =
        (struct host_registration *)((char *)deferred -
                                     offsetof(struct host_registration, deferred));
    zepi_ze.zeMemFree(registration->context->ze, registration->memory);
    registration_remove(registration);
}

static void host_memory_finish(struct zepi_context *context)
{
    while (host_memory_of(context)->registrations)
        registration_destroy(&host_memory_of(context)->registrations->deferred);
}

ZEPI_DEFINE_CONTEXT_PART(ZEPI_PART_HOST_MEMORY, .size_bytes = sizeof(struct zepi_host_memory),
                         .finish = host_memory_finish);

static size_t host_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

// Level Zero's name for it: host memory that is mapped from the system's.
static ze_result_t map_host_memory(ze_context_handle_t context, void *memory, size_t size_bytes,
                                   void **out_mapped)
{
    const struct zepi_ze_sysmem_desc sysmem = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_SYSMEM,
        .memory = memory,
        .size_bytes = size_bytes};
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           .pNext = &sysmem};
    return zepi_ze.zeMemAllocHost(context, &desc, size_bytes, host_page_bytes(), out_mapped);
}

// ---- The trial ----

struct trial {
    bool is_mapped; // at its address
    bool is_undone;
};

// Maps a page, and frees it: whether it is the host's again then (quirk kept-host-pages).
static ze_result_t try_page(ze_context_handle_t context, void *page, struct trial *out_trial)
{
    ze_memory_allocation_properties_t after = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    void *mapped = NULL;
    ze_result_t ze = map_host_memory(context, page, host_page_bytes(), &mapped);
    if (ze != ZE_RESULT_SUCCESS)
        return ze;
    out_trial->is_mapped = mapped == page;
    ze = zepi_ze.zeMemFree(context, mapped);
    if (ze == ZE_RESULT_SUCCESS)
        ze = zepi_ze.zeMemGetAllocProperties(context, page, &after, NULL);
    out_trial->is_undone = ze == ZE_RESULT_SUCCESS && after.type == ZE_MEMORY_TYPE_UNKNOWN;
    return ze;
}

static zepi_result_t try_registration(struct zepi_device *device, bool *out_can)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct trial trial = {false, false};
    ze_context_handle_t context = NULL;
    ze_result_t ze = ZE_RESULT_SUCCESS;
    void *page =
        mmap(NULL, host_page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return zepi_fail_no_memory();
    const zepi_result_t result =
        ZEPI_ZE(zeContextCreateEx, device->platform->ze, &desc, 1, &device->ze, &context);
    if (result == ZEPI_SUCCESS) {
        ze = try_page(context, page, &trial);
        zepi_ze.zeContextDestroy(context);
    }
    // A page that the driver keeps is its own for good.
    if (!trial.is_mapped || trial.is_undone)
        munmap(page, host_page_bytes());
    *out_can = trial.is_mapped && trial.is_undone;
    return result == ZEPI_SUCCESS ? zepi_check_ze_severe(ze, "zeMemAllocHost") : result;
}

zepi_result_t zepi_host_memory_can_register(struct zepi_device *device, bool *out_can)
{
    enum { UNKNOWN, NO, YES };
    // Relaxed: nothing else comes with the value, and threads that ask at once find the same.
    int known = atomic_load_explicit(&device->host_registration, memory_order_relaxed);
    *out_can = false;
    if (known == UNKNOWN && device->platform->optional.has_sysmem_mapping) {
        bool can = false;
        const zepi_result_t result = try_registration(device, &can);
        if (result != ZEPI_SUCCESS)
            return result;
        known = can ? YES : NO;
        atomic_store_explicit(&device->host_registration, known, memory_order_relaxed);
    }
    *out_can = known == YES;
    return ZEPI_SUCCESS;
}

// ---- Registration ----

static zepi_result_t check_can_register(const struct zepi_context *context)
{
    bool can = false;
    const zepi_result_t result = zepi_host_memory_can_register(context->devices[0], &can);
    if (result != ZEPI_SUCCESS || can)
        return result;
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the driver does not make USM of the host's memory, or does not undo it");
}

static zepi_result_t check_pages(struct zepi_context *context, const char *memory,
                                 size_t size_bytes)
{
    const size_t page_bytes = host_page_bytes();
    if (size_bytes == 0 || size_bytes % page_bytes != 0 || (uintptr_t)memory % page_bytes != 0 ||
        (uintptr_t)memory + size_bytes < (uintptr_t)memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "%zu bytes from %p on, expected whole pages of %zu", size_bytes,
                         (const void *)memory, page_bytes);
    const char *const ends[] = {memory, memory + size_bytes - 1};
    for (int i = 0; i < 2; i++) {
        zepi_usm_info_t info = {.size = sizeof(info)};
        const zepi_result_t result = zepi_usm_get_info(context, ends[i], &info);
        if (result != ZEPI_SUCCESS)
            return result;
        if (info.kind != ZEPI_USM_UNKNOWN)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is USM, or registered already",
                             (const void *)ends[i]);
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t map_at_its_address(struct zepi_context *context, void *memory,
                                        size_t size_bytes)
{
    void *mapped = NULL;
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = map_host_memory(context->ze, memory, size_bytes, &mapped);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze != ZE_RESULT_SUCCESS || mapped == memory)
        return zepi_check_ze(ze, "zeMemAllocHost");
    zepi_ze.zeMemFree(context->ze, mapped);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver maps %p to %p", memory, mapped);
}

// A range that overlaps none of the others, of which the ends alone may be USM to the driver.
static bool registration_add(struct zepi_host_memory *known, struct host_registration *registration)
{
    const char *start = registration->memory;
    zepi_mutex_lock(&known->mutex);
    const struct host_registration *other = known->registrations;
    while (other && (start + registration->size_bytes <= other->memory ||
                     other->memory + other->size_bytes <= start))
        other = other->next;
    if (!other) {
        registration->next = known->registrations;
        known->registrations = registration;
    }
    zepi_mutex_unlock(&known->mutex);
    return !other;
}

static void registration_open(struct zepi_host_memory *known,
                              struct host_registration *registration)
{
    zepi_mutex_lock(&known->mutex);
    registration->is_usable = true;
    zepi_mutex_unlock(&known->mutex);
}

zepi_result_t zepi_host_memory_register(struct zepi_context *context, void *memory,
                                        size_t size_bytes)
{
    struct zepi_host_memory *known = host_memory_of(context);
    zepi_result_t result = check_can_register(context);
    if (result == ZEPI_SUCCESS)
        result = check_pages(context, memory, size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    struct host_registration *registration = zepi_allocate(1, sizeof(*registration));
    if (!registration)
        return zepi_fail_no_memory();
    *registration = (struct host_registration){
        .deferred = {.bytes = ZEPI_DEFERRED_HANDLE_BYTES, .run = registration_destroy},
        .context = context,
        .memory = memory,
        .size_bytes = size_bytes};
    if (!registration_add(known, registration)) {
        zepi_free(registration);
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "some of the %zu bytes from %p on are registered already", size_bytes,
                         memory);
    }
    result = map_at_its_address(context, memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        registration_open(known, registration);
    else
        registration_remove(registration);
    return result;
}

zepi_result_t zepi_host_memory_unregister(struct zepi_context *context, const void *memory)
{
    struct zepi_host_memory *known = host_memory_of(context);
    zepi_mutex_lock(&known->mutex);
    struct host_registration *found = known->registrations;
    while (found && (!found->is_usable || found->memory != memory))
        found = found->next;
    if (found)
        found->is_usable = false;
    zepi_mutex_unlock(&known->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "no memory is registered at %p", memory);
    zepi_defer_no_longer(context, &found->deferred);
    return ZEPI_SUCCESS;
}

// ---- Hints ----

zepi_result_t zepi_host_memory_import(struct zepi_context *context, void *memory, size_t size_bytes)
{
    const struct zepi_platform *platform = context->platform;
    zepi_usm_info_t info = {.size = sizeof(info)};
    if (!platform->optional.import_host_pointer || !platform->optional.release_host_pointer)
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_usm_get_info(context, memory, &info);
    if (result != ZEPI_SUCCESS || info.kind != ZEPI_USM_UNKNOWN)
        return result;
    return zepi_check_ze_severe(
        platform->optional.import_host_pointer(
            zepi_ze_driver_handle(ZEL_HANDLE_DRIVER, platform->ze), memory, size_bytes),
        "zexDriverImportExternalPointer");
}

zepi_result_t zepi_host_memory_release(struct zepi_context *context, void *memory)
{
    const struct zepi_platform *platform = context->platform;
    if (!platform->optional.import_host_pointer || !platform->optional.release_host_pointer)
        return ZEPI_SUCCESS;
    return zepi_check_ze_severe(platform->optional.release_host_pointer(
                                    zepi_ze_driver_handle(ZEL_HANDLE_DRIVER, platform->ze), memory),
                                "zexDriverReleaseImportedPointer");
}
