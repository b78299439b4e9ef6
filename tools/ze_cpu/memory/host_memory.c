// SPDX-License-Identifier: MIT
// Memory of the host that the driver is told of, for faster copies: here a list.
#include "entry.h"
#include "object.h"

#include <pthread.h>

struct import {
    struct cpu_object object;
    struct import *next;
    const char *start;
    size_t size_bytes;
};

// Guards the list; nothing is called under it but the C library.
static pthread_mutex_t imports_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct import *imports; // owned

static struct import **find_locked(const char *address)
{
    struct import **link = &imports;
    while (*link != NULL &&
           ((*link)->start > address || (size_t)(address - (*link)->start) >= (*link)->size_bytes))
        link = &(*link)->next;
    return link;
}

static ze_result_t add_locked(const char *start, size_t size_bytes)
{
    const struct import *first = *find_locked(start);
    const struct import *last = *find_locked(start + size_bytes - 1);
    if (first != NULL && first == last)
        return ZE_RESULT_SUCCESS;
    if (first != NULL || last != NULL) {
        cpu_report("zexDriverImportExternalPointer", "%zu bytes from %p on are imported in part",
                   size_bytes, (const void *)start);
        return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
    }
    struct import *import = cpu_object_create(CPU_IMPORT, sizeof(*import));
    if (import == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    import->next = imports;
    import->start = start;
    import->size_bytes = size_bytes;
    imports = import;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zexDriverImportExternalPointer(ze_driver_handle_t hDriver, void *ptr,
                                                          size_t size)
{
    if (ptr == NULL || size == 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&imports_mutex);
    const ze_result_t result = add_locked(ptr, size);
    pthread_mutex_unlock(&imports_mutex);
    return result;
}

ze_result_t ZE_APICALL cpu_zexDriverReleaseImportedPointer(ze_driver_handle_t hDriver, void *ptr)
{
    pthread_mutex_lock(&imports_mutex);
    struct import **link = find_locked(ptr);
    struct import *import = *link;
    if (import != NULL)
        *link = import->next;
    pthread_mutex_unlock(&imports_mutex);
    cpu_object_destroy(import);
    return import != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
