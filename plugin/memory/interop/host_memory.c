// SPDX-License-Identifier: MIT
#include "memory/interop/host_memory.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "sync/deferred.h"
#include "ze/ze.h"

#include <unistd.h>

struct host_registration {
    struct zepi_deferred deferred; // first
    struct host_registration *next;
    struct zepi_context *context; // borrowed
    char *memory;                 // the host's
    size_t size_bytes;
};

struct zepi_host_memory {
    struct zepi_mutex mutex;                 // guards the list; under it the driver maps memory
    struct host_registration *registrations; // owned
};

static struct zepi_host_memory *host_memory_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_HOST_MEMORY];
}

// It is in no list any more.
static void registration_destroy(struct zepi_deferred *deferred)
{
    struct host_registration *registration = (struct host_registration *)deferred;
    zepi_ze.zeMemFree(registration->context->ze, registration->memory);
    zepi_free(registration);
}

static void host_memory_finish(struct zepi_context *context)
{
    struct zepi_host_memory *known = host_memory_of(context);
    while (known->registrations) {
        struct host_registration *registration = known->registrations;
        known->registrations = registration->next;
        registration_destroy(&registration->deferred);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_HOST_MEMORY, .size_bytes = sizeof(struct zepi_host_memory),
                      .finish = host_memory_finish);

bool zepi_host_memory_can_register(const struct zepi_platform *platform)
{
    return platform->optional.has_sysmem_mapping &&
           !(platform->quirks.bits & ZEPI_QUIRK_KEPT_HOST_PAGES);
}

static zepi_result_t check_pages(struct zepi_context *context, const char *memory,
                                 size_t size_bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
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

// Level Zero's name for it: host memory that is mapped from the system's.
static zepi_result_t map_at_its_address(struct zepi_context *context, void *memory,
                                        size_t size_bytes)
{
    const struct zepi_ze_sysmem_desc sysmem = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_SYSMEM,
        .memory = memory,
        .size_bytes = size_bytes};
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           .pNext = &sysmem};
    void *mapped = NULL;
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = zepi_ze.zeMemAllocHost(context->ze, &desc, size_bytes, (size_t)sysconf(_SC_PAGESIZE),
                                    &mapped);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze != ZE_RESULT_SUCCESS || mapped == memory)
        return zepi_check_ze(ze, "zeMemAllocHost");
    zepi_ze.zeMemFree(context->ze, mapped);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver maps %p to %p", memory, mapped);
}

// Any registration that has some of the bytes; NULL: none has. The driver knows of the ends alone
// whether they are USM.
static const struct host_registration *find_overlap_locked(const struct zepi_host_memory *known,
                                                           const char *memory, size_t size_bytes)
{
    const struct host_registration *other = known->registrations;
    while (other &&
           (memory + size_bytes <= other->memory || other->memory + other->size_bytes <= memory))
        other = other->next;
    return other;
}

zepi_result_t zepi_host_memory_register(struct zepi_context *context, void *memory,
                                        size_t size_bytes)
{
    struct zepi_host_memory *known = host_memory_of(context);
    if (!zepi_host_memory_can_register(context->platform))
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the driver does not make USM of the host's memory, or does not undo it");
    zepi_result_t result = check_pages(context, memory, size_bytes);
    if (result != ZEPI_SUCCESS)
        return result;
    struct host_registration *registration = zepi_allocate(1, sizeof(*registration));
    if (!registration)
        return zepi_fail_no_memory();
    zepi_mutex_lock(&known->mutex);
    if (find_overlap_locked(known, memory, size_bytes))
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "some of the %zu bytes from %p on are registered already", size_bytes,
                           memory);
    else
        result = map_at_its_address(context, memory, size_bytes);
    if (result == ZEPI_SUCCESS) {
        *registration = (struct host_registration){
            .deferred = {.bytes = ZEPI_DEFERRED_HANDLE_BYTES, .run = registration_destroy},
            .next = known->registrations,
            .context = context,
            .memory = memory,
            .size_bytes = size_bytes};
        known->registrations = registration;
    }
    zepi_mutex_unlock(&known->mutex);
    if (result != ZEPI_SUCCESS)
        zepi_free(registration);
    return result;
}

zepi_result_t zepi_host_memory_unregister(struct zepi_context *context, const void *memory)
{
    struct zepi_host_memory *known = host_memory_of(context);
    zepi_mutex_lock(&known->mutex);
    struct host_registration **link = &known->registrations;
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    struct host_registration *found = *link;
    if (found)
        *link = found->next;
    zepi_mutex_unlock(&known->mutex);
    if (!found)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "no memory is registered at %p", memory);
    zepi_defer_no_longer(context, &found->deferred);
    return ZEPI_SUCCESS;
}

bool zepi_host_memory_is_registered(const struct zepi_context *context, const char *memory,
                                    size_t size_bytes)
{
    struct zepi_host_memory *known = host_memory_of(context);
    zepi_mutex_lock(&known->mutex);
    const struct host_registration *found = find_overlap_locked(known, memory, size_bytes);
    const bool is_inside = found && memory >= found->memory &&
                           memory + size_bytes <= found->memory + found->size_bytes;
    zepi_mutex_unlock(&known->mutex);
    return is_inside;
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
