// SPDX-License-Identifier: MIT
#include "physical_memory.h"

#include "chain.h"
#include "device.h"
#include "entry.h"
#include "memory.h"
#include "opencl.h"
#include "ze_newer.h"

#include <errno.h>
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

ze_result_t ZE_APICALL cpu_zePhysicalMemCreate(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice,
                                               ze_physical_mem_desc_t *desc,
                                               ze_physical_mem_handle_t *phPhysicalMemory)
{
    if (desc == NULL || phPhysicalMemory == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (cpu_chain_has_external_memory(desc->pNext))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t result = check_description(desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!cpu_memory_take(desc->size))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    struct cpu_physical_memory *memory = cpu_object_create(CPU_PHYSICAL_MEMORY, sizeof(*memory));
    if (memory == NULL) {
        cpu_memory_give(desc->size);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    int file = memfd_create("ze_cpu physical memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)desc->size) != 0) {
        cpu_report(__func__, "no file for %zu bytes: error %d", desc->size, errno);
        if (file >= 0)
            close(file);
        cpu_object_destroy(memory);
        cpu_memory_give(desc->size);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    bool is_on_host = (desc->flags & CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    memory->context = hContext;
    memory->device = is_on_host ? NULL : hDevice;
    memory->type = is_on_host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
    memory->id = cpu_memory_new_id();
    memory->size_bytes = desc->size;
    memory->file = file;
    *phPhysicalMemory = (ze_physical_mem_handle_t)memory;
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
    // Acquire: what was mapped has been unmapped.
    size_t mapped_bytes = atomic_load_explicit(&memory->mapped_bytes, memory_order_acquire);
    if (mapped_bytes != 0) {
        cpu_report(__func__, "%zu bytes of %p are still mapped", mapped_bytes, (void *)memory);
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    close(memory->file);
    cpu_memory_give(memory->size_bytes);
    cpu_object_destroy(memory);
    return ZE_RESULT_SUCCESS;
}
