// SPDX-License-Identifier: MIT
//
// Reserves, maps and unmaps through Unified Runtime's functions, while each Level Zero call and
// each allocation fails in turn.
#include "walk_ur.h"

static struct test_gear gear;
static size_t page;

// On the way out: the failure may hit the first try, and there may be nothing to do.
static void again(ur_result_t (*function)(ur_context_handle_t, const void *, size_t),
                  const void *start, size_t size)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    if (function(context, start, size) != UR_RESULT_SUCCESS)
        function(context, start, size);
}

static zepi_result_t map_and_fill(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const ur_virtual_mem_access_flags_t access = UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE;
    const uint8_t byte = 0x33;
    ur_physical_mem_handle_t physical = NULL;
    ur_virtual_mem_access_flags_t is;
    void *start = NULL;
    zepi_result_t result;
    STEP(told(zepi_urPhysicalMemCreate(context, device, 3 * page, NULL, &physical)));
    STEP(told(zepi_urVirtualMemReserve(context, NULL, 3 * page, &start)));
    STEP(told(zepi_urVirtualMemMap(context, start, 3 * page, physical, 0, access)));
    STEP(told(zepi_urVirtualMemGetInfo(context, start, page, UR_VIRTUAL_MEM_INFO_ACCESS_MODE,
                                       sizeof(is), &is, NULL)));
    WALK_EXPECT(is == access);
    STEP(zepi.queue_fill(gear.queue, start, &byte, 1, 3 * page, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    STEP(told(zepi_urVirtualMemUnmap(context, (char *)start + page, page)));
    WALK_EXPECT(((uint8_t *)start)[0] == byte && ((uint8_t *)start)[3 * page - 1] == byte);
    STEP(told(zepi_urVirtualMemSetAccess(context, start, page, UR_VIRTUAL_MEM_ACCESS_FLAG_NONE)));
out:
    walk_settle(gear.queue);
    for (char *at = start; start && at < (char *)start + 3 * page; at += page)
        again(zepi_urVirtualMemUnmap, at, page);
    if (start)
        again(zepi_urVirtualMemFree, start, 3 * page);
    walk_release(physical);
    return result;
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    WALK_EXPECT(zepi_urVirtualMemGranularityGetInfo((ur_context_handle_t)gear.context, NULL, 0,
                                                    UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM,
                                                    sizeof(page), &page,
                                                    NULL) == UR_RESULT_SUCCESS);
    TEST_OK(map_and_fill());
    walk_keep();
    walk_calls("virtual memory, calls", map_and_fill, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("virtual memory, allocations", map_and_fill);
    test_gear_destroy(&gear);
    return 0;
}
