// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_cpu.h"
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGES 4

struct place {
    size_t page_bytes;
    unsigned char *address; // PAGES pages, reserved
};

static struct place reserve(const struct fixture *fixture)
{
    struct place place;
    void *address;
    MUST(zeVirtualMemQueryPageSize(fixture->context, fixture->device, 1, &place.page_bytes));
    cr_assert(place.page_bytes > 0 && (place.page_bytes & (place.page_bytes - 1)) == 0);
    MUST(zeVirtualMemReserve(fixture->context, NULL, PAGES * place.page_bytes, &address));
    cr_assert(address != NULL && (uintptr_t)address % place.page_bytes == 0);
    place.address = address;
    return place;
}

static void free_place(const struct fixture *fixture, const struct place *place)
{
    MUST(zeVirtualMemFree(fixture->context, place->address, PAGES * place->page_bytes));
}

static ze_physical_mem_handle_t physical(const struct fixture *fixture, size_t size_bytes)
{
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = size_bytes};
    ze_physical_mem_handle_t handle;
    MUST(zePhysicalMemCreate(fixture->context, fixture->device, &desc, &handle));
    return handle;
}

Test(ze_cpu_virtual_memory, serves_kernels_copies_and_fills_across_two_physical_memories)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    ze_physical_mem_handle_t first = physical(&fixture, 3 * place.page_bytes);
    ze_physical_mem_handle_t second = physical(&fixture, place.page_bytes);
    MUST(zeVirtualMemMap(fixture.context, place.address, 3 * place.page_bytes, first, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    MUST(zeVirtualMemMap(fixture.context, place.address + 3 * place.page_bytes, place.page_bytes,
                         second, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t scale = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    size_t count = PAGES * place.page_bytes / sizeof(int);
    int *data = (int *)(void *)place.address;
    int *copy = fixture_shared(&fixture, count * sizeof(int));
    const int seven = 7, factor = 3;
    MUST(zeCommandListAppendMemoryFill(list, data, &seven, sizeof(seven), count * sizeof(int), NULL,
                                       0, NULL));
    MUST(zeKernelSetGroupSize(scale, 16, 1, 1));
    MUST(zeKernelSetArgumentValue(scale, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(scale, 1, sizeof(factor), &factor));
    const ze_group_count_t groups = {(uint32_t)count / 16, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, scale, &groups, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, copy, data, count * sizeof(int), NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    for (size_t i = 0; i < count; i++)
        cr_assert(copy[i] == 21 && data[i] == 21, "%zu: %d", i, copy[i]);
    MUST(zeMemFree(fixture.context, copy));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(scale));
    MUST(zeModuleDestroy(module));
    MUST(zeVirtualMemUnmap(fixture.context, place.address, PAGES * place.page_bytes));
    MUST(zePhysicalMemDestroy(fixture.context, first));
    MUST(zePhysicalMemDestroy(fixture.context, second));
    free_place(&fixture, &place);
    fixture_finish(&fixture);
}

// It is no memory of the host's, of which copies are early.
Test(ze_cpu_virtual_memory, is_copied_in_the_order_of_its_list)
{
    struct fixture fixture;
    setenv("ZE_CPU_EARLY_COPIES", "1", 1);
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    ze_physical_mem_handle_t memory = physical(&fixture, place.page_bytes);
    MUST(zeVirtualMemMap(fixture.context, place.address, place.page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    struct fixture_event gate = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    int *copy = fixture_shared(&fixture, sizeof(int));
    const int seven = 7;
    MUST(zeCommandListAppendMemoryFill(list, place.address, &seven, sizeof(seven), sizeof(seven),
                                       NULL, 1, &gate.event));
    MUST(zeCommandListAppendMemoryCopy(list, copy, place.address, sizeof(int), NULL, 0, NULL));
    MUST(zeEventHostSignal(gate.event));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(*copy, 7);
    MUST(zeMemFree(fixture.context, copy));
    fixture_event_finish(&gate);
    MUST(zeCommandListDestroy(list));
    MUST(zeVirtualMemUnmap(fixture.context, place.address, place.page_bytes));
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    free_place(&fixture, &place);
    fixture_finish(&fixture);
}

Test(ze_cpu_virtual_memory, keeps_contents_in_physical_memory_when_it_is_mapped_elsewhere)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    ze_physical_mem_handle_t memory = physical(&fixture, 2 * place.page_bytes);
    unsigned char *elsewhere = place.address + 2 * place.page_bytes;
    MUST(zeVirtualMemMap(fixture.context, place.address, 2 * place.page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    // Two addresses of one page.
    MUST(zeVirtualMemMap(fixture.context, elsewhere, place.page_bytes, memory, place.page_bytes,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    place.address[0] = 11;
    place.address[place.page_bytes] = 22;
    cr_assert_eq(elsewhere[0], 22);
    // The first page goes, the second stays.
    MUST(zeVirtualMemUnmap(fixture.context, place.address, place.page_bytes));
    cr_assert_eq(place.address[place.page_bytes], 22);
    MUST(zeVirtualMemUnmap(fixture.context, elsewhere, place.page_bytes));
    MUST(zeVirtualMemMap(fixture.context, elsewhere, place.page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    cr_assert_eq(elsewhere[0], 11);
    cr_assert_eq(zePhysicalMemDestroy(fixture.context, memory),
                 ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    free_place(&fixture, &place); // unmaps what is left
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    fixture_finish(&fixture);
}

static void must_be(const struct fixture *fixture, const unsigned char *address, size_t size,
                    ze_memory_access_attribute_t access, size_t size_of_same)
{
    ze_memory_access_attribute_t found;
    size_t found_size;
    MUST(zeVirtualMemGetAccessAttribute(fixture->context, address, size, &found, &found_size));
    cr_assert_eq(found, access, "access is %d", (int)found);
    cr_assert_eq(found_size, size_of_same, "for %zu bytes", found_size);
}

Test(ze_cpu_virtual_memory, answers_and_changes_access_page_by_page)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    const size_t page = place.page_bytes;
    must_be(&fixture, place.address, PAGES * page, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE, PAGES * page);
    ze_physical_mem_handle_t memory = physical(&fixture, 3 * page);
    MUST(zeVirtualMemMap(fixture.context, place.address, page, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    MUST(zeVirtualMemMap(fixture.context, place.address + page, 2 * page, memory, page,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    must_be(&fixture, place.address, PAGES * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, 3 * page);
    must_be(&fixture, place.address + page, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, page);
    memset(place.address, 5, 3 * page);
    MUST(zeVirtualMemSetAccessAttribute(fixture.context, place.address + page, page,
                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    must_be(&fixture, place.address, 3 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, page);
    must_be(&fixture, place.address + page, 2 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY, page);
    must_be(&fixture, place.address + 2 * page, 2 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE,
            page);
    cr_assert_eq(place.address[page], 5);
    MUST(zeVirtualMemSetAccessAttribute(fixture.context, place.address, 3 * page,
                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    place.address[page] = 6;
    MUST(zeVirtualMemUnmap(fixture.context, place.address + page, page));
    must_be(&fixture, place.address + page, 3 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE, page);
    free_place(&fixture, &place);
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    fixture_finish(&fixture);
}

// Whether the process may write there, asked of the system: no signal to survive.
static bool is_writable(void *address)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "x", 1), 1);
    ssize_t count = read(ends[0], address, 1);
    cr_assert(count == 1 || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return count == 1;
}

Test(ze_cpu_virtual_memory, lets_nobody_write_but_where_it_is_mapped_for_writing)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    cr_assert(!is_writable(place.address));
    ze_physical_mem_handle_t memory = physical(&fixture, place.page_bytes);
    MUST(zeVirtualMemMap(fixture.context, place.address, place.page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    cr_assert(!is_writable(place.address));
    MUST(zeVirtualMemSetAccessAttribute(fixture.context, place.address, place.page_bytes,
                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    cr_assert(is_writable(place.address));
    cr_assert(!is_writable(place.address + place.page_bytes));
    MUST(zeVirtualMemUnmap(fixture.context, place.address, place.page_bytes));
    cr_assert(!is_writable(place.address));
    free_place(&fixture, &place);
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    fixture_finish(&fixture);
}

Test(ze_cpu_virtual_memory, answers_pointer_queries)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    const size_t page = place.page_bytes;
    ze_physical_mem_handle_t on_device = physical(&fixture, 2 * page);
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .flags = CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST,
                                   .size = page};
    ze_physical_mem_handle_t on_host;
    MUST(zePhysicalMemCreate(fixture.context, fixture.device, &desc, &on_host));
    MUST(zeVirtualMemMap(fixture.context, place.address, 2 * page, on_device, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    MUST(zeVirtualMemMap(fixture.context, place.address + 2 * page, page, on_host, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ze_memory_allocation_properties_t of_device = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_memory_allocation_properties_t other = of_device;
    ze_device_handle_t device = NULL;
    MUST(zeMemGetAllocProperties(fixture.context, place.address + page + 5, &of_device, &device));
    cr_assert_eq(of_device.type, ZE_MEMORY_TYPE_DEVICE);
    cr_assert_eq(device, fixture.device);
    cr_assert_eq(of_device.pageSize, page);
    MUST(zeMemGetAllocProperties(fixture.context, place.address + 2 * page, &other, &device));
    cr_assert_eq(other.type, ZE_MEMORY_TYPE_HOST);
    cr_assert_eq(device, NULL);
    cr_assert_neq(other.id, of_device.id);
    MUST(zeMemGetAllocProperties(fixture.context, place.address + 3 * page, &other, NULL));
    cr_assert_eq(other.type, ZE_MEMORY_TYPE_UNKNOWN, "reserved, not mapped");
    void *base;
    size_t size;
    MUST(zeMemGetAddressRange(fixture.context, place.address + page + 5, &base, &size));
    cr_assert(base == place.address && size == 2 * page);
    free_place(&fixture, &place);
    MUST(zeMemGetAllocProperties(fixture.context, place.address, &other, NULL));
    cr_assert_eq(other.type, ZE_MEMORY_TYPE_UNKNOWN);
    MUST(zePhysicalMemDestroy(fixture.context, on_device));
    MUST(zePhysicalMemDestroy(fixture.context, on_host));
    fixture_finish(&fixture);
}

Test(ze_cpu_virtual_memory, maps_memory_of_the_host_that_is_of_no_device)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .flags = CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE,
                                   .size = place.page_bytes};
    ze_physical_mem_handle_t memory;
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = fixture.device;
    cr_assert_eq(zePhysicalMemCreate(fixture.context, NULL, &desc, &memory),
                 ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    desc.flags = CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    MUST(zePhysicalMemCreate(fixture.context, NULL, &desc, &memory));
    MUST(zeVirtualMemMap(fixture.context, place.address, place.page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    place.address[place.page_bytes - 1] = 7;
    MUST(zeMemGetAllocProperties(fixture.context, place.address, &properties, &device));
    cr_assert(properties.type == ZE_MEMORY_TYPE_HOST && device == NULL);
    MUST(zeVirtualMemUnmap(fixture.context, place.address, place.page_bytes));
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    free_place(&fixture, &place);
    fixture_finish(&fixture);
}

Test(ze_cpu_virtual_memory, tries_to_reserve_where_it_is_asked_to)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    void *again, *other;
    free_place(&fixture, &place);
    MUST(zeVirtualMemReserve(fixture.context, place.address, place.page_bytes, &again));
    cr_assert_eq(again, place.address);
    MUST(zeVirtualMemReserve(fixture.context, place.address, place.page_bytes, &other));
    cr_assert_neq(other, again, "taken: somewhere else");
    MUST(zeVirtualMemFree(fixture.context, again, place.page_bytes));
    MUST(zeVirtualMemFree(fixture.context, other, place.page_bytes));
    fixture_finish(&fixture);
}

#define MUST_REFUSE(code, call) cr_assert_eq(call, code, "%s", #call)

static void refuse_ranges(const struct fixture *fixture, const struct place *place)
{
    const size_t page = place->page_bytes;
    unsigned char *address = place->address;
    void *pointer = NULL;
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                zeVirtualMemReserve(fixture->context, NULL, 0, &pointer));
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                zeVirtualMemReserve(fixture->context, NULL, page + 1, &pointer));
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                zeVirtualMemReserve(fixture->context, address + 1, page, &pointer));
    MUST_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                zeVirtualMemReserve(fixture->context, NULL, (size_t)1 << 60, &pointer));
    cr_assert_eq(pointer, NULL);
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemFree(fixture->context, address, page));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemFree(fixture->context, address + page, (PAGES - 1) * page));
    MUST(zeVirtualMemUnmap(fixture->context, address, page)); // nothing is mapped there
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemSetAccessAttribute(fixture->context, address, page,
                                               ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                zeVirtualMemSetAccessAttribute(fixture->context, address, page,
                                               (ze_memory_access_attribute_t)3));
    size_t page_of_nothing = 0;
    MUST(zeVirtualMemQueryPageSize(fixture->context, fixture->device, 0, &page_of_nothing));
    cr_assert_eq(page_of_nothing, page);
    ze_memory_access_attribute_t access;
    size_t size;
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemGetAccessAttribute(fixture->context, address, (PAGES + 1) * page,
                                               &access, &size));
}

static void refuse_mappings(const struct fixture *fixture, const struct place *place,
                            ze_physical_mem_handle_t memory)
{
    const size_t page = place->page_bytes;
    const ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    unsigned char *address = place->address;
    MUST(zeVirtualMemMap(fixture->context, address + page, page, memory, 0, access));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemMap(fixture->context, address, 2 * page, memory, 0, access));
    MUST(zeVirtualMemUnmap(fixture->context, address, 2 * page)); // half of which is mapped
    MUST(zeVirtualMemMap(fixture->context, address + page, page, memory, 0, access));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_SIZE,
                zeVirtualMemMap(fixture->context, address, page, memory, 2 * page, access));
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                zeVirtualMemMap(fixture->context, address, page, memory, 1, access));
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                zeVirtualMemMap(fixture->context, address, 1, memory, 0, access));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                zeVirtualMemMap(fixture->context, address, page, memory, 0,
                                (ze_memory_access_attribute_t)3));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                zeVirtualMemMap(fixture->context, address, page, NULL, 0, access));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemMap(fixture->context, address, page,
                                (ze_physical_mem_handle_t)(void *)fixture->context, 0, access));
    void *allocated = fixture_shared(fixture, page);
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemMap(fixture->context, allocated, page, memory, 0, access));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(fixture->context, address + page));
    MUST(zeMemFree(fixture->context, allocated));
    MUST(zeVirtualMemUnmap(fixture->context, address + page, page));
}

Test(ze_cpu_virtual_memory, refuses_ranges_and_handles_that_are_wrong)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct place place = reserve(&fixture);
    ze_physical_mem_handle_t memory = physical(&fixture, 2 * place.page_bytes);
    refuse_ranges(&fixture, &place);
    refuse_mappings(&fixture, &place, memory);
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t other;
    MUST(zeContextCreate(fixture.driver, &context_desc, &other));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemFree(other, place.address, PAGES * place.page_bytes));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemDestroy(other, memory));
    MUST(zeContextDestroy(other));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 1};
    ze_physical_mem_handle_t none = NULL;
    MUST_REFUSE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                zePhysicalMemCreate(fixture.context, fixture.device, &desc, &none));
    desc.size = (size_t)1 << 60;
    MUST_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                zePhysicalMemCreate(fixture.context, fixture.device, &desc, &none));
    desc.flags = 4;
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                zePhysicalMemCreate(fixture.context, fixture.device, &desc, &none));
    cr_assert_eq(none, NULL);
    MUST(zePhysicalMemDestroy(fixture.context, memory));
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemDestroy(fixture.context, memory));
    free_place(&fixture, &place);
    MUST_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                zeVirtualMemFree(fixture.context, place.address, PAGES * place.page_bytes));
    fixture_finish(&fixture);
}

// All of virtual memory's life, as far as it goes. True if every call succeeded.
static bool live_once(const struct fixture *fixture)
{
    bool is_good = false;
    void *address = NULL;
    ze_physical_mem_handle_t memory = NULL;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 8192};
    if (zeVirtualMemReserve(fixture->context, NULL, 8192, &address) != ZE_RESULT_SUCCESS)
        return false;
    if (zePhysicalMemCreate(fixture->context, fixture->device, &desc, &memory) ==
        ZE_RESULT_SUCCESS) {
        is_good = zeVirtualMemMap(fixture->context, address, 8192, memory, 0,
                                  ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_SUCCESS;
        if (is_good)
            is_good = zeVirtualMemUnmap(fixture->context, address, 8192) == ZE_RESULT_SUCCESS;
        if (zePhysicalMemDestroy(fixture->context, memory) != ZE_RESULT_SUCCESS)
            is_good = false;
    }
    return zeVirtualMemFree(fixture->context, address, 8192) == ZE_RESULT_SUCCESS && is_good;
}

Test(ze_cpu_virtual_memory, keeps_a_ledger_whichever_call_fails)
{
    setenv("ZE_CPU_FAIL", "", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    const struct fixture_control control = fixture_control();
    const uint64_t live = control.get_live_objects();
    bool is_good = false;
    int rounds = 0;
    for (; !is_good && rounds < 100; rounds++) {
        char failure[64];
        snprintf(failure, sizeof(failure), "*:%d:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", rounds + 1);
        cr_assert_eq(control.set_fail(failure), ZE_CPU_OK);
        is_good = live_once(&fixture);
        cr_assert_eq(control.set_fail(NULL), ZE_CPU_OK);
        cr_assert_eq(control.get_live_objects(), live, "after round %d", rounds);
    }
    cr_assert_eq(rounds, 7, "six calls fail, then none: %d", rounds);
    struct place place = reserve(&fixture);
    cr_assert_eq(control.get_live_objects(), live + 1);
    free_place(&fixture, &place);
    fixture_finish(&fixture);
}
