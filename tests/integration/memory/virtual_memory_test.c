// SPDX-License-Identifier: MIT
// Reserved addresses with physical memory behind them, as a C host sees them; ur.virtual_memory has
// more of it.
#include "gear_fixture.h"
#include "test_threads.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static size_t page;

static void set_up(void)
{
    gear_set_up();
    TEST_OK(zepi.virtual_memory_get_page_size(gear.context, gear.device, 1, &page));
    cr_assert(page > 0 && (page & (page - 1)) == 0);
}

static void set_up_sub_devices(void)
{
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    set_up();
}

TestSuite(virtual_memory, .init = set_up, .fini = gear_tear_down);
TestSuite(virtual_memory_of_parts, .init = set_up_sub_devices, .fini = gear_tear_down);

static zepi_physical_memory_t make_physical(size_t pages)
{
    zepi_physical_memory_t memory;
    TEST_OK(zepi.physical_memory_create(gear.context, gear.device, pages * page, &memory));
    return memory;
}

static char *reserve(size_t pages)
{
    void *start;
    TEST_OK(zepi.virtual_memory_reserve(gear.context, NULL, pages * page, &start));
    return start;
}

static void map(char *start, size_t pages, zepi_physical_memory_t memory, size_t from_page)
{
    TEST_OK(zepi.virtual_memory_map(gear.context, start, pages * page, memory, from_page * page,
                                    ZEPI_ACCESS_READ_WRITE));
}

static void fill(char *start, size_t size_bytes, uint8_t byte)
{
    TEST_OK(zepi.queue_fill(gear.queue, start, &byte, 1, size_bytes, TEST_NO_WAIT, NULL));
}

static void expect_bytes(const char *start, size_t size_bytes, uint8_t byte)
{
    uint8_t *found = gear_allocate(size_bytes);
    TEST_OK(zepi.queue_copy(gear.queue, found, start, size_bytes, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (size_t i = 0; i < size_bytes; i++)
        cr_assert_eq(found[i], byte, "byte %zu is %u", i, found[i]);
    TEST_OK(zepi.usm_free(gear.context, found));
}

Test(virtual_memory, contents_are_those_of_physical_memory)
{
    zepi_physical_memory_t first = make_physical(1), second = make_physical(2);
    size_t size;
    char *start = reserve(3);
    TEST_OK(zepi.virtual_memory_get_page_size(gear.context, NULL, 1, &size));
    cr_assert_eq(size, page); // the context has one device
    map(start, 1, first, 0);
    map(start + page, 2, second, 0);
    fill(start, 3 * page, 7);
    fill(start + page, page, 8);
    expect_bytes(start, page, 7);
    expect_bytes(start + page, page, 8);
    TEST_OK(zepi.virtual_memory_unmap(gear.context, start, 3 * page));
    // The same memory at another address.
    map(start, 1, second, 1);
    expect_bytes(start, page, 7);
    TEST_OK(zepi.virtual_memory_unmap(gear.context, start, page));
    map(start, 1, second, 0);
    expect_bytes(start, page, 8);
    // A mapping keeps it.
    TEST_OK(zepi.release(first));
    TEST_OK(zepi.release(second));
    expect_bytes(start, page, 8);
    TEST_OK(zepi.virtual_memory_free(gear.context, start, 3 * page));
}

Test(virtual_memory, has_the_access_that_was_set)
{
    zepi_physical_memory_t memory = make_physical(1);
    zepi_memory_access_t access;
    char *start = reserve(1);
    map(start, 1, memory, 0);
    TEST_OK(zepi.virtual_memory_get_access(gear.context, start, page, &access));
    cr_assert_eq(access, ZEPI_ACCESS_READ_WRITE);
    TEST_OK(zepi.virtual_memory_set_access(gear.context, start, page, ZEPI_ACCESS_READ_ONLY));
    TEST_OK(zepi.virtual_memory_get_access(gear.context, start, page, &access));
    cr_assert_eq(access, ZEPI_ACCESS_READ_ONLY);
    TEST_OK(zepi.virtual_memory_unmap(gear.context, start, page));
    TEST_OK(zepi.virtual_memory_free(gear.context, start, page));
    TEST_OK(zepi.release(memory));
}

Test(virtual_memory, mistakes_are_refused)
{
    const zepi_context_t context = gear.context, no_context = (zepi_context_t)gear.device;
    zepi_physical_memory_t memory = make_physical(1), other = NULL;
    const zepi_physical_memory_t no_memory = (zepi_physical_memory_t)gear.queue;
    zepi_memory_access_t access = ZEPI_ACCESS_NONE;
    const zepi_memory_access_t no_access = (zepi_memory_access_t)3;
    void *start = NULL;
    size_t size = 0;
    zepi_context_t stranger;
    TEST_OK(zepi.context_create(1, &gear.device, &stranger));
    char *reserved = reserve(1);
    TEST_FAILS(zepi.virtual_memory_get_page_size(NULL, NULL, 1, &size), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_get_page_size(no_context, NULL, 1, &size),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_get_page_size(context, (zepi_device_t)gear.queue, 1, &size),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_get_page_size(context, NULL, 1, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_reserve(no_context, NULL, page, &start),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_reserve(context, NULL, page, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_reserve(context, NULL, 0, &start), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.virtual_memory_free(no_context, reserved, page), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_free(context, NULL, page), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_free(context, reserved, 0), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.physical_memory_create(no_context, gear.device, page, &other),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.physical_memory_create(context, NULL, page, &other), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.physical_memory_create(context, gear.device, 0, &other),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.physical_memory_create(context, gear.device, page - 1, &other),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.physical_memory_create(context, gear.device, page, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_map(context, NULL, page, memory, 0, ZEPI_ACCESS_READ_WRITE),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_map(context, reserved, 0, memory, 0, ZEPI_ACCESS_READ_WRITE),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.virtual_memory_map(context, reserved, page, NULL, 0, ZEPI_ACCESS_READ_WRITE),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(
        zepi.virtual_memory_map(context, reserved, page, no_memory, 0, ZEPI_ACCESS_READ_WRITE),
        ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_map(stranger, reserved, page, memory, 0, ZEPI_ACCESS_READ_WRITE),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_map(context, reserved, page, memory, 0, no_access),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_unmap(context, NULL, page), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_unmap(no_context, reserved, page), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.virtual_memory_set_access(context, reserved, page, no_access),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_set_access(context, NULL, page, ZEPI_ACCESS_NONE),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_get_access(context, NULL, page, &access),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_get_access(context, reserved, page, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.virtual_memory_get_access(NULL, reserved, page, &access),
               ZEPI_ERROR_INVALID_OBJECT);
    cr_assert(!start && !other && size == 0);
    TEST_OK(zepi.virtual_memory_free(context, reserved, page));
    TEST_OK(zepi.release(memory));
    TEST_OK(zepi.release(stranger));
}

// A context of the whole device is its parts' context, too.
Test(virtual_memory_of_parts, pages_are_those_of_the_whole)
{
    zepi_device_t parts[2];
    zepi_physical_memory_t memory;
    uint32_t count;
    size_t size = 0;
    test_ze_cpu_require();
    TEST_OK(zepi.device_get_sub_devices(gear.device, 2, parts, &count));
    cr_assert_eq(count, 2);
    TEST_OK(zepi.virtual_memory_get_page_size(gear.context, parts[1], 1, &size));
    cr_expect_eq(size, page);
    TEST_OK(zepi.physical_memory_create(gear.context, parts[1], page, &memory));
    TEST_OK(zepi.release(memory));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(parts[i]));
}

// A mapping keeps its physical memory, also where another thread has just ended one.
static void *map_and_free(void *user)
{
    for (int round = 0; round < 5000; round++) {
        zepi_physical_memory_t memory = make_physical(1);
        char *start = reserve(1);
        map(start, 1, memory, 0);
        TEST_OK(zepi.release(memory));
        TEST_OK(zepi.virtual_memory_unmap(gear.context, start, page));
        TEST_OK(zepi.virtual_memory_free(gear.context, start, page));
    }
    return user;
}

Test(virtual_memory, is_mapped_by_one_thread_where_another_has_freed)
{
    char users[3];
    test_threads_run(sizeof(users), map_and_free, users, 1);
}
