// SPDX-License-Identifier: MIT
// Physical memory of one process in another one, where it is mapped anew.
#include "ipc_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t page;

static void find_page(void)
{
    UR_OK(urVirtualMemGranularityGetInfo(gear.context, gear.device, 1,
                                         UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, sizeof(page),
                                         &page, NULL));
}

static void set_up(void)
{
    ipc_set_up();
    find_page();
}

static ur_physical_mem_handle_t make_shared(size_t pages)
{
    const ur_physical_mem_properties_t properties = {.stype =
                                                         UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                     .flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical;
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, pages * page, &properties, &physical));
    return physical;
}

// A page of it.
static void *map(ur_physical_mem_handle_t physical, size_t from_page)
{
    void *start;
    UR_OK(urVirtualMemReserve(gear.context, NULL, page, &start));
    UR_OK(urVirtualMemMap(gear.context, start, page, physical, from_page * page,
                          UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE));
    return start;
}

static void unmap(void *start)
{
    UR_OK(urVirtualMemUnmap(gear.context, start, page));
    UR_OK(urVirtualMemFree(gear.context, start, page));
}

static void *get_handle(ur_physical_mem_handle_t physical, struct message *out_message)
{
    void *handle;
    *out_message = (struct message){0};
    UR_OK(urIPCGetPhysMemHandleExp(gear.context, physical, &handle, &out_message->size));
    cr_assert_leq(out_message->size, HANDLE_BYTES);
    memcpy(out_message->handle, handle, out_message->size);
    return handle;
}

static ur_result_t open_handle(const struct message *message,
                               ur_physical_mem_handle_t *out_physical)
{
    return urIPCOpenPhysMemHandleExp(gear.context, gear.device, message->handle, message->size,
                                     out_physical);
}

static ur_bool_t is_offered(void)
{
    ur_bool_t is_offered = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_IPC_PHYSICAL_MEMORY_SUPPORT_EXP,
                          sizeof(is_offered), &is_offered, NULL));
    return is_offered;
}

// Both pages of the memory: reads the first, writes the second.
static void read_and_write(void)
{
    struct message message;
    ur_physical_mem_handle_t physical;
    find_page();
    while (ipc_receive(&message)) {
        const ur_result_t result = open_handle(&message, &physical);
        if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE)
            _exit(IPC_FORBIDDEN);
        UR_OK(result);
        void *first = map(physical, 0);
        void *second = map(physical, 1);
        if (!ipc_has_numbers(first, message.first))
            _exit(1);
        ipc_fill(second, -message.first);
        unmap(first);
        unmap(second);
        UR_OK(urIPCClosePhysMemHandleExp(gear.context, physical));
        ipc_send(&message);
    }
    ur_tear_down();
}

Test(ipc_physical, memory_is_read_and_written_by_another_process)
{
    struct message message;
    ipc_set_up_with(read_and_write);
    find_page();
    for (int round = 1; round <= 2; round++) {
        ur_physical_mem_handle_t physical = make_shared(2);
        void *first = map(physical, 0);
        void *second = map(physical, 1);
        ipc_fill(first, 100 * round);
        void *handle = get_handle(physical, &message);
        message.first = 100 * round;
        ipc_send(&message);
        if (!ipc_receive(&message))
            ipc_join();
        cr_assert(ipc_has_numbers(second, -100 * round));
        cr_assert(ipc_has_numbers(first, 100 * round));
        UR_OK(urIPCPutPhysMemHandleExp(gear.context, handle));
        unmap(first);
        unmap(second);
        UR_OK(urPhysicalMemRelease(physical));
    }
    ipc_join();
    ur_tear_down();
}

Test(ipc_physical, memory_is_opened_twice_and_outlives_the_one_that_shared_it)
{
    struct message message;
    ur_physical_mem_handle_t opened[2];
    set_up();
    cr_assert(is_offered());
    ur_physical_mem_handle_t physical = make_shared(1);
    void *there = map(physical, 0);
    ipc_fill(there, 3);
    void *handle = get_handle(physical, &message);
    UR_OK(open_handle(&message, &opened[0]));
    UR_OK(open_handle(&message, &opened[1]));
    UR_OK(urIPCPutPhysMemHandleExp(gear.context, handle));
    unmap(there);
    UR_OK(urPhysicalMemRelease(physical));
    UR_OK(urIPCClosePhysMemHandleExp(gear.context, opened[0]));
    UR_FAILS(urIPCClosePhysMemHandleExp(gear.context, opened[0]), UR_RESULT_ERROR_INVALID_VALUE);
    void *here = map(opened[1], 0);
    UR_OK(urIPCClosePhysMemHandleExp(gear.context, opened[1])); // it stays while it is mapped
    cr_assert(ipc_has_numbers(here, 3));
    unmap(here);
    ur_tear_down();
}

Test(ipc_physical, memory_knows_whether_it_is_shared)
{
    struct message message;
    ur_physical_mem_handle_t opened, plain;
    ur_physical_mem_properties_t properties;
    void *data;
    size_t size;
    set_up();
    ur_physical_mem_handle_t physical = make_shared(2);
    void *handle = get_handle(physical, &message);
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_PROPERTIES, sizeof(properties),
                               &properties, NULL));
    cr_assert_eq(properties.flags, UR_PHYSICAL_MEM_FLAG_ENABLE_IPC);
    UR_OK(open_handle(&message, &opened));
    UR_OK(urPhysicalMemGetInfo(opened, UR_PHYSICAL_MEM_INFO_SIZE, sizeof(size), &size, NULL));
    cr_assert_eq(size, 2 * page);
    // Neither has handles of its own, and only opened memory is closed.
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, page, NULL, &plain));
    UR_FAILS(urIPCGetPhysMemHandleExp(gear.context, opened, &data, &size),
             UR_RESULT_ERROR_INVALID_ARGUMENT);
    UR_FAILS(urIPCGetPhysMemHandleExp(gear.context, plain, &data, &size),
             UR_RESULT_ERROR_INVALID_ARGUMENT);
    UR_FAILS(urIPCClosePhysMemHandleExp(gear.context, physical), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urIPCClosePhysMemHandleExp(gear.context, plain), UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urIPCClosePhysMemHandleExp(gear.context, opened));
    UR_OK(urIPCPutPhysMemHandleExp(gear.context, handle));
    UR_OK(urPhysicalMemRelease(plain));
    UR_OK(urPhysicalMemRelease(physical));
    ur_tear_down();
}

Test(ipc_physical, handles_that_were_put_back_or_are_none_are_refused)
{
    struct message message;
    ur_physical_mem_handle_t opened = NULL;
    void *memory;
    set_up();
    ur_physical_mem_handle_t physical = make_shared(1);
    void *handle = get_handle(physical, &message);
    // Each sort of handle has functions of its own.
    UR_FAILS(
        urIPCOpenMemHandleExp(gear.context, gear.device, message.handle, message.size, &memory),
        UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urIPCPutMemHandleExp(gear.context, handle), UR_RESULT_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < message.size; i++) {
        message.handle[i] ^= 0x10;
        UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
        message.handle[i] ^= 0x10;
    }
    message.size--;
    UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
    message.size++;
    UR_OK(urIPCPutPhysMemHandleExp(gear.context, handle));
    UR_FAILS(urIPCPutPhysMemHandleExp(gear.context, handle), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(open_handle(&message, &opened), UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_null(opened);
    UR_OK(urPhysicalMemRelease(physical));
    ur_tear_down();
}

// Handles that the host did not put back and memory that it did not unmap go with its context.
Test(ipc_physical, forgotten_handles_and_mappings_go_with_the_context)
{
    struct message message;
    ur_physical_mem_handle_t opened;
    set_up();
    ur_physical_mem_handle_t physical = make_shared(1);
    get_handle(physical, &message);
    UR_OK(open_handle(&message, &opened));
    void *start;
    UR_OK(urVirtualMemReserve(gear.context, NULL, page, &start));
    UR_OK(urVirtualMemMap(gear.context, start, page, opened, 0,
                          UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE));
    UR_OK(urIPCClosePhysMemHandleExp(gear.context, opened));
    UR_OK(urPhysicalMemRelease(physical));
    UR_OK(urVirtualMemFree(gear.context, start, page));
    ur_tear_down();
}

Test(ipc_physical, is_unsupported_on_a_driver_that_exports_none)
{
    const ur_physical_mem_properties_t properties = {.stype =
                                                         UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                     .flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical = NULL;
    test_ze_cpu_require();
    setenv("ZE_CPU_WITHOUT", "zePhysicalMemGetProperties", 1);
    set_up();
    cr_assert(!is_offered());
    UR_FAILS(urPhysicalMemCreate(gear.context, gear.device, page, &properties, &physical),
             UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    cr_assert_null(physical);
    ur_tear_down();
}
