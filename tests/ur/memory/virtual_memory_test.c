// SPDX-License-Identifier: MIT
// Reserved addresses with physical memory behind them, as SYCL's virtual memory uses them.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static size_t page;

static size_t granularity(ur_virtual_mem_granularity_info_t query)
{
    size_t size;
    UR_OK(urVirtualMemGranularityGetInfo(gear.context, gear.device, 1, query, sizeof(size), &size,
                                         NULL));
    return size;
}

static void set_up(void)
{
    ur_set_up();
    page = granularity(UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM);
}

TestSuite(virtual_memory, .init = set_up, .fini = ur_tear_down);

static ur_physical_mem_handle_t make_physical(size_t pages)
{
    ur_physical_mem_handle_t physical;
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, pages * page, NULL, &physical));
    return physical;
}

static char *reserve(size_t pages)
{
    void *start;
    UR_OK(urVirtualMemReserve(gear.context, NULL, pages * page, &start));
    return start;
}

static void map(char *start, size_t pages, ur_physical_mem_handle_t physical, size_t from_page)
{
    UR_OK(urVirtualMemMap(gear.context, start, pages * page, physical, from_page * page,
                          UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE));
}

static void unmap(char *start, size_t pages)
{
    UR_OK(urVirtualMemUnmap(gear.context, start, pages * page));
}

static ur_virtual_mem_access_flags_t access_of(char *start, size_t pages)
{
    ur_virtual_mem_access_flags_t access;
    UR_OK(urVirtualMemGetInfo(gear.context, start, pages * page, UR_VIRTUAL_MEM_INFO_ACCESS_MODE,
                              sizeof(access), &access, NULL));
    return access;
}

static void fill(char *start, size_t size, uint8_t byte)
{
    UR_OK(urEnqueueUSMFill(gear.queue, start, 1, &byte, size, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
}

// Every byte, fetched by a copy.
static void expect_bytes(const char *start, size_t size, uint8_t byte)
{
    uint8_t *host = ur_shared(size);
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, host, start, size, 0, NULL, NULL));
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(host[i], byte, "byte %zu is %u, expected %u", i, host[i], byte);
    ur_free(host);
}

Test(virtual_memory, is_there_and_has_pages)
{
    ur_bool_t has_it;
    size_t size;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_VIRTUAL_MEMORY_SUPPORT, sizeof(has_it),
                          &has_it, NULL));
    cr_assert(has_it);
    cr_assert_gt(page, 0);
    cr_assert_eq(page & (page - 1), 0);
    cr_assert_eq(granularity(UR_VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED) % page, 0);
    // For all devices of the context, of an allocation of any size.
    UR_OK(urVirtualMemGranularityGetInfo(
        gear.context, NULL, 0, UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, sizeof(size), &size, NULL));
    cr_assert_eq(size, page);
}

Test(virtual_memory, a_kernel_works_across_two_pieces_of_physical_memory)
{
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    ur_physical_mem_handle_t first = make_physical(1);
    ur_physical_mem_handle_t second = make_physical(2);
    char *start = reserve(2);
    map(start, 1, first, 0);
    map(start + page, 1, second, 1);

    const size_t items = 2 * page / sizeof(float);
    float *sum = (float *)start;
    float *a = ur_shared(items * sizeof(float));
    for (size_t i = 0; i < items; i++)
        a[i] = (float)i;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sum)};
    UR_OK(ur_launch(gear.queue, add, items, 3, arguments, 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, a, sum, items * sizeof(float), 0, NULL, NULL));
    for (size_t i = 0; i < items; i++)
        cr_assert_eq(a[i], 2 * (float)i);

    unmap(start, 2);
    UR_OK(urVirtualMemFree(gear.context, start, 2 * page));
    UR_OK(urPhysicalMemRelease(first));
    UR_OK(urPhysicalMemRelease(second));
    UR_OK(urKernelRelease(add));
    ur_free(a);
}

Test(virtual_memory, contents_follow_physical_memory_to_another_address)
{
    ur_physical_mem_handle_t physical = make_physical(1);
    char *here = reserve(1);
    char *there = reserve(3);
    map(here, 1, physical, 0);
    fill(here, page, 0x5a);
    unmap(here, 1);
    map(there + page, 1, physical, 0);
    expect_bytes(there + page, page, 0x5a);
    unmap(there + page, 1);
    UR_OK(urVirtualMemFree(gear.context, here, page));
    UR_OK(urVirtualMemFree(gear.context, there, 3 * page));
    UR_OK(urPhysicalMemRelease(physical));
}

Test(virtual_memory, physical_memory_stays_until_its_last_page_is_unmapped)
{
    ur_physical_mem_handle_t physical = make_physical(3);
    char *start = reserve(3);
    map(start, 3, physical, 0);
    UR_OK(urPhysicalMemRelease(physical));
    fill(start, 3 * page, 0x11);
    unmap(start + page, 1); // a hole in the middle
    expect_bytes(start, page, 0x11);
    expect_bytes(start + 2 * page, page, 0x11);
    unmap(start, 1);
    cr_assert_eq(ze_cpu.get_count("zePhysicalMemDestroy"), 0);
    unmap(start + 2 * page, 1);
    cr_assert_eq(ze_cpu.get_count("zePhysicalMemDestroy"), 1);
    UR_OK(urVirtualMemFree(gear.context, start, 3 * page));
}

Test(virtual_memory, freeing_a_reservation_unmaps_what_is_in_it)
{
    char *start = reserve(2);
    // Intel's driver maps memory of a device once.
    for (int i = 0; i < 2; i++) {
        ur_physical_mem_handle_t physical = make_physical(1);
        map(start + i * page, 1, physical, 0);
        UR_OK(urPhysicalMemRelease(physical));
    }
    UR_OK(urVirtualMemFree(gear.context, start, 2 * page));
}

// As ur_tear_down, without its check for leaks.
static void tear_down_with_reservation(void)
{
    UR_OK(urQueueRelease(gear.queue));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urDeviceRelease(gear.device));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

Test(virtual_memory_left, what_is_still_mapped_goes_with_its_context, .init = set_up,
     .fini = tear_down_with_reservation)
{
    ur_context_handle_t context;
    ur_physical_mem_handle_t physical;
    void *start;
    UR_OK(urContextCreate(1, &gear.device, NULL, &context));
    UR_OK(urPhysicalMemCreate(context, gear.device, page, NULL, &physical));
    UR_OK(urVirtualMemReserve(context, NULL, page, &start));
    UR_OK(urVirtualMemMap(context, start, page, physical, 0, UR_VIRTUAL_MEM_ACCESS_FLAG_NONE));
    UR_OK(urPhysicalMemRelease(physical));
    cr_assert_eq(ze_cpu.get_count("zePhysicalMemDestroy"), 0);
    UR_OK(urContextRelease(context));
    cr_assert_eq(ze_cpu.get_count("zePhysicalMemDestroy"), 1);
    cr_assert_eq(ze_cpu.get_count("zeVirtualMemUnmap"), 1);
}

Test(virtual_memory, access_is_as_it_was_set)
{
    ur_physical_mem_handle_t physical = make_physical(2);
    char *start = reserve(2);
    UR_OK(urVirtualMemMap(gear.context, start, 2 * page, physical, 0,
                          UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY));
    cr_assert_eq(access_of(start, 2), UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY);
    UR_OK(urVirtualMemSetAccess(gear.context, start, page, UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE));
    cr_assert_eq(access_of(start, 1), UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE);
    cr_assert_eq(access_of(start + page, 1), UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY);
    ur_virtual_mem_access_flags_t access;
    UR_FAILS_SAYING(urVirtualMemGetInfo(gear.context, start, 2 * page,
                                        UR_VIRTUAL_MEM_INFO_ACCESS_MODE, sizeof(access), &access,
                                        NULL),
                    UR_RESULT_ERROR_INVALID_VALUE, "access changes");
    UR_OK(urVirtualMemSetAccess(gear.context, start, page, UR_VIRTUAL_MEM_ACCESS_FLAG_NONE));
    cr_assert_eq(access_of(start, 1), UR_VIRTUAL_MEM_ACCESS_FLAG_NONE);
    UR_OK(urVirtualMemFree(gear.context, start, 2 * page));
    UR_OK(urPhysicalMemRelease(physical));
}

Test(virtual_memory, physical_memory_knows_what_it_is)
{
    ur_physical_mem_handle_t physical = make_physical(2);
    ur_context_handle_t context;
    ur_device_handle_t device;
    ur_physical_mem_properties_t properties;
    size_t size;
    uint32_t references;
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_CONTEXT, sizeof(context), &context,
                               NULL));
    UR_OK(
        urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_DEVICE, sizeof(device), &device, NULL));
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_SIZE, sizeof(size), &size, NULL));
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_PROPERTIES, sizeof(properties),
                               &properties, NULL));
    cr_assert_eq(context, gear.context);
    cr_assert_eq(device, gear.device);
    cr_assert_eq(size, 2 * page);
    cr_assert_eq(properties.flags, 0);
    UR_OK(urPhysicalMemRetain(physical));
    UR_OK(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_REFERENCE_COUNT, sizeof(references),
                               &references, NULL));
    cr_assert_eq(references, 2);
    UR_FAILS(urPhysicalMemGetInfo(physical, UR_PHYSICAL_MEM_INFO_SIZE, 1, &size, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urPhysicalMemGetInfo(physical, (ur_physical_mem_info_t)99, sizeof(size), &size, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_OK(urPhysicalMemRelease(physical));
    UR_OK(urPhysicalMemRelease(physical));
}

Test(virtual_memory, refuses_wrong_arguments)
{
    const ur_context_handle_t context = gear.context;
    const ur_physical_mem_properties_t unknown = {
        .stype = UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, .flags = 0x80};
    ur_physical_mem_handle_t physical;
    void *start;
    size_t size;
    UR_FAILS(urPhysicalMemCreate(context, gear.device, page + 1, NULL, &physical),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urPhysicalMemCreate(context, gear.device, 0, NULL, &physical),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urPhysicalMemCreate(context, NULL, page, NULL, &physical),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urPhysicalMemCreate(context, gear.device, page, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urPhysicalMemCreate(context, gear.device, page, &unknown, &physical),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urVirtualMemReserve(context, NULL, 0, &start), UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urVirtualMemReserve(context, NULL, page + 1, &start), UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urVirtualMemReserve(context, NULL, page, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urVirtualMemReserve(NULL, NULL, page, &start), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urVirtualMemGranularityGetInfo(context, NULL, 1, (ur_virtual_mem_granularity_info_t)7,
                                            sizeof(size), &size, NULL),
             UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    UR_FAILS(
        urVirtualMemGranularityGetInfo(
            context, NULL, 1,
            (ur_virtual_mem_granularity_info_t)(UR_VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED + 1),
            sizeof(size), &size, NULL),
        UR_RESULT_ERROR_INVALID_ENUMERATION);

    physical = make_physical(1);
    char *range = reserve(2);
    UR_FAILS(urVirtualMemMap(context, range, 2 * page, physical, 0,
                             UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urVirtualMemMap(context, range, page, NULL, 0, UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(
        urVirtualMemMap(context, NULL, page, physical, 0, UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE),
        UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urVirtualMemMap(context, range, page, physical, 0, 0x100),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urVirtualMemMap(context, range, page, physical, 0,
                             UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE |
                                 UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urVirtualMemUnmap(context, NULL, page), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_OK(urVirtualMemUnmap(context, range, page)); // nothing is mapped there
    UR_FAILS(urVirtualMemSetAccess(context, range, page, 0x100),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_FAILS(urVirtualMemFree(context, range, page), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urVirtualMemGetInfo(context, range, page, (ur_virtual_mem_info_t)9, sizeof(size),
                                 &size, NULL),
             UR_RESULT_ERROR_INVALID_ENUMERATION);
    UR_OK(urVirtualMemFree(context, range, 2 * page));
    UR_OK(urPhysicalMemRelease(physical));
    UR_FAILS(urPhysicalMemRetain(physical), UR_RESULT_ERROR_INVALID_VALUE);
}
