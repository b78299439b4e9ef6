// SPDX-License-Identifier: MIT
//
// Shares memory and opens it again, in one process, and imports that of a file, while each Level
// Zero call and each allocation fails in turn.
#include "walk_ur.h"

#include "cache/digest.h"
#include "device/context.h"
#include "memory/interop/ipc.h"
#include "ze/ze.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static struct test_gear gear;
static int32_t *memory;

static zepi_result_t share_and_open(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const int32_t number = 42;
    int32_t *opened = NULL;
    void *handle = NULL;
    size_t size;
    zepi_result_t result;
    STEP(told(zepi_urIPCGetMemHandleExp(context, memory, &handle, &size)));
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&opened)));
    STEP(zepi.queue_fill(gear.queue, opened, &number, sizeof(number), 1000 * sizeof(number),
                         TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(memory[0] == number && memory[999] == number);
out:
    walk_settle(gear.queue);
    if (opened)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    if (handle)
        WALK_EXPECT(zepi_urIPCPutMemHandleExp(context, handle) == UR_RESULT_SUCCESS);
    return result;
}

// ---- Physical memory

static size_t page;

static zepi_result_t share_physical(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const ur_physical_mem_properties_t properties = {.flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical = NULL, opened = NULL;
    void *handle = NULL;
    size_t size;
    zepi_result_t result;
    STEP(told(zepi_urPhysicalMemCreate(context, device, page, &properties, &physical)));
    STEP(told(zepi_urIPCGetPhysMemHandleExp(context, physical, &handle, &size)));
    STEP(told(zepi_urIPCOpenPhysMemHandleExp(context, device, handle, size, &opened)));
out:
    if (opened)
        WALK_EXPECT(zepi_urIPCClosePhysMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    if (handle)
        WALK_EXPECT(zepi_urIPCPutPhysMemHandleExp(context, handle) == UR_RESULT_SUCCESS);
    walk_release(physical);
    return result;
}

// ---- External memory

static zepi_result_t import_and_map(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const size_t size = 4096;
    const int32_t number = 17;
    int32_t found = 0;
    ur_exp_file_descriptor_t file = {.stype = UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR,
                                     .fd = memfd_create("another interface", MFD_CLOEXEC)};
    ur_exp_external_mem_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC,
                                       .pNext = &file};
    ur_exp_external_mem_handle_t external = NULL;
    void *mapped = NULL;
    zepi_result_t result;
    const int alias = dup(file.fd);
    WALK_EXPECT(alias >= 0 && ftruncate(file.fd, (off_t)size) == 0);
    STEP(told(zepi_urBindlessImagesImportExternalMemoryExp(
        context, device, size, UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, &desc, &external)));
    STEP(told(zepi_urBindlessImagesMapExternalLinearMemoryExp(context, device, 0, size, external,
                                                              &mapped)));
    STEP(zepi.queue_fill(gear.queue, mapped, &number, sizeof(number), size, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(pread(alias, &found, sizeof(found), size / 2) == sizeof(found) && found == number);
out:
    walk_settle(gear.queue);
    if (mapped)
        WALK_EXPECT(zepi_urBindlessImagesFreeMappedLinearMemoryExp(context, device, mapped) ==
                    UR_RESULT_SUCCESS);
    walk_release(external);
    // The descriptor is the host's unless the import succeeded.
    WALK_EXPECT((fcntl(file.fd, F_GETFD) >= 0) == (external == NULL));
    if (!external)
        close(file.fd);
    close(alias);
    return result;
}

static zepi_result_t allocate_and_export(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const ur_exp_external_mem_type_t type = UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD;
    const size_t size = 4096;
    const int32_t number = 23;
    int32_t found = 0;
    void *own = NULL;
    int descriptor = -1;
    zepi_result_t result;
    STEP(told(zepi_urMemoryExportAllocExportableMemoryExp(context, device, 0, size, type, &own)));
    STEP(told(zepi_urMemoryExportExportMemoryHandleExp(context, device, type, own, &descriptor)));
    STEP(zepi.queue_fill(gear.queue, own, &number, sizeof(number), size, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(pread(descriptor, &found, sizeof(found), size / 2) == sizeof(found) &&
                found == number);
out:
    walk_settle(gear.queue);
    // The memory is gone even if the driver's call fails.
    if (own) {
        zepi_urMemoryExportFreeExportableMemoryExp(context, device, own);
        WALK_EXPECT(zepi_urMemoryExportFreeExportableMemoryExp(context, device, own) !=
                    UR_RESULT_SUCCESS);
    }
    if (descriptor >= 0)
        close(descriptor);
    return result;
}

// ---- Memory of the host

static zepi_result_t register_and_import(void)
{
    static _Alignas(4096) char host[2][4096];
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const char byte = 3;
    bool is_registered = false;
    bool is_imported = false;
    zepi_result_t result;
    STEP(told(zepi_urUSMHostAllocRegisterExp(context, host[0], sizeof(host[0]), NULL)));
    is_registered = true;
    STEP(told(zepi_urUSMImportExp(context, host[1], sizeof(host[1]))));
    is_imported = true;
    STEP(zepi.queue_fill(gear.queue, host[0], &byte, 1, sizeof(host[0]), TEST_NO_WAIT, NULL));
    STEP(zepi.queue_copy(gear.queue, host[1], host[0], sizeof(host[1]), TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(host[1][0] == byte && host[1][sizeof(host[1]) - 1] == byte);
out:
    walk_settle(gear.queue);
    if (is_registered)
        WALK_EXPECT(zepi_urUSMHostAllocUnregisterExp(context, host[0]) == UR_RESULT_SUCCESS);
    if (is_imported)
        while (zepi_urUSMReleaseExp(context, host[1]) != UR_RESULT_SUCCESS)
            ;
    return result;
}

// ---- A driver that answers a second opening with the same memory, which the first closing ends

static __typeof__(zeMemOpenIpcHandle) *driver_open;
static __typeof__(zeMemCloseIpcHandle) *driver_close;
static void *same;

static ze_result_t ZE_APICALL open_same(ze_context_handle_t context, ze_device_handle_t device,
                                        ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                        void **out_memory)
{
    const ze_result_t result =
        same ? ZE_RESULT_SUCCESS : driver_open(context, device, handle, flags, &same);
    if (result == ZE_RESULT_SUCCESS)
        *out_memory = same;
    return result;
}

static ze_result_t ZE_APICALL close_same(ze_context_handle_t context, const void *opened)
{
    WALK_EXPECT(opened == same);
    same = NULL;
    return driver_close(context, opened);
}

// The memory is opened anew while commands use what was closed.
static zepi_result_t close_and_open(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const int32_t numbers[] = {43, 44};
    int32_t *opened = NULL, *again = NULL;
    void *handle = NULL;
    size_t size;
    zepi_event_t gate = NULL;
    zepi_result_t result;
    STEP(zepi.event_create(gear.context, &gate));
    STEP(told(zepi_urIPCGetMemHandleExp(context, memory, &handle, &size)));
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&opened)));
    STEP(zepi.queue_fill(gear.queue, opened, &numbers[0], sizeof(int32_t), sizeof(int32_t),
                         (zepi_wait_list_t){&gate, 1}, NULL));
    WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    opened = NULL;
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&again)));
    while (zepi.event_signal(gate) != ZEPI_SUCCESS)
        ;
    walk_settle(gear.queue);
    WALK_EXPECT(same && memory[0] == numbers[0]);
    STEP(zepi.queue_fill(gear.queue, again, &numbers[1], sizeof(int32_t), sizeof(int32_t),
                         TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(memory[0] == numbers[1]);
out:
    while (gate && zepi.event_signal(gate) != ZEPI_SUCCESS)
        ;
    walk_settle(gear.queue);
    if (opened)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    if (again)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, again) == UR_RESULT_SUCCESS);
    if (handle)
        WALK_EXPECT(zepi_urIPCPutMemHandleExp(context, handle) == UR_RESULT_SUCCESS);
    walk_release(gate);
    return result;
}

static void walk_with_one_memory(void)
{
    driver_open = zepi_ze.zeMemOpenIpcHandle;
    driver_close = zepi_ze.zeMemCloseIpcHandle;
    zepi_ze.zeMemOpenIpcHandle = open_same;
    zepi_ze.zeMemCloseIpcHandle = close_same;
    walk_rehearsed("IPC, one memory", close_and_open, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    zepi_ze.zeMemOpenIpcHandle = driver_open;
    zepi_ze.zeMemCloseIpcHandle = driver_close;
}

// ---- File descriptors

static int lowest_free_descriptor(void)
{
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    WALK_EXPECT(descriptor >= 0);
    close(descriptor);
    return descriptor;
}

// More and more of them are free, until the story gets by.
static void walk_descriptors(void)
{
    struct rlimit limit;
    WALK_EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlim_t all = limit.rlim_cur;
    const rlim_t none = (rlim_t)lowest_free_descriptor();
    zepi_result_t result = ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    for (limit.rlim_cur = none; result != ZEPI_SUCCESS; limit.rlim_cur++) {
        WALK_EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        result = share_and_open();
        WALK_EXPECT(result == ZEPI_SUCCESS || result == ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    }
    // Two at once for the opening.
    WALK_EXPECT(limit.rlim_cur > none + 2);
    limit.rlim_cur = all;
    WALK_EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

// ---- Handles from outside

static ur_result_t open_sealed(struct zepi_ipc_handle handle, char **out_opened)
{
    const struct zepi_digest digest =
        zepi_digest_of(&handle, offsetof(struct zepi_ipc_handle, checksum));
    memcpy(handle.checksum, &digest, sizeof(handle.checksum));
    return zepi_urIPCOpenMemHandleExp((ur_context_handle_t)gear.context,
                                      (ur_device_handle_t)gear.device, &handle, sizeof(handle),
                                      (void **)out_opened);
}

static void open_handles_from_outside(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    struct zepi_ipc_handle handle;
    void *own;
    char *opened = NULL;
    void *base;
    size_t size;
    WALK_EXPECT(zepi_urIPCGetMemHandleExp(context, memory, &own, &size) == UR_RESULT_SUCCESS);
    memcpy(&handle, own, sizeof(handle));
    handle.file[1]++; // the number of the process or of the descriptor is another's
    WALK_EXPECT(open_sealed(handle, &opened) == UR_RESULT_ERROR_INVALID_VALUE);
    handle.file[1]--;
    WALK_EXPECT(zepi_ze.zeMemGetAddressRange(gear.context->ze, memory, &base, &size) ==
                ZE_RESULT_SUCCESS);
    const uint64_t beyond[] = {size, size + 1, UINT64_C(1) << 63, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        handle.offset_bytes = beyond[i];
        WALK_EXPECT(open_sealed(handle, &opened) == UR_RESULT_ERROR_INVALID_VALUE);
    }
    handle.offset_bytes = size - 1;
    WALK_EXPECT(open_sealed(handle, &opened) == UR_RESULT_SUCCESS);
    WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    WALK_EXPECT(zepi_urIPCPutMemHandleExp(context, own) == UR_RESULT_SUCCESS);
}

int main(void)
{
    setenv("ZE_CPU_IPC", "1", 1);
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 1000 * sizeof(*memory), 0,
                              (void **)&memory));
    WALK_EXPECT(zepi_urVirtualMemGranularityGetInfo((ur_context_handle_t)gear.context, NULL, 0,
                                                    UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM,
                                                    sizeof(page), &page,
                                                    NULL) == UR_RESULT_SUCCESS);
    TEST_OK(share_and_open());
    TEST_OK(share_physical());
    TEST_OK(import_and_map());
    TEST_OK(allocate_and_export());
    TEST_OK(register_and_import());
    walk_keep();
    open_handles_from_outside(); // the walks find what it leaves behind
    walk_calls("IPC, calls", share_and_open, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("IPC, device lost", share_and_open, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_allocations("IPC, allocations", share_and_open);
    const int free_before = lowest_free_descriptor();
    walk_calls("physical memory, calls", share_physical, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("physical memory, allocations", share_physical);
    walk_calls("external memory, calls", import_and_map, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("external memory, device lost", import_and_map, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_allocations("external memory, allocations", import_and_map);
    walk_calls("exported memory, calls", allocate_and_export,
               "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("exported memory, device lost", allocate_and_export, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("host memory, calls", register_and_import, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("host memory, device lost", register_and_import, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_allocations("host memory, allocations", register_and_import);
    WALK_EXPECT(lowest_free_descriptor() == free_before); // none was left open
    walk_with_one_memory();
    walk_descriptors();
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    return 0;
}
