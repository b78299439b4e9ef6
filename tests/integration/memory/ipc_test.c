// SPDX-License-Identifier: MIT
// Memory that is shared by handles, as a C host sees it; ur.ipc has two processes.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void set_up(void)
{
    setenv("ZE_CPU_IPC", "1", 1);
    gear_set_up();
}

TestSuite(ipc, .init = set_up, .fini = gear_tear_down);

static int32_t *device_memory(void)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 1000, 0, &memory));
    return memory;
}

Test(ipc, memory_is_opened_by_its_handle)
{
    const int32_t number = 21;
    int32_t found = 0;
    const void *handle;
    void *opened;
    size_t size;
    int32_t *memory = device_memory();
    TEST_OK(zepi.ipc_get_handle(gear.context, memory, &handle, &size));
    TEST_OK(zepi.ipc_open_handle(gear.context, gear.device, handle, size, &opened));
    cr_assert_neq(opened, memory);
    TEST_OK(zepi.queue_fill(gear.queue, opened, &number, sizeof(number), 1000, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.ipc_close_memory(gear.context, opened));
    TEST_OK(zepi.ipc_put_handle(gear.context, handle));
    TEST_OK(zepi.queue_copy(gear.queue, &found, memory + 249, sizeof(found), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(found, number);
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(ipc, what_is_wrong_is_refused)
{
    const zepi_context_t context = gear.context;
    const void *handle = NULL;
    void *opened = NULL;
    size_t size = 0;
    char garbage[256] = {0};
    int32_t *memory = device_memory();
    const zepi_context_t no_context = (zepi_context_t)gear.device;
    TEST_FAILS(zepi.ipc_get_handle(NULL, memory, &handle, &size), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.ipc_get_handle(no_context, memory, &handle, &size), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.ipc_get_handle(context, NULL, &handle, &size), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_get_handle(context, garbage, &handle, &size), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_get_handle(context, memory, NULL, &size), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_get_handle(context, memory, &handle, NULL), ZEPI_ERROR_INVALID_VALUE);
    cr_assert(!handle && size == 0);
    TEST_OK(zepi.ipc_get_handle(context, memory, &handle, &size));
    TEST_FAILS(zepi.ipc_open_handle(no_context, gear.device, handle, size, &opened),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.ipc_open_handle(context, NULL, handle, size, &opened),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.ipc_open_handle(context, gear.device, NULL, size, &opened),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_open_handle(context, gear.device, garbage, size, &opened),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_open_handle(context, gear.device, handle, size - 1, &opened),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.ipc_open_handle(context, gear.device, handle, size, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_close_memory(context, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_close_memory(context, memory), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_put_handle(context, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_put_handle(context, garbage), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.ipc_put_handle(no_context, handle), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_null(opened);
    TEST_OK(zepi.ipc_put_handle(context, handle));
    TEST_OK(zepi.usm_free(context, memory));
}
