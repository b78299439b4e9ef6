// SPDX-License-Identifier: MIT
// Refusals of memory of other processes and other interfaces.
#include "checks.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void set_up(void)
{
    setenv("ZE_CPU_IPC", "1", 1);
    checks_set_up();
}

TestSuite(checks_foreign, .init = set_up, .fini = checks_tear_down);

#define WRONG UR_RESULT_ERROR_INVALID_VALUE
#define WRONG_CONTEXT UR_RESULT_ERROR_INVALID_CONTEXT
#define WRONG_DEVICE UR_RESULT_ERROR_INVALID_DEVICE
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER
#define BYTES 4096

static ur_physical_mem_handle_t make_physical(ur_context_handle_t context,
                                              ur_device_handle_t device)
{
    const ur_physical_mem_properties_t properties = {.stype =
                                                         UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                     .flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical;
    size_t page;
    UR_OK(urVirtualMemGranularityGetInfo(
        context, device, 1, UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, sizeof(page), &page, NULL));
    UR_OK(urPhysicalMemCreate(context, device, page, &properties, &physical));
    return physical;
}

Test(checks_foreign, memory_of_other_processes)
{
    char on_the_stack[8];
    void *own_handle;
    size_t size;
    uint8_t garbage[512] = {0};
    void *memory, *elsewhere;
    UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, BYTES, &memory));
    UR_OK(urUSMDeviceAlloc(other.context, OTHER_DEVICE, NULL, NULL, BYTES, &elsewhere));
    UR_OK(urIPCGetMemHandleExp(gear.context, memory, &own_handle, &size));
    void **const out = OUT(void *);
    size_t *const out_size = OUT(size_t) + 8;

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCGetMemHandleExp(handle, memory, out, out_size));
    REFUSES(NULL_POINTER, urIPCGetMemHandleExp(gear.context, NULL, out, out_size));
    REFUSES(NULL_POINTER, urIPCGetMemHandleExp(gear.context, memory, NULL, out_size));
    REFUSES(NULL_POINTER, urIPCGetMemHandleExp(gear.context, memory, out, NULL));
    // No device memory, and memory that another context has.
    REFUSES(WRONG, urIPCGetMemHandleExp(gear.context, own.usm, out, out_size));
    REFUSES(WRONG, urIPCGetMemHandleExp(gear.context, on_the_stack, out, out_size));
    if (!test_env_is_on_intel_driver()) // which knows memory in all contexts of a driver
        REFUSES(WRONG, urIPCGetMemHandleExp(gear.context, elsewhere, out, out_size));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCPutMemHandleExp(handle, own_handle));
    REFUSES(NULL_POINTER, urIPCPutMemHandleExp(gear.context, NULL));
    REFUSES(WRONG, urIPCPutMemHandleExp(other.context, own_handle));
    REFUSES(WRONG, urIPCPutMemHandleExp(gear.context, garbage));
    REFUSES(WRONG, urIPCPutMemHandleExp(gear.context, memory));
    REFUSES(WRONG, urIPCPutPhysMemHandleExp(gear.context, own_handle));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCOpenMemHandleExp(handle, gear.device, own_handle, size, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urIPCOpenMemHandleExp(gear.context, handle, own_handle, size, out));
    REFUSES(WRONG_DEVICE, urIPCOpenMemHandleExp(other.context, gear.device, own_handle, size, out));
    if (!test_env_is_on_intel_driver()) // whose devices have one UUID there
        REFUSES(WRONG, urIPCOpenMemHandleExp(gear.context, OTHER_DEVICE, own_handle, size, out));
    REFUSES(WRONG, urIPCOpenMemHandleExp(gear.context, gear.device, garbage, size, out));
    const size_t sizes[] = {0, size - 1, size + 1, SIZE_MAX};
    for (int i = 0; i < 4; i++)
        REFUSES(WRONG, urIPCOpenMemHandleExp(gear.context, gear.device, own_handle, sizes[i], out));
    REFUSES(NULL_POINTER, urIPCOpenMemHandleExp(gear.context, gear.device, NULL, size, out));
    REFUSES(NULL_POINTER, urIPCOpenMemHandleExp(gear.context, gear.device, own_handle, size, NULL));
    REFUSES(WRONG, urIPCOpenPhysMemHandleExp(gear.context, gear.device, own_handle, size,
                                             OUT(ur_physical_mem_handle_t)));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCCloseMemHandleExp(handle, memory));
    REFUSES(NULL_POINTER, urIPCCloseMemHandleExp(gear.context, NULL));
    REFUSES(WRONG, urIPCCloseMemHandleExp(gear.context, memory));
    REFUSES(WRONG, urIPCCloseMemHandleExp(gear.context, on_the_stack));

    UR_OK(urIPCPutMemHandleExp(gear.context, own_handle));
    UR_OK(urUSMFree(gear.context, memory));
    UR_OK(urUSMFree(other.context, elsewhere));
}

Test(checks_foreign, physical_memory)
{
    ur_physical_mem_handle_t physical = make_physical(gear.context, gear.device);
    ur_physical_mem_handle_t elsewhere = make_physical(other.context, OTHER_DEVICE);
    void *own_handle;
    size_t size;
    uint8_t garbage[512] = {0};
    ur_physical_mem_handle_t *const out = OUT(ur_physical_mem_handle_t);
    UR_OK(urIPCGetPhysMemHandleExp(gear.context, physical, &own_handle, &size));

    ur_physical_mem_properties_t properties = {.stype = UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES};
    size_t page;
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_SIZE, sizeof(page), &page, NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urPhysicalMemCreate(handle, gear.device, page, &properties, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urPhysicalMemCreate(gear.context, handle, page, &properties, out));
    REFUSES(WRONG_DEVICE, urPhysicalMemCreate(other.context, gear.device, page, &properties, out));
    REFUSES_FLAGS(UR_PHYSICAL_MEM_FLAGS_MASK,
                  (properties.flags = flags,
                   urPhysicalMemCreate(gear.context, gear.device, page, &properties, out)));
    REFUSES(NULL_POINTER, urPhysicalMemCreate(gear.context, gear.device, page, NULL, NULL));
    const size_t no_pages[] = {0, 1, page - 1, page + 1, SIZE_MAX};
    for (int i = 0; i < 5; i++)
        REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
                urPhysicalMemCreate(gear.context, gear.device, no_pages[i], NULL, out));
    REFUSES(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            urPhysicalMemCreate(gear.context, gear.device, (size_t)1 << 47, NULL, out));
    REFUSES(UR_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            urVirtualMemReserve(gear.context, NULL, SIZE_MAX / page * page - page, OUT(void *)));
    REFUSES_HANDLE(PHYSICAL_MEMORY, ur_physical_mem_handle_t, WRONG, urPhysicalMemRetain(handle));
    REFUSES_HANDLE(PHYSICAL_MEMORY, ur_physical_mem_handle_t, WRONG, urPhysicalMemRelease(handle));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCGetPhysMemHandleExp(handle, physical, OUT(void *), OUT(size_t)));
    REFUSES_HANDLE(PHYSICAL_MEMORY, ur_physical_mem_handle_t, WRONG,
                   urIPCGetPhysMemHandleExp(gear.context, handle, OUT(void *), OUT(size_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_ARGUMENT,
            urIPCGetPhysMemHandleExp(gear.context, elsewhere, OUT(void *), OUT(size_t)));
    REFUSES(NULL_POINTER, urIPCGetPhysMemHandleExp(gear.context, physical, NULL, OUT(size_t)));
    REFUSES(NULL_POINTER, urIPCGetPhysMemHandleExp(gear.context, physical, OUT(void *), NULL));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCPutPhysMemHandleExp(handle, own_handle));
    REFUSES(NULL_POINTER, urIPCPutPhysMemHandleExp(gear.context, NULL));
    REFUSES(WRONG, urIPCPutPhysMemHandleExp(other.context, own_handle));
    REFUSES(WRONG, urIPCPutPhysMemHandleExp(gear.context, garbage));
    REFUSES(WRONG, urIPCPutMemHandleExp(gear.context, own_handle));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCOpenPhysMemHandleExp(handle, gear.device, own_handle, size, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urIPCOpenPhysMemHandleExp(gear.context, handle, own_handle, size, out));
    REFUSES(WRONG_DEVICE,
            urIPCOpenPhysMemHandleExp(other.context, gear.device, own_handle, size, out));
    if (!test_env_is_on_intel_driver()) // whose devices have one UUID there
        REFUSES(WRONG,
                urIPCOpenPhysMemHandleExp(gear.context, OTHER_DEVICE, own_handle, size, out));
    REFUSES(WRONG, urIPCOpenPhysMemHandleExp(gear.context, gear.device, garbage, size, out));
    const size_t sizes[] = {0, size - 1, size + 1, SIZE_MAX};
    for (int i = 0; i < 4; i++)
        REFUSES(WRONG,
                urIPCOpenPhysMemHandleExp(gear.context, gear.device, own_handle, sizes[i], out));
    REFUSES(WRONG, urIPCOpenMemHandleExp(gear.context, gear.device, own_handle, size, OUT(void *)));
    REFUSES(NULL_POINTER, urIPCOpenPhysMemHandleExp(gear.context, gear.device, NULL, size, out));
    REFUSES(NULL_POINTER,
            urIPCOpenPhysMemHandleExp(gear.context, gear.device, own_handle, size, NULL));

    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urIPCClosePhysMemHandleExp(handle, physical));
    REFUSES_HANDLE(PHYSICAL_MEMORY, ur_physical_mem_handle_t, WRONG,
                   urIPCClosePhysMemHandleExp(gear.context, handle));
    REFUSES(UR_RESULT_ERROR_INVALID_ARGUMENT, urIPCClosePhysMemHandleExp(gear.context, elsewhere));
    REFUSES(WRONG, urIPCClosePhysMemHandleExp(gear.context, physical));

    UR_OK(urIPCPutPhysMemHandleExp(gear.context, own_handle));
    UR_OK(urPhysicalMemRelease(physical));
    UR_OK(urPhysicalMemRelease(elsewhere));
}

static ur_exp_file_descriptor_t file = {.stype = UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR, .fd = -1};
static ur_exp_external_mem_desc_t described = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC,
                                               .pNext = &file};
static const ur_exp_external_mem_type_t opaque = UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD;

Test(checks_foreign, import_of_external_memory)
{
    ur_exp_external_mem_handle_t *const out = OUT(ur_exp_external_mem_handle_t);
    ur_exp_external_mem_desc_t empty = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC};
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urBindlessImagesImportExternalMemoryExp(handle, gear.device, BYTES, opaque,
                                                           &described, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urBindlessImagesImportExternalMemoryExp(gear.context, handle, BYTES, opaque,
                                                           &described, out));
    REFUSES(WRONG_DEVICE, urBindlessImagesImportExternalMemoryExp(other.context, gear.device, BYTES,
                                                                  opaque, &described, out));
    const size_t sizes[] = {0, SIZE_MAX};
    for (int i = 0; i < 2; i++)
        REFUSES(WRONG, urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, sizes[i],
                                                               opaque, &described, out));
    for (uint32_t type = UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT_DX11_RESOURCE + 1; type != 0; type *= 2)
        REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
                urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES,
                                                        (ur_exp_external_mem_type_t)type,
                                                        &described, out));
    REFUSES(NULL_POINTER, urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES,
                                                                  opaque, NULL, out));
    REFUSES(NULL_POINTER, urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES,
                                                                  opaque, &described, NULL));
    REFUSES(WRONG, urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES, opaque,
                                                           &described, out));
    REFUSES(WRONG, urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES, opaque,
                                                           &empty, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urBindlessImagesSupportsImportingHandleTypeExp(handle, opaque, OUT(ur_bool_t)));
    REFUSES(NULL_POINTER,
            urBindlessImagesSupportsImportingHandleTypeExp(gear.device, opaque, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urBindlessImagesSupportsImportingHandleTypeExp(
                gear.device, (ur_exp_external_mem_type_t)99, OUT(ur_bool_t)));
}

Test(checks_foreign, use_of_external_memory)
{
    ur_exp_external_mem_handle_t memory;
    void **const out = OUT(void *);
    test_ze_cpu_require(); // for the memfd
    file.fd = memfd_create("another interface", MFD_CLOEXEC);
    cr_assert(file.fd >= 0 && ftruncate(file.fd, BYTES) == 0);
    UR_OK(urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, BYTES, opaque,
                                                  &described, &memory));
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urBindlessImagesMapExternalLinearMemoryExp(handle, gear.device, 0, BYTES, memory, out));
    REFUSES_HANDLE(
        DEVICE, ur_device_handle_t, WRONG_DEVICE,
        urBindlessImagesMapExternalLinearMemoryExp(gear.context, handle, 0, BYTES, memory, out));
    REFUSES_HANDLE(EXTERNAL_MEMORY, ur_exp_external_mem_handle_t, WRONG,
                   urBindlessImagesMapExternalLinearMemoryExp(gear.context, gear.device, 0, BYTES,
                                                              handle, out));
    REFUSES(WRONG_DEVICE, urBindlessImagesMapExternalLinearMemoryExp(other.context, gear.device, 0,
                                                                     BYTES, memory, out));
    static const uint64_t ranges[][2] = {{0, 0},          {0, BYTES + 1},  {1, BYTES},
                                         {BYTES, 1},      {1, UINT64_MAX}, {UINT64_MAX, 1},
                                         {UINT64_MAX, 2}, {BYTES + 1, 0}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        REFUSES(WRONG, urBindlessImagesMapExternalLinearMemoryExp(
                           gear.context, gear.device, ranges[i][0], ranges[i][1], memory, out));
    REFUSES(WRONG, urBindlessImagesMapExternalLinearMemoryExp(other.context, OTHER_DEVICE, 0, BYTES,
                                                              memory, out));
    REFUSES(NULL_POINTER, urBindlessImagesMapExternalLinearMemoryExp(gear.context, gear.device, 0,
                                                                     BYTES, memory, NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urBindlessImagesFreeMappedLinearMemoryExp(handle, gear.device, own.usm));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urBindlessImagesFreeMappedLinearMemoryExp(gear.context, handle, own.usm));
    REFUSES(NULL_POINTER,
            urBindlessImagesFreeMappedLinearMemoryExp(gear.context, gear.device, NULL));
    REFUSES(WRONG, urBindlessImagesFreeMappedLinearMemoryExp(gear.context, gear.device, own.usm));
    REFUSES(WRONG_DEVICE,
            urBindlessImagesFreeMappedLinearMemoryExp(other.context, gear.device, own.usm));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urBindlessImagesReleaseExternalMemoryExp(handle, gear.device, memory));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urBindlessImagesReleaseExternalMemoryExp(gear.context, handle, memory));
    REFUSES_HANDLE(EXTERNAL_MEMORY, ur_exp_external_mem_handle_t, WRONG,
                   urBindlessImagesReleaseExternalMemoryExp(gear.context, gear.device, handle));
    REFUSES(WRONG, urBindlessImagesReleaseExternalMemoryExp(other.context, OTHER_DEVICE, memory));
    REFUSES(WRONG_DEVICE,
            urBindlessImagesReleaseExternalMemoryExp(other.context, gear.device, memory));
    UR_OK(urBindlessImagesReleaseExternalMemoryExp(gear.context, gear.device, memory));
    REFUSES(WRONG, urBindlessImagesReleaseExternalMemoryExp(gear.context, gear.device, memory));
}

static bool can_register(void)
{
    ur_bool_t can;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
                          sizeof(can), &can, NULL));
    return can;
}

Test(checks_foreign, memory_of_the_host)
{
    ur_exp_usm_host_alloc_register_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_EXP_USM_HOST_ALLOC_REGISTER_PROPERTIES};
    _Alignas(BYTES) static char page[BYTES];
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMHostAllocRegisterExp(handle, page, BYTES, NULL));
    REFUSES(NULL_POINTER, urUSMHostAllocRegisterExp(gear.context, NULL, BYTES, NULL));
    REFUSES_FLAGS(UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK,
                  (properties.flags = flags,
                   urUSMHostAllocRegisterExp(gear.context, page, BYTES, &properties)));
    REFUSES(WRONG, urUSMHostAllocRegisterExp(gear.context, page, 0, NULL));
    if (can_register()) {
        static const size_t sizes[] = {1, BYTES - 1, BYTES + 1, SIZE_MAX, SIZE_MAX - BYTES + 1};
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            REFUSES(WRONG, urUSMHostAllocRegisterExp(gear.context, page, sizes[i], NULL));
        REFUSES(WRONG, urUSMHostAllocRegisterExp(gear.context, page + 8, BYTES, NULL));
        UR_OK(urUSMHostAllocRegisterExp(gear.context, page, BYTES, NULL));
        REFUSES(WRONG, urUSMHostAllocRegisterExp(gear.context, page, BYTES, NULL));
        REFUSES(WRONG, urUSMHostAllocUnregisterExp(other.context, page));
        REFUSES(WRONG, urUSMHostAllocUnregisterExp(gear.context, page + 8));
        UR_OK(urUSMHostAllocUnregisterExp(gear.context, page));
    }
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMHostAllocUnregisterExp(handle, page));
    REFUSES(NULL_POINTER, urUSMHostAllocUnregisterExp(gear.context, NULL));
    REFUSES(WRONG, urUSMHostAllocUnregisterExp(gear.context, page));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMImportExp(handle, page, BYTES));
    REFUSES(NULL_POINTER, urUSMImportExp(gear.context, NULL, BYTES));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urUSMImportExp(gear.context, page, 0));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT, urUSMReleaseExp(handle, page));
    REFUSES(NULL_POINTER, urUSMReleaseExp(gear.context, NULL));
}
