// SPDX-License-Identifier: MIT
#include "physical_memory.h"

#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "memory.h"
#include "opencl.h"
#include "shared_file.h"
#include "ze_newer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static ze_result_t check_description(const ze_physical_mem_desc_t *desc)
{
    const uint32_t known =
        CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE | CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    if ((desc->flags & ~known) != 0 || desc->flags == known)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->size == 0 || desc->size % CPU_PAGE_BYTES != 0) {
        cpu_report("zePhysicalMemCreate", "size %zu is not a positive multiple of %u", desc->size,
                   CPU_PAGE_BYTES);
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    return desc->size <= cpu_opencl()->global_memory_bytes ? ZE_RESULT_SUCCESS
                                                           : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

// A file of its own, that others may import; else a piece of one that all such memory is in: each
// file takes one of the process' descriptors.
static bool make_pages(struct cpu_physical_memory *memory, size_t size_bytes)
{
    if (!memory->is_exportable) {
        const uint64_t offset = cpu_shared_file_take(size_bytes);
        memory->file = cpu_shared_file();
        memory->file_offset = offset;
        return offset != CPU_NO_FILE;
    }
    memory->file = memfd_create("ze_cpu physical memory", MFD_CLOEXEC);
    if (memory->file >= 0 && ftruncate(memory->file, (off_t)size_bytes) == 0)
        return true;
    cpu_report("zePhysicalMemCreate", "no file for %zu bytes: error %d", size_bytes, errno);
    if (memory->file >= 0)
        close(memory->file);
    return false;
}

static void give_pages(struct cpu_physical_memory *memory)
{
    if (memory->is_imported || memory->is_exportable)
        close(memory->file);
    else
        cpu_shared_file_give(memory->file_offset, memory->size_bytes);
    if (!memory->is_imported)
        cpu_memory_give(memory->size_bytes);
}

// Imported memory takes none of the device.
static ze_result_t take_pages(const ze_physical_mem_desc_t *desc,
                              const ze_external_memory_import_fd_t *import,
                              struct cpu_physical_memory *memory)
{
    if (import != NULL && !cpu_memory_is_importable("zePhysicalMemCreate", import, desc->size))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (import == NULL && !cpu_memory_take(desc->size))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    memory->is_imported = import != NULL;
    if (import != NULL)
        memory->file = import->fd;
    if (import != NULL || make_pages(memory, desc->size))
        return ZE_RESULT_SUCCESS;
    cpu_memory_give(desc->size);
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

ze_result_t ZE_APICALL cpu_zePhysicalMemCreate(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice,
                                               ze_physical_mem_desc_t *desc,
                                               ze_physical_mem_handle_t *phPhysicalMemory)
{
    const ze_external_memory_import_fd_t *import =
        cpu_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    const ze_external_memory_export_desc_t *export =
        cpu_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    if (export != NULL && !cpu_memory_is_file(export->flags))
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    const bool is_on_host = (desc->flags & CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    if (hDevice == NULL && !is_on_host)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    ze_result_t result = check_description(desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_physical_memory *memory = cpu_object_create(CPU_PHYSICAL_MEMORY, sizeof(*memory));
    if (memory == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memory->is_exportable = export != NULL;
    result = take_pages(desc, import, memory);
    if (result != ZE_RESULT_SUCCESS) {
        cpu_object_destroy(memory);
        return result;
    }
    memory->context = hContext;
    memory->device = is_on_host ? NULL : hDevice;
    memory->type = is_on_host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
    memory->id = cpu_memory_new_id();
    memory->size_bytes = desc->size;
    *phPhysicalMemory = (ze_physical_mem_handle_t)memory;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                                      ze_physical_mem_handle_t hPhysicalMem,
                                                      ze_physical_mem_properties_t *pMemProperties)
{
    const struct cpu_physical_memory *memory = (const struct cpu_physical_memory *)hPhysicalMem;
    if (memory->context != hContext) {
        cpu_report(__func__, "%p belongs to another context", (const void *)memory);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    ze_external_memory_export_fd_t *exported =
        cpu_chain_find(pMemProperties->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    if (exported != NULL && !memory->is_exportable) {
        cpu_report(__func__, "%p was not created to be exported", (const void *)memory);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const int file = exported != NULL ? fcntl(memory->file, F_DUPFD_CLOEXEC, 0) : 0;
    if (file < 0)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (exported != NULL)
        exported->fd = file;
    pMemProperties->id = memory->id;
    pMemProperties->size = memory->size_bytes;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zePhysicalMemDestroy(ze_context_handle_t hContext,
                                                ze_physical_mem_handle_t hPhysicalMemory)
{
    struct cpu_physical_memory *memory = (struct cpu_physical_memory *)hPhysicalMemory;
    if (memory->context != hContext) {
        cpu_report(__func__, "%p belongs to another context", (void *)memory);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    // Acquire: all mappings have been removed.
    size_t mapped_bytes = atomic_load_explicit(&memory->mapped_bytes, memory_order_acquire);
    if (mapped_bytes != 0) {
        cpu_report(__func__, "%zu bytes of %p are still mapped", mapped_bytes, (void *)memory);
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    give_pages(memory);
    cpu_object_destroy(memory);
    return ZE_RESULT_SUCCESS;
}
