// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "memory/interop/ipc.h"
#include "ur_gear.h"

#include <stddef.h>
#include <unistd.h>

#define OK(call) fuzz_require((call) == UR_RESULT_SUCCESS)

enum { PHYSICAL = 1, IS_SEALED = 2, IS_CUT = 4, AT_CHANGES = 2 };

static struct {
    size_t page_bytes;
    const struct zepi_ipc_handle *handles[2]; // of USM, of physical memory
} made;

static void make_handles(const struct ur_gear *gear)
{
    const ur_physical_mem_properties_t shared = {.stype = UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                 .flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical;
    void *memory, *handle;
    size_t size_bytes;
    OK(zepi_urVirtualMemGranularityGetInfo(gear->context, gear->device, 1,
                                           UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM,
                                           sizeof(made.page_bytes), &made.page_bytes, NULL));
    OK(zepi_urUSMDeviceAlloc(gear->context, gear->device, NULL, NULL, 100, &memory));
    OK(zepi_urIPCGetMemHandleExp(gear->context, memory, &handle, &size_bytes));
    made.handles[0] = handle;
    OK(zepi_urPhysicalMemCreate(gear->context, gear->device, 4 * made.page_bytes, &shared,
                                &physical));
    OK(zepi_urIPCGetPhysMemHandleExp(gear->context, physical, &handle, &size_bytes));
    made.handles[1] = handle;
    fuzz_require(size_bytes == sizeof(struct zepi_ipc_handle));
}

// Not another process of the machine, whose descriptors are not the test's.
static uint32_t choose_process(uint8_t choice)
{
    static const uint32_t none[] = {0, UINT32_MAX, INT32_MAX, (uint32_t)INT32_MIN};
    return choice < 4 ? none[choice] : (uint32_t)getpid();
}

static void open_usm(const struct ur_gear *gear, void *handle, size_t size_bytes)
{
    void *memory;
    if (zepi_urIPCOpenMemHandleExp(gear->context, gear->device, handle, size_bytes, &memory) !=
        UR_RESULT_SUCCESS)
        return;
    (void)*(volatile const char *)memory;
    OK(zepi_urIPCCloseMemHandleExp(gear->context, memory));
}

// Maps and reads the last page.
static void open_physical(const struct ur_gear *gear, const void *handle, size_t size_bytes)
{
    ur_physical_mem_handle_t physical;
    size_t opened_bytes;
    void *start;
    if (zepi_urIPCOpenPhysMemHandleExp(gear->context, gear->device, handle, size_bytes,
                                       &physical) != UR_RESULT_SUCCESS)
        return;
    OK(zepi_urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_SIZE, sizeof(opened_bytes),
                                 &opened_bytes, NULL));
    fuzz_require(opened_bytes >= made.page_bytes);
    OK(zepi_urVirtualMemReserve(gear->context, NULL, made.page_bytes, &start));
    if (zepi_urVirtualMemMap(gear->context, start, made.page_bytes, physical,
                             opened_bytes - made.page_bytes,
                             UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE) == UR_RESULT_SUCCESS) {
        (void)*(volatile const char *)start;
        OK(zepi_urVirtualMemUnmap(gear->context, start, made.page_bytes));
    }
    OK(zepi_urVirtualMemFree(gear->context, start, made.page_bytes));
    OK(zepi_urIPCClosePhysMemHandleExp(gear->context, physical));
}

// Handles of memory that come from another process. An input has flags, the process, and changes of
// a whole handle of this process', bit by bit, so that zeros are that handle.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const struct ur_gear *gear = ur_gear_get(UR_GEAR_ON_ZE_CPU);
    struct zepi_ipc_handle handle;
    if (size_bytes < AT_CHANGES)
        return 0;
    if (!made.page_bytes)
        make_handles(gear);
    const bool is_physical = bytes[0] & PHYSICAL;
    memcpy(&handle, made.handles[is_physical], sizeof(handle));
    for (size_t i = 0; i < sizeof(handle) && AT_CHANGES + i < size_bytes; i++)
        ((uint8_t *)&handle)[i] ^= bytes[AT_CHANGES + i];
    handle.process = choose_process(bytes[1]);
    if (bytes[0] & IS_SEALED)
        fuzz_seal((uint8_t *)&handle, sizeof(handle), offsetof(struct zepi_ipc_handle, checksum),
                  sizeof(handle));
    // In a block of just that size.
    const size_t handle_bytes = bytes[0] & IS_CUT ? size_bytes - AT_CHANGES : sizeof(handle);
    uint8_t *copy = calloc(1, handle_bytes > 0 ? handle_bytes : 1);
    memcpy(copy, &handle, handle_bytes < sizeof(handle) ? handle_bytes : sizeof(handle));
    open_usm(gear, copy, handle_bytes);
    open_physical(gear, copy, handle_bytes);
    free(copy);
    return 0;
}
